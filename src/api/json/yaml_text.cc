// Json written as YAML: block style, and flow style where the caller wants short lines joined.
#include <cctype>
#include <utility>

#include "api/json/yaml.h"
#include "api/json/yaml_scalar.h"

namespace api {
namespace {

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  const auto resolved = resolve_yaml_scalar(text, "", true);
  if (!resolved.ok() || !resolved->is_string()) return true;
  static constexpr std::string_view kFirst = "!&*-?:,[]{}#|>@`\"'%=<";
  if (text[0] == ' ' || text.back() == ' ' || text.back() == ':') return true;
  if (text.starts_with("...")) return true;  // at the beginning of a line, the end of a document
  if (kFirst.find(text[0]) != std::string_view::npos) {
    // "-x" and ":x" and "?x" are plain when no blank follows.
    const bool soft =
        (text[0] == '-' || text[0] == ':' || text[0] == '?') && text.size() > 1 && text[1] != ' ' && text != "---";
    if (!soft || text.starts_with("---")) return true;
  }
  // A date would become a timestamp for other readers.
  if (text.size() >= 8 && std::isdigit(static_cast<unsigned char>(text[0])) && text.find('-') == 4) return true;
  return text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos;
}

// How a character must be written that YAML does not print or would take for a line break: C1 controls, U+2028, U+2029,
// the byte order mark, U+FFFE and U+FFFF. Empty for all others; `length` is the character's bytes.
std::string escape_of_special(std::string_view text, std::size_t& length) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  const auto first = static_cast<unsigned char>(text[0]);
  if (first == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0) {
    length = 2;
    const auto code = static_cast<unsigned char>(text[1]);
    return std::string("\\x") + kHex[code >> 4] + kHex[code & 15];
  }
  for (const auto& [bytes, escape] : {std::pair{"\xE2\x80\xA8", "\\L"},
                                      {"\xE2\x80\xA9", "\\P"},
                                      {"\xEF\xBB\xBF", "\\uFEFF"},
                                      {"\xEF\xBF\xBE", "\\uFFFE"},
                                      {"\xEF\xBF\xBF", "\\uFFFF"}})
    if (text.starts_with(bytes)) {
      length = 3;
      return escape;
    }
  return {};
}

bool has_control(std::string_view text) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n') || c == 0x7f) return true;
    if (c >= 0x80 && !escape_of_special(text.substr(i), length).empty()) return true;
  }
  return false;
}

