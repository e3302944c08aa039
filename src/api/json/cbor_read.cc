// CBOR to Json. A claimed length is believed only as far as there are bytes: memory grows with what was read.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "api/json/cbor.h"
#include "api/json/cbor_form.h"
#include "api/json/limits.h"
#include "api/json/problems.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/unix_time.h"
#include "base/utf8.h"

namespace api {
namespace {

using namespace cbor;  // NOLINT(google-build-using-namespace): words of this file only

// A value is a byte here and two in JSON; an object of more could not be stored.
constexpr std::uint64_t kValuesMax = kObjectBytesMax / 2;
constexpr std::uint64_t kReservedMax = 32;           // items that room is made for before they are read
constexpr double kSecondsMax = 1e12;                 // of times: beyond the year 9999
constexpr std::uint64_t kPlain = ~std::uint64_t{0};  // bytes are text as they are

struct Head {
  Major major = Major::kSimple;
  std::uint8_t info = 0;
  std::uint64_t value = 0;

  bool open() const { return info == kOpen; }
  bool is_text() const { return major == Major::kBytes || major == Major::kText; }
};

double half_value(std::uint64_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<double>(bits & 1023);
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent != 31 ? std::ldexp(fraction + 1024, exponent - 25)
                                       : (fraction == 0 ? HUGE_VAL : std::nan(""));
  return (bits & 0x8000) != 0 ? -size : size;
}

// RFC 3339 with as many digits of the second as there are.
std::string time_text(base::UnixTime time) {
  std::string text = base::format_rfc3339(time);
  if (time.nanos == 0) return text;
  std::string digits = base::format("{:09}", time.nanos);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text.substr(0, text.size() - 1) + "." + digits + "Z";
}

std::string base16(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// Functions that return bool say false where the input is refused; `problem_` says why. (Results are too large for
// frames of a recursion that goes as deep as a body may.)
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  base::Result<Json> document() {
    Json out;
    if (value(out, kPlain, 0) && at_ < bytes_.size())
      wrong(base::format("{} bytes follow the value", bytes_.size() - at_));
    if (problem_.empty()) return out;
    return base::make_error(base::Code::kBadRequest, "invalid CBOR: " + problem_);
  }

 private:
  // A member, or with no name an item.
  struct Step {
    const Json* name;
    std::size_t index;
  };

  bool wrong(std::string_view what) {
    std::string path;
    for (const Step& step : path_) {
      if (path.size() > kShownBytesMax) break;
      if (step.name == nullptr)
        path += "[" + std::to_string(step.index) + "]";
      else
        path += (path.empty() ? "" : ".") + step.name->str();
    }
    problem_ = base::format("{}{}{} (byte {})", shortened(path), path.empty() ? "" : ": ", what, at_);
    return false;
  }

  bool next(Head& head) {
    if (at_ == bytes_.size()) return wrong("it ends too early");
    const auto first = static_cast<unsigned char>(bytes_[at_++]);
    head = {static_cast<Major>(first >> 5), static_cast<std::uint8_t>(first & 31),
            static_cast<std::uint64_t>(first & 31)};
    if (head.info < kOneByte) return true;
    if (head.open() && head.major >= Major::kBytes && head.major <= Major::kMap) return true;
    if (head.info > kDouble)
      return wrong(bytes_[at_ - 1] == kBreak ? std::string("a break ends nothing")
                                             : base::format("0x{:02x} begins no value", first));
    const std::size_t size = std::size_t{1} << (head.info - kOneByte);
    if (bytes_.size() - at_ < size) return wrong("it ends too early");
    head.value = 0;
    for (std::size_t i = 0; i < size; ++i) head.value = head.value << 8 | static_cast<unsigned char>(bytes_[at_++]);
    return true;
  }

  // The next item without its tags; `later` becomes what the innermost of them says of bytes, and `time` the tag of a
  // time.
  bool untagged(Head& head, std::uint64_t& later, bool& time) {
    for (;;) {
      if (!next(head)) return false;
      if (head.major != Major::kTag) return true;
      const std::uint64_t tag = head.value;
      if (tag == kBignum || tag == kNegativeBignum) return wrong("a big number, which does not fit in 64 bits");
      if (tag >= kAsBase64Url && tag <= kAsBase16) later = tag;
      if (tag != kTimeText && tag != kTimeSeconds) continue;
      time = true;
      if (!next(head)) return false;
      const bool number = head.major <= Major::kNegative ||
                          (head.major == Major::kSimple && head.info >= kHalf && head.info <= kDouble);
      if (tag == kTimeText ? head.major == Major::kText : number) return true;
      return wrong(tag == kTimeText ? "the tag of a time (0) demands a text string"
                                    : "the tag of a time in seconds (1) demands a number");
    }
  }

  bool value(Json& out, std::uint64_t later, std::size_t level) {
    if (++values_ > kValuesMax) return wrong(base::format("more than {} values", kValuesMax));
    Head head;
    bool time = false;
    if (!untagged(head, later, time)) return false;
    switch (head.major) {
      case Major::kUnsigned:
      case Major::kNegative:
        if (head.value > INT64_MAX) return beyond(head);
        out = head.major == Major::kUnsigned ? static_cast<std::int64_t>(head.value)
                                             : -1 - static_cast<std::int64_t>(head.value);
        return !time || to_time(out);
      case Major::kBytes:
      case Major::kText: return text(head, later, out) && (!time || check_time(out));
      case Major::kArray: return array(head, later, level, out);
      case Major::kMap: return map(head, later, level, out);
      default: return simple(head, out) && (!time || to_time(out));
    }
  }

  bool beyond(const Head& head) {
    if (head.major == Major::kUnsigned) return wrong(base::format("{} does not fit in 64 bits", head.value));
    return wrong(base::format("-1 - {} does not fit in 64 bits", head.value));
  }

  bool simple(const Head& head, Json& out) {
    switch (head.info) {
      case kFalse: out = false; return true;
      case kTrue: out = true; return true;
      case kNull: out = Json(); return true;
      case kHalf: out = half_value(head.value); break;
      case kFloat: out = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(head.value))); break;
      case kDouble: out = std::bit_cast<double>(head.value); break;
      default: return wrong(base::format("simple value {} is not false, true or null", head.value));
    }
    return std::isfinite(out.as_double()) || wrong("NaN and infinite numbers are not accepted");
  }

