// One table of what stays, one loop.
#include "base/percent.h"

namespace base {

namespace {

std::string encode(std::string_view text, std::string_view kept) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kept.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    }
  }
  return out;
}

}  // namespace

std::string percent_encode(std::string_view text) { return encode(text, "-_.~"); }
std::string percent_encode_segment(std::string_view text) { return encode(text, "-_.~!$&'()*+,;=:@"); }

}  // namespace base
