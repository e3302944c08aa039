// Json as text.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "api/json/json.h"
#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/json/projection.h"
#include "base/format.h"
#include "base/utf8.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;

// Most text: ASCII that is written as it is.
bool is_plain(std::string_view text) {
  static constexpr auto kPlain = [] {
    std::array<bool, 256> plain{};
    for (int c = 0x20; c < 0x7f; ++c) plain[static_cast<std::size_t>(c)] = true;
    for (const char c : {'"', '\\', '<', '>', '&'}) plain[static_cast<unsigned char>(c)] = false;
    return plain;
  }();
  return std::ranges::all_of(text, [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
}

// Bytes that are not a text become U+FFFD, as Go's encoding/json writes them: what is written can be read.
void write_string(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (is_plain(text)) {
    out += '"';
    out.append(text);
    out += '"';
    return;
  }
  if (!base::is_utf8(text)) return write_string(out, base::to_utf8(text));
  out += '"';
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool separator = c == 0xE2 && i + 2 < text.size() && static_cast<unsigned char>(text[i + 1]) == 0x80 &&
                           (static_cast<unsigned char>(text[i + 2]) & 0xFE) == 0xA8;
    if (c >= 0x20 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && !separator) continue;
    out.append(text.substr(begin, i - begin));
    begin = i + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case 0xE2:
        out += static_cast<unsigned char>(text[i + 2]) == 0xA8 ? "\\u2028" : "\\u2029";
        i += 2;
        begin = i + 1;
        break;
      default:
        out += "\\u00";
        out += kHex[c >> 4];
        out += kHex[c & 15];
    }
  }
  out.append(text.substr(begin));
  out += '"';
}

void write(std::string& out, const Json& json, int indent, int depth) {
  const auto line = [&](int level) {
    if (indent == 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent * level), ' ');
  };
  switch (json.type()) {
    case Json::Type::kNull: out += "null"; break;
    case Json::Type::kBool: out += json.as_bool() ? "true" : "false"; break;
    case Json::Type::kInt: {
      char buffer[24];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, json.as_int()).ptr;
      out.append(buffer, end);
      break;
    }
    case Json::Type::kUint: out += std::to_string(json.as_uint()); break;
    case Json::Type::kDouble: out += format_double(json.as_double()); break;
    case Json::Type::kString: write_string(out, json.as_string()); break;
    case Json::Type::kArray: {
      out += '[';
      bool first = true;
      for (const Json& item : json.items()) {
        if (!first) out += ',';
        first = false;
        line(depth + 1);
        write(out, item, indent, depth + 1);
      }
      if (!first) line(depth);
      out += ']';
      break;
    }
    case Json::Type::kObject: {
      out += '{';
      bool first = true;
      for (const Json::Member& member : json.members()) {
        if (!first) out += ',';
        first = false;
        line(depth + 1);
        write_string(out, member.name());
        out += indent == 0 ? ":" : ": ";
        write(out, member.value, indent, depth + 1);
      }
      if (!first) line(depth);
      out += '}';
      break;
    }
  }
}

}  // namespace

Result<std::string> dump_readable(const Json& value) {
  const auto extent = extent_within(value, {.levels = kObjectLevelsMax});
  if (!extent)
    return make_error(Code::kInvalid, base::format("nested too deeply: more than {} levels", kObjectLevelsMax));
  std::string out;
  out.reserve(extent->bytes + extent->bytes / 16);
  value.dump_to(out);
  // At the limit it matters to the parser whether the innermost value is empty.
  if (extent->levels == kObjectLevelsMax) TRY_VOID(check_readable(out));
  return out;
}

std::string format_double(double value) {
  if (!std::isfinite(value)) return "null";
  const double size = std::fabs(value);
  char buffer[64];
  if (size != 0 && (size < 1e-6 || size >= 1e21)) {
    auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    std::string text(buffer, end);
    // Go writes e-9 and e+21: no padding zero in a two-digit negative exponent.
    const std::size_t e = text.find('e');
    if (text.size() - e == 4 && text[e + 2] == '0') text.erase(e + 2, 1);
    return text;
  }
  // Shortest digits, then zeros: the digits come from the scientific form.
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view shortest(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = shortest.find('e');
  int exponent = 0;
  const char* digits_begin = shortest.data() + e + 1 + (shortest[e + 1] == '+' ? 1 : 0);
  std::from_chars(digits_begin, end, exponent);
  std::string digits;
  const bool negative = shortest[0] == '-';
  for (const char c : shortest.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  std::string text = negative ? "-" : "";
  if (exponent < 0) {
    text += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (static_cast<std::size_t>(exponent) + 1 >= digits.size()) {
    text += digits + std::string(static_cast<std::size_t>(exponent) + 1 - digits.size(), '0');
  } else {
    text += digits.substr(0, static_cast<std::size_t>(exponent) + 1) + "." +
            digits.substr(static_cast<std::size_t>(exponent) + 1);
  }
  return text;
}

std::string Json::dump() const {
  std::string out;
  dump_to(out);
  return out;
}

void Json::dump_to(std::string& out) const { write(out, *this, 0, 0); }

std::string Json::pretty(int indent) const {
  std::string out;
  write(out, *this, indent, 0);
  return out;
}

}  // namespace api
