// The texts that "%s of %d".format([...]) writes.
//
// Numbers with a fraction are written as in American English, which is what Kubernetes leaves them at: "1,234.500000".
#include "base/format.h"

#include <algorithm>
#include <cmath>

#include "api/cel/syntax.h"

namespace api::cel {
namespace {

constexpr int kPrecision = 6, kPrecisionMax = 1000, kDepthMax = 64;

template <class T>
std::string in_base(T value, unsigned base, bool upper) {
  const bool negative = value < 0;
  std::uint64_t left = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  static constexpr std::string_view kDigits = "0123456789abcdef0123456789ABCDEF";
  std::string out;
  do {
    out += kDigits[left % base + (upper ? 16 : 0)];
    left /= base;
  } while (left != 0);
  if (negative) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

std::string hex(std::string_view bytes, bool upper) {
  std::string out;
  for (const char c : bytes) out += base::format("{:02x}", static_cast<unsigned char>(c));
  if (upper)
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  return out;
}

std::string fixed(double value, int precision) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
  std::string out = base::format("{:.{}f}", value, precision);
  const std::size_t first = out[0] == '-' ? 1 : 0;
  for (std::size_t at = std::min(out.find('.'), out.size()); at > first + 3;) out.insert(at -= 3, ",");
  return out;
}

std::string scientific(double value, int precision) {
  if (!std::isfinite(value)) return fixed(value, precision);
  static constexpr std::string_view kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const std::string text = base::format("{:.{}e}", value, precision);
  const std::size_t e = text.find('e');
  std::string out = text.substr(0, e) + "\u202f×\u202f10";
  for (const char c : text.substr(e + 1)) {
    if (c == '-') out += "⁻";
    if (c >= '0' && c <= '9') out += kRaised[c - '0'];
  }
  return out;
}

class Writer {
 public:
  explicit Writer(const std::vector<Value>& arguments) : arguments_(arguments) {}

  // False where the format or an argument is wrong; problem() says why.
  bool run(std::string_view format) {
    std::size_t next = 0;
    for (std::size_t at = 0; at < format.size();) {
      if (out_.size() > kTextMax) return wrong("the result is too large");
      if (format[at] != '%') {
        out_ += format[at++];
      } else if (format.substr(at + 1).starts_with('%')) {
        out_ += '%';
        at += 2;
      } else if (at + 1 == format.size()) {
        return wrong("unexpected end of string");
      } else if (next == arguments_.size()) {
        return wrong(base::format("index {} out of range", next));
      } else if (!clause(format, ++at, arguments_[next++])) {
        return false;
      }
    }
    return true;
  }

  std::string& text() { return out_; }
  const std::string& problem() const { return problem_; }

