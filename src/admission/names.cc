// The grammar of names.
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

bool matches_label(std::string_view text) {
  if (text.empty() || !is_lower_alphanumeric(text.front()) || !is_lower_alphanumeric(text.back())) return false;
  for (const char c : text)
    if (!is_lower_alphanumeric(c) && c != '-') return false;
  return true;
}

bool matches_subdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!matches_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool matches_name_part(std::string_view text) {
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  for (const char c : text)
    if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') return false;
  return true;
}

}  // namespace

std::vector<std::string> check_qualified_name(std::string_view text) {
  std::vector<std::string> problems;
  const std::size_t slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      problems.emplace_back(
          "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
          "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
          "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
          "'example.com/MyName')");
      return problems;
    }
    if (prefix.empty())
      problems.emplace_back("prefix part must be non-empty");
    else
      for (const std::string& problem : check_dns_subdomain(prefix)) problems.push_back("prefix part " + problem);
  }
  if (name.empty())
    problems.emplace_back("name part must be non-empty");
  else if (name.size() > 63)
    problems.emplace_back("name part must be no more than 63 bytes");
  if (!matches_name_part(name))
    problems.emplace_back(
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
  return problems;
}

std::vector<std::string> check_dns_label(std::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > 63) problems.emplace_back("must be no more than 63 bytes");
  if (!matches_label(text))
    problems.emplace_back(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  return problems;
}

std::vector<std::string> check_dns_subdomain(std::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > 253) problems.emplace_back("must be no more than 253 bytes");
  if (!matches_subdomain(text))
    problems.emplace_back(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  return problems;
}

std::vector<std::string> check_label_value(std::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > 63) problems.emplace_back("must be no more than 63 bytes");
  if (!text.empty() && !matches_name_part(text))
    problems.emplace_back(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  return problems;
}

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
