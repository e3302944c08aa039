// Frames of HTTP/2 by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rt::frames {

inline std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, const std::string& payload) {
  const std::size_t size = payload.size();
  std::string out;
  for (const std::size_t byte : {size >> 16, size >> 8, size}) out += static_cast<char>(byte & 255);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(stream >> shift & 255);
  return out + payload;
}
// The first bytes of a client.
inline const std::string kBegin = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, "");
// GET / of https at "a", by the static table and one literal.
inline const std::string kGet = std::string("\x82\x84\x87\x41\x01") + "a";
inline constexpr std::uint8_t kData = 0, kHeaders = 1, kReset = 3, kPing = 6, kGoAway = 7, kContinuation = 9;
inline constexpr std::uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4;
inline constexpr std::uint32_t kLastOfAll = 0x7fffffff;  // a GOAWAY that closes no stream

struct Frame {
  int type = -1;  // -1: nothing comes any more
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload = {};

  // The last stream that a GOAWAY names.
  std::uint32_t last_stream() const { return number(payload, 4); }

  static std::uint32_t number(std::string_view bytes, std::size_t size) {
    std::uint32_t out = 0;
    for (const char byte : bytes.substr(0, size)) out = out << 8 | static_cast<std::uint8_t>(byte);
    return out;
  }
};

// The first frame of `bytes`, which then has it no more; of type -1 if it is not all there.
inline Frame take_frame(std::string& bytes) {
  const std::string_view text = bytes;
  if (text.size() < 9) return {};
  const std::size_t size = 9 + Frame::number(text, 3);
  if (text.size() < size) return {};
  Frame out{static_cast<std::uint8_t>(text[3]), static_cast<std::uint8_t>(text[4]),
            Frame::number(text.substr(5), 4) & kLastOfAll, std::string(text.substr(9, size - 9))};
  bytes.erase(0, size);
  return out;
}

}  // namespace rt::frames