std::string double_quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::size_t length = 1;
    if (const std::string escape = escape_of_special(text.substr(i), length); !escape.empty()) {
      out += escape;
      i += length - 1;
      continue;
    }
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += "\\x";
          out += kHex[static_cast<unsigned char>(c) >> 4];
          out += kHex[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

std::string quoted(std::string_view text) {
  const auto resolved = resolve_yaml_scalar(text, "", true);
  const bool looks_typed = !resolved.ok() || !resolved->is_string();
  return looks_typed ? double_quoted(text) : single_quoted(text);
}

// Some readers take a colon in flow style for the end of a key.
std::string flow_text(std::string_view text) {
  if (has_control(text) || text.find('\n') != std::string_view::npos) return double_quoted(text);
  const bool is_plain =
      !needs_quotes(text) && text.find_first_of(",[]{}:?") == std::string_view::npos && text[0] != '-';
  return is_plain ? std::string(text) : quoted(text);
}

// Stops with a text that is longer than `limit` as soon as it is.
void add_flow(const Json& json, std::size_t limit, std::string& out) {
  if (out.size() > limit) return;
  if (json.is_string()) {
    out += flow_text(json.as_string());
  } else if (json.is_object()) {
    out += '{';
    for (const Json::Member& member : json.members()) {
      if (out.size() > limit) return;
      if (out.back() != '{') out += ", ";
      out += flow_text(member.name()) + ": ";
      add_flow(member.value, limit, out);
    }
    out += '}';
  } else if (json.is_array()) {
    out += '[';
    for (const Json& item : json.items()) {
      if (out.back() != '[') out += ", ";
      add_flow(item, limit, out);
    }
    out += ']';
  } else {
    json.dump_to(out);
  }
}

// An object's own names and lists, which people look for by lines, stay in block style.
constexpr int kFlowIndent = 8;

class Writer {
 public:
  Writer(std::string& out, std::size_t columns) : out_(out), columns_(columns) {}

  // Writes what follows "key:" or "-": a scalar on the same line, or a block below.
  void value(const Json& json, int indent, bool in_sequence) {
    if (indent >= kFlowIndent && fits_behind(json, in_sequence)) return;
    if (json.is_object() && !json.empty()) {
      if (!in_sequence) out_ += '\n';
      object(json, indent, in_sequence);
    } else if (json.is_array() && !json.empty()) {
      if (!in_sequence) out_ += '\n';
      array(json, indent, in_sequence);
    } else {
      if (!in_sequence) out_ += ' ';
      scalar(json, indent);
    }
  }

  void object(const Json& json, int indent, bool first_in_line) {
    for (const Json::Member& member : json.members()) {
      if (!first_in_line) pad(indent);
      first_in_line = false;
      text(member.name(), indent, true);
      out_ += ':';
      value(member.value, member.value.is_array() ? indent : indent + 2, false);
    }
  }

  void array(const Json& json, int indent, bool first_in_line) {
    for (const Json& item : json.items()) {
      if (!first_in_line) pad(indent);
      first_in_line = false;
      out_ += "- ";
      value(item, indent + 2, true);
    }
  }

  void scalar(const Json& json, int indent) {
    if (json.is_string()) {
      text(json.as_string(), indent, false);
    } else if (json.is_object()) {
      out_ += "{}";
    } else if (json.is_array()) {
      out_ += "[]";
    } else {
      json.dump_to(out_);
    }
    if (out_.back() != '\n') out_ += '\n';
  }

 private:
  // Writes the value in the line that has begun, if it fits there.
  bool fits_behind(const Json& json, bool in_sequence) {
    if (columns_ == 0 || json.empty() || (!json.is_object() && !json.is_array())) return false;
    const std::size_t used = out_.size() - (out_.rfind('\n') + 1) + (in_sequence ? 0 : 1);
    if (used + 2 > columns_) return false;
    std::string text;
    add_flow(json, columns_ - used, text);
    if (used + text.size() > columns_) return false;
    if (!in_sequence) out_ += ' ';
    out_ += text;
    out_ += '\n';
    return true;
  }

  void pad(int indent) { out_.append(static_cast<std::size_t>(indent), ' '); }

  void text(std::string_view text, int indent, bool key) {
    if (has_control(text)) {
      out_ += double_quoted(text);
    } else if (text.find('\n') != std::string_view::npos) {
      if (key || text[0] == '\n' || text[0] == ' ') {
        out_ += double_quoted(text);
      } else {
        block(text, indent);
      }
    } else if (needs_quotes(text)) {
      out_ += quoted(text);
    } else {
      out_ += text;
    }
  }

  void block(std::string_view text, int indent) {
    out_ += '|';
    if (text.back() != '\n')
      out_ += '-';
    else if (text.size() > 1 && text[text.size() - 2] == '\n')
      out_ += '+';
    out_ += '\n';
    std::string_view rest = text;
    if (rest.back() == '\n') rest.remove_suffix(1);
    for (std::size_t begin = 0;;) {
      const std::size_t end = rest.find('\n', begin);
      const std::string_view line = rest.substr(begin, end == std::string_view::npos ? end : end - begin);
      if (!line.empty()) pad(indent);
      out_ += line;
      out_ += '\n';
      if (end == std::string_view::npos) break;
      begin = end + 1;
    }
  }

  std::string& out_;
  std::size_t columns_;
};

}  // namespace

std::string to_yaml(const Json& json, std::size_t columns) {
  std::string out;
  Writer writer(out, columns);
  if (json.is_object() && !json.empty())
    writer.object(json, 0, false);
  else if (json.is_array() && !json.empty())
    writer.array(json, 0, false);
  else
    writer.scalar(json, 2);  // the lines of a block must be indented
  return out;
}

}  // namespace api