  bool to_time(Json& out) {
    const double seconds = std::clamp(out.as_double(), -kSecondsMax, kSecondsMax);
    const double whole = std::floor(seconds);
    const base::UnixTime time{static_cast<std::int64_t>(whole), static_cast<std::int64_t>((seconds - whole) * 1e9)};
    if (!time.in_rfc3339())
      return wrong(base::format("{} seconds since 1970 are not a time of RFC 3339", format_double(out.as_double())));
    out = time_text(time);
    return true;
  }

  bool check_time(const Json& text) {
    return base::parse_rfc3339_unix(text.as_string()).has_value() ||
           wrong(base::format("{:?} is not a time of RFC 3339", shortened(text.as_string())));
  }

  // Text that is given as such must be UTF-8 piece by piece; what bytes say must be when they are complete.
  bool text(const Head& head, std::uint64_t later, Json& out) {
    std::string_view whole;
    if (!head.open()) {
      if (!take(head, whole)) return false;
      return finish(head.major, whole, later, out);
    }
    std::string joined;
    while (at_ == bytes_.size() || bytes_[at_] != kBreak) {
      Head piece;
      if (!next(piece)) return false;
      if (piece.major != head.major || piece.open()) return wrong("a string of open length has a piece that is none");
      if (!take(piece, whole)) return false;
      if (head.major == Major::kText && !base::is_utf8(whole)) return wrong("the text is not valid UTF-8");
      joined += whole;
    }
    ++at_;
    return finish(head.major, joined, later, out);
  }

  bool take(const Head& head, std::string_view& out) {
    if (head.value > bytes_.size() - at_)
      return wrong(base::format("a string claims {} bytes, and {} are left", head.value, bytes_.size() - at_));
    out = bytes_.substr(at_, head.value);
    at_ += head.value;
    return true;
  }

  bool finish(Major major, std::string_view whole, std::uint64_t later, Json& out) {
    if (major == Major::kText || later == kPlain) {
      if (!base::is_utf8(whole)) return wrong("the text is not valid UTF-8");
      out = whole;
    } else {
      out = later == kAsBase16   ? base16(whole)
            : later == kAsBase64 ? base::base64_encode(whole)
                                 : base::base64url_encode(whole);
    }
    return true;
  }

  // Whether something follows in a list or map of which `left` items are to come; `fine` says whether that can be.
  bool more(const Head& head, std::uint64_t& left) {
    if (!head.open()) return left-- > 0;
    if (at_ == bytes_.size() || bytes_[at_] != kBreak) return true;  // what is missing is noticed by who reads it
    ++at_;
    return false;
  }

  bool may_hold(const Head& head, std::size_t level) {
    if (level >= kObjectLevelsMax)
      return wrong(base::format("nested too deeply: more than {} levels", kObjectLevelsMax));
    if (head.open() || head.value <= bytes_.size() - at_) return true;
    return wrong(base::format("{} items are claimed, and {} bytes are left", head.value, bytes_.size() - at_));
  }

  bool array(const Head& head, std::uint64_t later, std::size_t level, Json& out) {
    if (!may_hold(head, level)) return false;
    std::vector<Json> items;
    if (!head.open()) items.reserve(std::min(head.value, kReservedMax));
    path_.push_back({nullptr, 0});
    for (std::uint64_t left = head.value; more(head, left); ++path_.back().index) {
      items.emplace_back();
      if (!value(items.back(), later, level + 1)) return false;
    }
    path_.pop_back();
    out = Json::array(std::move(items));
    return true;
  }

  bool map(const Head& head, std::uint64_t later, std::size_t level, Json& out) {
    if (!may_hold(head, level)) return false;
    std::vector<Json::Member> members;
    if (!head.open()) members.reserve(std::min(head.value, kReservedMax));
    for (std::uint64_t left = head.value; more(head, left);) {
      Json name, item;
      if (!member_name(name, later)) return false;
      path_.push_back({&name, 0});
      if (!value(item, later, level + 1)) return false;
      path_.pop_back();
      members.push_back({std::move(name), std::move(item)});
    }
    if (!differ(members)) return false;
    out = Json::object_of(std::move(members));
    return true;
  }

  bool member_name(Json& out, std::uint64_t later) {
    Head head;
    bool time = false;
    if (!untagged(head, later, time)) return false;
    if (time || !head.is_text()) return wrong("the name of a member is not a text");
    return text(head, later, out);
  }

  // JSON's last of equal names wins; in CBOR a map that has them is none.
  bool differ(const std::vector<Json::Member>& members) {
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const Json::Member& member : members) names.push_back(member.name());
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    return twice == names.end() || wrong(base::format("the name {:?} occurs twice", shortened(*twice)));
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t values_ = 0;
  std::vector<Step> path_;  // where the reader is; names are those in its callers' frames
  std::string problem_;
};

}  // namespace

base::Result<Json> parse_cbor(std::string_view bytes) { return Reader(bytes).document(); }

}  // namespace api
