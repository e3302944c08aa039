// How does the model keep the uid of an object in few bytes?
#include "scheduler/model/core/uid.h"

#include <array>

namespace scheduler {
namespace {

constexpr std::size_t kLength = 36;
constexpr std::array<std::size_t, 4> kDashes = {8, 13, 18, 23};

bool is_dash(std::size_t at) { return at == kDashes[0] || at == kDashes[1] || at == kDashes[2] || at == kDashes[3]; }

struct Halves {
  std::uint64_t high = 0, low = 0;
};

// Nothing where the text would not be written the same way again.
std::optional<Halves> halves_of(std::string_view text) {
  if (text.size() != kLength) return std::nullopt;
  Halves out;
  int digits = 0;
  for (std::size_t i = 0; i < kLength; ++i) {
    const char c = text[i];
    if (is_dash(i)) {
      if (c != '-') return std::nullopt;
      continue;
    }
    const bool is_number = c >= '0' && c <= '9';
    if (!is_number && !(c >= 'a' && c <= 'f')) return std::nullopt;
    std::uint64_t& half = digits++ < 16 ? out.high : out.low;
    half = half << 4 | static_cast<std::uint64_t>(is_number ? c - '0' : c - 'a' + 10);
  }
  if (out.low >> 62 != 2) return std::nullopt;
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
