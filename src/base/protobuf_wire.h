// Protocol buffers' wire format, for messages whose few fields their readers name by number.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field as it came. Of a repeated field each entry is one, but for numbers that are packed: their bytes are one.
struct WireField {
  int number = 0;
  WireType type = WireType::kBytes;
  std::uint64_t integer = 0;    // of varints and fixed-size numbers
  std::string_view bytes = {};  // of strings, bytes and messages; points into the input
};

// Reads field after field; what a caller does not know it skips.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  // False at the end, and where the message is malformed.
  bool next(WireField& field) {
    if (rest_.empty() || malformed_) return false;
    field = {};
    std::uint64_t tag = 0;
    malformed_ = true;
    if (!varint(tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return false;
    field.number = static_cast<int>(tag >> 3);
    field.type = static_cast<WireType>(tag & 7);
    if (field.type != WireType::kBytes) {
      malformed_ = !number(field.type, field.integer);
    } else if (std::uint64_t size = 0; varint(size) && size <= rest_.size()) {
      malformed_ = false;
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
    }
    return !malformed_;
  }
  // The next of packed numbers, which have this type and no field of their own.
  bool next_packed(WireType type, std::uint64_t& out);
  bool malformed() const { return malformed_; }
  // What has not been read yet.
  std::string_view rest() const { return rest_; }

 private:
  // Most are one byte.
  bool varint(std::uint64_t& out) {
    if (rest_.empty()) return false;
    out = static_cast<unsigned char>(rest_.front());
    if (out >= 0x80) return long_varint(out);
    rest_.remove_prefix(1);
    return true;
  }
  bool long_varint(std::uint64_t& out);
  bool fixed(std::size_t size, std::uint64_t& out);
  bool number(WireType type, std::uint64_t& out);

  std::string_view rest_;
  bool malformed_ = false;
};

// Writes fields; those that are zero or empty are left out, as proto3 has it, but for add_entry().
class WireWriter {
 public:
  void add(int number, std::string_view bytes);
  void add(int number, std::uint64_t integer);
  template <std::same_as<bool> Bool>  // no pointer is one
  void add(int number, Bool value) {
    add(number, std::uint64_t{value ? 1U : 0U});
  }
  // An entry of a repeated field, or a field of proto2: it may be empty, or zero.
  void add_entry(int number, std::string_view bytes);
  void add_integer(int number, std::uint64_t integer);
  void add_double(int number, double value);
  // An entry of a map of strings.
  void add_pair(int number, std::string_view key, std::string_view value);
  std::string take() { return std::move(out_); }

 private:
  void varint(std::uint64_t value);

  std::string out_;
};

}  // namespace base
