// Both alphabets.
#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace base {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto kValues = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kLetters.size(); ++i)
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::int8_t>(i);
  return values;
}();

Error illegal() { return make_error(Code::kInvalid, "illegal base64 data"); }

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : std::uint32_t{0});
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string letters;
  letters.reserve(text.size());
  for (const char c : text)
    if (c != '\n' && c != '\r') letters += c;
  if (letters.size() % 4 != 0)
    return make_error(Code::kInvalid, "illegal base64 data: the length is not a multiple of 4");
  for (int i = 0; i < 2 && letters.ends_with('='); ++i) letters.pop_back();
  std::string out;
  out.reserve(letters.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  std::size_t count = 0;
  for (const char c : letters) {
    const std::int8_t value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return illegal();
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (++count % 4 != 0) continue;
    for (const int shift : {16, 8, 0}) out += static_cast<char>(group >> shift & 255);
    group = 0;
  }
  if (count % 4 == 2) out += static_cast<char>(group >> 4 & 255);
  if (count % 4 == 3)
    for (const int shift : {10, 2}) out += static_cast<char>(group >> shift & 255);
  if (count % 4 == 1) return illegal();
  return out;
}

std::string base64url_encode(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  text.erase(text.find_last_not_of('=') + 1);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

Result<std::string> base64url_decode(std::string_view text) {
  if (text.find_first_of("+/=\r\n") != std::string_view::npos) return illegal();
  std::string standard(text);
  std::ranges::replace(standard, '-', '+');
  std::ranges::replace(standard, '_', '/');
  standard.resize((standard.size() + 3) / 4 * 4, '=');
  return base64_decode(standard);
}

}  // namespace base
