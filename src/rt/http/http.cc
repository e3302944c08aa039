// Headers and targets.
#include "rt/http/http.h"

#include "base/percent.h"
#include "base/split.h"

namespace rt {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (lower(c) >= 'a' && lower(c) <= 'f') return lower(c) - 'a' + 10;
  return -1;
}

std::string decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace

bool same_header(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

std::vector<std::string_view> all_headers(const Headers& headers, std::string_view name) {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : headers)
    if (same_header(key, name)) values.push_back(value);
  return values;
}

std::vector<std::string_view> header_list(const Headers& headers, std::string_view name) {
  std::vector<std::string_view> items;
  for (const std::string_view list : all_headers(headers, name))
    for (const std::string_view item : base::split_words(list, ',')) items.push_back(item);
  return items;
}

std::string_view header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (same_header(key, name)) return value;
  return {};
}

Target parse_target(std::string_view text) {
  Target target;
  const std::size_t question = text.find('?');
  target.path = decode(text.substr(0, question), false);
  if (question == std::string_view::npos) return target;
  std::string_view rest = text.substr(question + 1);
  rest = rest.substr(0, rest.find('#'));
  while (!rest.empty()) {
    const std::size_t amp = rest.find('&');
    const std::string_view pair = rest.substr(0, amp);
    rest = amp == std::string_view::npos ? std::string_view() : rest.substr(amp + 1);
    if (pair.empty()) continue;
    const std::size_t equal = pair.find('=');
    target.query.emplace_back(decode(pair.substr(0, equal), true),
                              equal == std::string_view::npos ? "" : decode(pair.substr(equal + 1), true));
  }
  return target;
}

std::string_view Target::get(std::string_view key) const {
  for (const auto& [name, value] : query)
    if (name == key) return value;
  return {};
}

bool Target::has(std::string_view key) const {
  for (const auto& pair : query)
    if (pair.first == key) return true;
  return false;
}

std::string percent_encode(std::string_view text) { return base::percent_encode(text); }

}  // namespace rt