 private:
  bool wrong(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool misused(std::string_view rule, const Value& value) {
    return wrong(base::format("error during formatting: {}, was given {}", rule, value.type_name()));
  }

  // One clause, from behind its percent sign; `at` goes behind it.
  bool clause(std::string_view format, std::size_t& at, const Value& value) {
    static constexpr std::string_view kParse = "could not parse formatting clause: ";
    int precision = kPrecision;
    if (format[at] == '.') {
      std::size_t digits = 0;
      precision = 0;
      for (++at; at < format.size() && format[at] >= '0' && format[at] <= '9'; ++at, ++digits)
        precision = std::min(precision * 10 + (format[at] - '0'), kPrecisionMax + 1);
      if (at == format.size())
        return wrong(
            base::format("{}error while parsing precision: could not find end of precision specifier", kParse));
      if (digits == 0 || precision > kPrecisionMax)
        return wrong(base::format("{}error while parsing precision: not a number of digits", kParse));
    }
    const char kind = format[at++];
    switch (kind) {
      case 's': return plain(value);
      case 'd':
        if (value.get<std::int64_t>() || value.get<std::uint64_t>()) return plain(value);
        return misused("decimal clause can only be used on integers", value);
      case 'f':
      case 'e': return fraction(kind, value, precision);
      case 'b':
      case 'o':
      case 'x':
      case 'X': return digits(kind, value);
      default: return wrong(base::format("{}unrecognized formatting clause \"{}\"", kParse, kind));
    }
  }

  bool fraction(char kind, const Value& value, int precision) {
    const double* number = value.get<double>();
    const std::string* text = value.get<std::string>();
    double special = 0;
    if (text != nullptr && (*text == "NaN" || *text == "Infinity" || *text == "-Infinity")) {
      special = *text == "NaN" ? std::nan("") : *text == "Infinity" ? HUGE_VAL : -HUGE_VAL;
      number = &special;
    }
    if (number == nullptr)
      return misused(kind == 'f' ? "fixed-point clause can only be used on doubles"
                                 : "scientific clause can only be used on doubles",
                     value);
    out_ += kind == 'f' ? fixed(*number, precision) : scientific(*number, precision);
    return true;
  }

  bool digits(char kind, const Value& value) {
    const unsigned base = kind == 'b' ? 2 : kind == 'o' ? 8 : 16;
    if (const auto* i = value.get<std::int64_t>()) {
      out_ += in_base(*i, base, kind == 'X');
    } else if (const auto* u = value.get<std::uint64_t>()) {
      out_ += in_base(*u, base, kind == 'X');
    } else if (const bool* yes = value.get<bool>(); yes && kind == 'b') {
      out_ += *yes ? '1' : '0';
    } else if (const auto* s = value.get<std::string>(); s && base == 16) {
      out_ += hex(*s, kind == 'X');
    } else if (const auto* bytes = value.get<Bytes>(); bytes && base == 16) {
      out_ += hex(bytes->data, kind == 'X');
    } else {
      return misused(kind == 'b'   ? "only integers and bools can be formatted as binary"
                     : kind == 'o' ? "octal clause can only be used on integers"
                                   : "only integers, byte buffers, and strings can be formatted as hex",
                     value);
    }
    return true;
  }

  bool plain(const Value& value) {
    if (value.get<List>() || value.get<Map>()) return literal(value, 0, out_);
    if (value.is_null()) {
      out_ += "null";
      return true;
    }
    const bool known = value.get<bool>() || value.get<std::int64_t>() || value.get<std::uint64_t>() ||
                       value.get<double>() || value.get<std::string>() || value.get<Bytes>() || value.get<TypeName>() ||
                       value.get<TimeValue>() || value.get<DurationValue>();
    if (!known) return unknown(value);
    out_ += *to_string(value).get<std::string>();
    return true;
  }
  bool unknown(const Value& value) {
    return misused(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
        "timestamps",
        value);
  }

  // The value inside a list or map, as the language would write it.
  bool literal(const Value& value, int depth, std::string& out) {
    if (depth > kDepthMax || (written_ += 1) > kTextMax || out.size() > kTextMax)
      return wrong("the result is too large");
    if (const auto* list = value.get<List>()) {
      out += '[';
      for (std::size_t i = 0; i < list->size(); ++i) {
        if (i > 0) out += ", ";
        if (!literal((*list)[i], depth + 1, out)) return false;
      }
      out += ']';
    } else if (const auto* map = value.get<Map>()) {
      return entries(*map, depth, out);
    } else if (const auto* s = value.get<std::string>()) {
      out += quote(*s);
    } else if (const auto* bytes = value.get<Bytes>()) {
      out += "b" + quote(bytes->data);
    } else if (const auto* d = value.get<double>()) {
      out += std::isfinite(*d) ? base::format("{:.6f}", *d) : quote(*to_string(value).get<std::string>());
    } else if (value.get<TimeValue>() || value.get<DurationValue>()) {
      out += value.get<TimeValue>() ? "timestamp(" : "duration(";
      out += quote(*to_string(value).get<std::string>()) + ")";
    } else if (value.is_null()) {
      out += "null";
    } else if (value.get<bool>() || value.get<std::int64_t>() || value.get<std::uint64_t>() || value.get<TypeName>()) {
      out += *to_string(value).get<std::string>();
    } else {
      return unknown(value);
    }
    written_ += value.get<std::string>() ? value.get<std::string>()->size() : 0;
    return true;
  }

  // Sorted by the text of the keys.
  bool entries(const Map& map, int depth, std::string& out) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& [key, value] : map.entries) {
      auto& [name, text] = pairs.emplace_back();
      if (!literal(key, depth + 1, name) || !literal(value, depth + 1, text)) return false;
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    out += '{';
    for (std::size_t i = 0; i < pairs.size(); ++i) out += (i > 0 ? ", " : "") + pairs[i].first + ":" + pairs[i].second;
    out += '}';
    return true;
  }

  const std::vector<Value>& arguments_;
  std::string out_, problem_;
  std::size_t written_ = 0;
};

}  // namespace

std::string quote(std::string_view text) {
  static constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\\"", kPlain = "abfnrtv\\\"";
  std::string out = "\"";
  for (const char c : text) {
    if (const std::size_t found = kMeant.find(c); found != std::string_view::npos)
      (out += '\\') += kPlain[found];
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += base::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

Value format_text(const std::string& format, const std::vector<Value>& arguments, std::uint64_t& cost) {
  Writer writer(arguments);
  const bool good = writer.run(format);
  cost += writer.text().size() / 10 + 1;
  if (!good) return fail(writer.problem());
  return std::move(writer.text());
}

}  // namespace api::cel
