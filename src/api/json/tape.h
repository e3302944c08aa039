// The parser's flat form of a document, read where it lies: one word a value, two for a number, a word at both ends of
// an object or a list. (simdjson documents it as its "tape"; private to the reading of JSON.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace api {

// A view: the parser's memory outlives it. Positions are those of words.
struct Tape {
  const std::uint64_t* words;
  const unsigned char* strings;  // each: length (4 bytes), text, a zero; in the order of their words

  char kind(std::size_t at) const { return static_cast<char>(words[at] >> 56); }
  std::uint64_t payload(std::size_t at) const { return words[at] & ((std::uint64_t{1} << 56) - 1); }
  bool is_container(std::size_t at) const { return kind(at) == '{' || kind(at) == '['; }
  // The position behind the value.
  std::size_t after(std::size_t at) const {
    if (is_container(at)) return static_cast<std::uint32_t>(words[at]);
    return at + (is_number(kind(at)) ? 2 : 1);
  }
  // The number of values of a container: how many values it has, at most 2^24 - 1 even where there are more.
  std::size_t size(std::size_t at) const { return payload(at) >> 32; }
  std::string_view text(std::size_t at) const {
    const unsigned char* begin = strings + payload(at);
    return {reinterpret_cast<const char*>(begin) + 4, length_at(begin)};
  }

  static bool is_number(char kind) { return kind == 'l' || kind == 'u' || kind == 'd'; }
  static std::uint32_t length_at(const unsigned char* string) {
    std::uint32_t length = 0;
    std::memcpy(&length, string, sizeof length);
    return length;
  }
};

}  // namespace api
