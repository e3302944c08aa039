// Tags, varints and lengths.
#include "base/protobuf_wire.h"

#include <bit>

namespace base {

bool WireReader::long_varint(std::uint64_t& out) {
  out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == end_) return false;
    const auto byte = static_cast<unsigned char>(*at_++);
    out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool WireReader::fixed(std::size_t size, std::uint64_t& out) {
  if (static_cast<std::size_t>(end_ - at_) < size) return false;
  out = 0;
  for (std::size_t i = 0; i < size; ++i)
    out |= static_cast<std::uint64_t>(static_cast<unsigned char>(*at_++)) << (8 * i);
  return true;
}

bool WireReader::number(WireType type, std::uint64_t& out) {
  switch (type) {
    case WireType::kVarint: return varint(out);
    case WireType::kFixed64: return fixed(8, out);
    case WireType::kFixed32: return fixed(4, out);
    default: return false;  // groups, which nobody sends any more
  }
}

bool WireReader::next_packed(WireType type, std::uint64_t& out) {
  if (at_ == end_ || malformed_) return false;
  malformed_ = !number(type, out);
  return !malformed_;
}

void WireWriter::varint(std::uint64_t value) {
  while (value >= 0x80) {
    out_ += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  out_ += static_cast<char>(value);
}

void WireWriter::add_entry(int number, std::string_view bytes) {
  varint(static_cast<std::uint64_t>(number) << 3 | 2);
  varint(bytes.size());
  out_ += bytes;
}

void WireWriter::add(int number, std::string_view bytes) {
  if (!bytes.empty()) add_entry(number, bytes);
}

void WireWriter::add(int number, std::uint64_t integer) {
  if (integer != 0) add_integer(number, integer);
}

void WireWriter::add_integer(int number, std::uint64_t integer) {
  varint(static_cast<std::uint64_t>(number) << 3);
  varint(integer);
}

void WireWriter::add_double(int number, double value) {
  varint(static_cast<std::uint64_t>(number) << 3 | 1);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) out_ += static_cast<char>(bits >> shift & 0xff);
}

void WireWriter::add_pair(int number, std::string_view key, std::string_view value) {
  WireWriter pair;
  pair.add(1, key);
  pair.add(2, value);
  add_entry(number, pair.out_);
}

}  // namespace base
