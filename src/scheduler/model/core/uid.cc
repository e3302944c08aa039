// How does the model keep the uid of an object in few bytes?
#include "scheduler/model/core/uid.h"

#include <array>

namespace scheduler {
namespace {

constexpr std::size_t kLength = 36;
constexpr std::array<std::size_t, 4> kDashes = {8, 13, 18, 23};

bool is_dash(std::size_t at) { return at == kDashes[0] || at == kDashes[1] || at == kDashes[2] || at == kDashes[3]; }

// The value of each byte as a digit; 16: it is not a digit of a uid.
constexpr std::array<std::uint8_t, 256> kDigits = [] {
  std::array<std::uint8_t, 256> out{};
  out.fill(16);
  for (std::uint8_t i = 0; i < 16; ++i) out[static_cast<unsigned char>("0123456789abcdef"[i])] = i;
  return out;
}();

struct Halves {
  std::uint64_t high = 0, low = 0;
};

// Empty if the text would not be written the same way again.
std::optional<Halves> halves_of(std::string_view text) {
  if (text.size() != kLength) return std::nullopt;
  for (const std::size_t at : kDashes)
    if (text[at] != '-') return std::nullopt;
  std::uint64_t seen = 0;  // a bit above the digits' where one was none
  const auto digits = [&](std::size_t at, std::size_t count) {
    std::uint64_t out = 0;
    for (const char c : text.substr(at, count)) {
      const std::uint64_t digit = kDigits[static_cast<unsigned char>(c)];
      seen |= digit;
      out = out << 4 | (digit & 15);
    }
    return out;
  };
  Halves out;
  out.high = digits(0, 8) << 32 | digits(9, 4) << 16 | digits(14, 4);
  out.low = digits(19, 4) << 48 | digits(24, 12);
  if (seen > 15 || out.low >> 62 != 2) return std::nullopt;
  return out;
}

}  // namespace

Uid::Uid(std::string_view text) : high_(0) {
  if (text.empty()) return;
  if (const auto halves = halves_of(text)) {
    high_ = halves->high;
    low_ = halves->low;
  } else {
    std::construct_at(&text_, text);
    low_ = kText;
  }
}

std::string Uid::str() const {
  if (empty()) return {};
  if (is_text()) return text_.str();
  std::string out(kLength, '-');
  int digits = 0;
  for (std::size_t i = 0; i < kLength; ++i) {
    if (is_dash(i)) continue;
    const std::uint64_t half = digits < 16 ? high_ : low_;
    out[i] = "0123456789abcdef"[half >> (60 - 4 * (digits % 16)) & 15];
    ++digits;
  }
  return out;
}

std::strong_ordering operator<=>(const Uid& a, const Uid& b) {
  if (a.is_text() || b.is_text()) return a.str() <=> b.str();
  if (const auto order = a.high_ <=> b.high_; order != 0) return order;
  return a.low_ <=> b.low_;
}

}  // namespace scheduler
