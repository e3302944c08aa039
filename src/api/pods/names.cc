// The grammar of these names.
#include "api/pods/names.h"

#include <algorithm>

namespace api {

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_alphanumeric(char c) { return is_lower(c) || is_digit(c); }

}  // namespace

std::vector<std::string> check_port_name(std::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > 15) problems.emplace_back("must be no more than 15 characters");
  bool letter = false;
  bool clean = !text.empty();
  for (const char c : text) {
    letter = letter || is_lower(c);
    clean = clean && (is_lower_alphanumeric(c) || c == '-');
  }
  if (!clean) problems.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!letter) problems.emplace_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos) problems.emplace_back("must not contain consecutive hyphens");
  if (!text.empty() && (text.front() == '-' || text.back() == '-'))
    problems.emplace_back("must not begin or end with a hyphen");
  return problems;
}

std::vector<std::string> check_env_name(std::string_view text) {
  bool fine = !text.empty();
  for (const char c : text) fine = fine && c >= ' ' && c <= '~' && c != '=';
  if (fine) return {};
  return {"a valid environment variable name must consist only of printable ASCII characters other than '='"};
}

std::vector<std::string> check_config_key(std::string_view text) {
  const bool fine = !text.empty() && text.size() <= 253 && text != "." && !text.starts_with("..") &&
                    std::ranges::all_of(text, [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                             c == '_' || c == '.';
                    });
  if (fine) return {};
  return {
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
      "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"};
}

}  // namespace api
