// Text to Json and back. simdjson does the parsing; this file is the only one that sees it with json_pick.cc.
#include <simdjson.h>

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

struct Reader {
  std::vector<std::string>* duplicates;
  std::string path;  // kept only while duplicates are wanted

  Json value(simdjson::dom::element element) {
    switch (element.type()) {
      case simdjson::dom::element_type::NULL_VALUE: return Json();
      case simdjson::dom::element_type::BOOL: return Json(element.get_bool().value_unsafe());
      case simdjson::dom::element_type::INT64: return Json(element.get_int64().value_unsafe());
      case simdjson::dom::element_type::UINT64: return Json(element.get_uint64().value_unsafe());
      case simdjson::dom::element_type::DOUBLE: return Json(element.get_double().value_unsafe());
      case simdjson::dom::element_type::STRING: return Json(element.get_string().value_unsafe());
      case simdjson::dom::element_type::ARRAY: return array(element.get_array().value_unsafe());
      case simdjson::dom::element_type::OBJECT: return object(element.get_object().value_unsafe());
    }
    return Json();
  }

  Json array(simdjson::dom::array source) {
    std::vector<Json> items;
    items.reserve(source.size());
    const std::size_t mark = path.size();
    for (const simdjson::dom::element element : source) {
      if (duplicates) path += "[" + std::to_string(items.size()) + "]";
      items.push_back(value(element));
      path.resize(mark);
    }
    return Json::array(std::move(items));
  }

  Json object(simdjson::dom::object source) {
    Json result = Json::object_of_size(source.size());
    const std::size_t mark = path.size();
    for (const auto field : source) {
      if (duplicates) {
        if (!path.empty()) path += ".";
        path += field.key;
        if (result.has(field.key)) note_duplicate(*duplicates, path);
      }
      result.set(field.key, value(field.value));
      path.resize(mark);
    }
    return result;
  }
};

// Builds what a projection keeps. What it leaves out is one step on the parser's tape, however large it is.
struct ProjectionReader {
  Reader whole{nullptr, {}};

  Json value(simdjson::dom::element element, const Projection* only) {
    if (only == nullptr) return whole.value(element);
    switch (element.type()) {
      case simdjson::dom::element_type::ARRAY: return array(element.get_array().value_unsafe(), *only);
      case simdjson::dom::element_type::OBJECT: return object(element.get_object().value_unsafe(), *only);
      default: return whole.value(element);
    }
  }

  Json array(simdjson::dom::array source, const Projection& only) {
    std::vector<Json> items;
    items.reserve(source.size());
    for (const simdjson::dom::element element : source) items.push_back(value(element, &only));
    return Json::array(std::move(items));
  }

  Json object(simdjson::dom::object source, const Projection& only) {
    Json result = Json::object();
    for (const auto field : source) {
      const Projection::Choice choice = only.choose(field.key);
      if (choice.keep) result.set(field.key, value(field.value, choice.inner));
    }
    return result;
  }
};

// Integers beyond 64 bits are read again as doubles, so each is given a fraction, which simdjson accepts.
std::string with_doubles(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\' && i + 1 < text.size())
        out += text[i++];
      else if (c == '"')
        quoted = false;
      out += text[i++];
      continue;
    }
    if (c == '"') quoted = true;
    if (c != '-' && (c < '0' || c > '9')) {
      out += c;
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && std::string_view("+-.eE0123456789").find(text[i]) != std::string_view::npos) ++i;
    const std::string_view number = text.substr(begin, i - begin);
    out += number;
    if (number.find_first_of(".eE") == std::string_view::npos && number.size() >= 19) out += ".0";
  }
  return out;
}

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

// Bytes that are no text become U+FFFD, as Go's encoding/json writes them: what is written can be read.
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

// Parses and hands the root to `build`, while the parser's memory holds it.
template <class Build>
Result<Json> parse_and_build(std::string_view text, Build build) {
  // A parser holds about fourteen bytes for each of its capacity, and every thread has one.
  static constexpr std::size_t kKeptCapacity = std::size_t{1} << 20;
  thread_local simdjson::dom::parser parser;
  if (text.data() == nullptr) text = "";  // of a value that is not there
  auto parsed = parser.parse(text.data(), text.size(), true);
  std::string rewritten;
  if (parsed.error() == simdjson::NUMBER_ERROR) {
    rewritten = with_doubles(text);
    parsed = parser.parse(rewritten);
  }
  if (parsed.error() != simdjson::SUCCESS)
    return make_error(Code::kBadRequest, base::format("invalid JSON: {}", simdjson::error_message(parsed.error())));
  Json result = build(parsed.value_unsafe());
  if (parser.capacity() > kKeptCapacity) parser = simdjson::dom::parser();
  return result;
}

}  // namespace

Result<Json> parse_json(std::string_view text, ParseOptions options) {
  return parse_and_build(text, [&](simdjson::dom::element root) {
    return Reader{options.duplicate_keys, {}}.value(root);
  });
}

Result<Json> parse_json(std::string_view text, const Projection& only) {
  return parse_and_build(text, [&](simdjson::dom::element root) { return ProjectionReader{}.value(root, &only); });
}

Result<Json> parse_json(std::string_view text, const ChooseProjection& choose) {
  const auto text_at = [](simdjson::dom::element root, const char* key) {
    std::string_view out;
    if (root[key].get(out) != simdjson::SUCCESS) out = {};
    return out;
  };
  return parse_and_build(text, [&](simdjson::dom::element root) {
    return ProjectionReader{}.value(root, choose(text_at(root, "apiVersion"), text_at(root, "kind")));
  });
}

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

base::Status check_readable(std::string_view bytes) {
  static constexpr std::size_t kKeptCapacity = std::size_t{1} << 20;
  thread_local simdjson::dom::parser parser;
  if (parser.max_depth() != kObjectLevelsMax || parser.capacity() < bytes.size())
    if (const auto error = parser.allocate(std::max(bytes.size(), kKeptCapacity), kObjectLevelsMax))
      return make_error(Code::kInvalid, simdjson::error_message(error));
  const auto error = parser.parse(bytes.data(), bytes.size(), true).error();
  if (parser.capacity() > kKeptCapacity) parser = simdjson::dom::parser();
  if (error == simdjson::DEPTH_ERROR)
    return make_error(Code::kInvalid, base::format("nested too deeply: more than {} levels", kObjectLevelsMax));
  if (error) return make_error(Code::kInvalid, simdjson::error_message(error));
  return {};
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
