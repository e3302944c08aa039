// The well-formed byte sequences of UTF-8, and what is done with others.
#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace base {
namespace {

struct Step {
  std::size_t bytes;  // of the character, or of the maximal bad part; at least 1
  bool valid;
};

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The character that `text` begins with. `text` is not empty.
Step step(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, true};
  // The second byte has a range of its own after some leads; that is what excludes overlong forms and surrogates.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  std::size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  if (text.size() < 2) return {1, false};
  const auto second = static_cast<unsigned char>(text[1]);
  if (second < low || second > high) return {1, false};
  for (std::size_t i = 2; i < length; ++i)
    if (i >= text.size() || !continues(text[i])) return {i, false};
  return {length, true};
}

// How many bytes from the start are ASCII, counted eight at a time.
std::size_t ascii_run(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if (word & 0x8080808080808080u) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

// How many bytes from the start are valid.
std::size_t valid_run(std::string_view text) {
  std::size_t at = 0;
  while ((at += ascii_run(text.substr(at))) < text.size()) {
    const Step next = step(text.substr(at));
    if (!next.valid) return at;
    at += next.bytes;
  }
  return at;
}

}  // namespace

bool is_utf8(std::string_view text) { return valid_run(text) == text.size(); }

std::string to_utf8(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t good = valid_run(text);
    out.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) return out;
    out += "\xEF\xBF\xBD";
    text.remove_prefix(step(text).bytes);
  }
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  // A character has at most three continuing bytes; more of them are not a character.
  for (int back = 0; back < 3 && end > 0 && continues(text[end]); ++back) --end;
  if (end < text.size() && continues(text[end])) end = bytes_max;
  return text.substr(0, end);
}

std::string_view utf8_suffix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t begin = text.size() - bytes_max;
  for (int ahead = 0; ahead < 3 && begin < text.size() && continues(text[begin]); ++ahead) ++begin;
  return text.substr(begin);
}

}  // namespace base
