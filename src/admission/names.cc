// The grammar of these names.
#include "admission/names.h"

#include "api/json/json.h"
#include "base/format.h"

namespace admission {

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }
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
  if (!clean) problems.emplace_back("must contain only alphanumeric characters (a-z, 0-9), and hyphens (-)");
  if (!letter) problems.emplace_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos) problems.emplace_back("must not contain consecutive hyphens");
  if (!text.empty() && (text.front() == '-' || text.back() == '-'))
    problems.emplace_back("must not begin or end with a hyphen");
  return problems;
}

std::vector<std::string> check_env_name(std::string_view text) {
  bool fine = !text.empty() && !is_digit(text.front());
  for (const char c : text) fine = fine && (is_alphanumeric(c) || c == '-' || c == '_' || c == '.');
  std::vector<std::string> problems;
  if (!fine)
    problems.emplace_back(
        "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must "
        "not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation "
        "is '[-._a-zA-Z][-._a-zA-Z0-9]*')");
  if (text == ".")
    problems.emplace_back("must not be '.'");
  else if (text == "..")
    problems.emplace_back("must not be '..'");
  else if (text.starts_with(".."))
    problems.emplace_back("must not start with '..'");
  return problems;
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += separator;
    text += items[i];
  }
  return text;
}

std::string go_list(const std::vector<std::string>& items) { return base::format("[{}]", join(items, " ")); }

std::string quoted(std::string_view text) { return api::Json(text).dump(); }

}  // namespace admission
