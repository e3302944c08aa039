// The grammar of names.
#include "api/schema/names.h"

#include <algorithm>

#include "base/format.h"

namespace api {

const std::string_view kDnsLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const std::string_view kDnsSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const std::string_view kDns1035LabelRule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";
const std::string_view kNamePartRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

namespace {

constexpr std::size_t kLabelMax = 63, kSubdomainMax = 253;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }
bool is_alphanumeric(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }

bool matches_label(std::string_view text) {
  return !text.empty() && is_lower(text.front()) && is_lower(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower(c) || c == '-'; });
}

bool matches_name_part(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

std::string too_long(std::size_t size_max, std::string_view unit) {
  return base::format("must be no more than {} {}", size_max, unit);
}

}  // namespace

bool matches_dns_subdomain(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!matches_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_dns_label(std::string_view text) { return text.size() <= kLabelMax && matches_label(text); }
bool is_dns_subdomain(std::string_view text) { return text.size() <= kSubdomainMax && matches_dns_subdomain(text); }
bool is_label_value(std::string_view text) {
  return text.empty() || (text.size() <= kLabelMax && matches_name_part(text));
}

bool is_qualified_name(std::string_view text) {
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    if (!is_dns_subdomain(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return !text.empty() && is_label_value(text);
}

std::vector<std::string> check_dns_label(std::string_view text, std::string_view unit) {
  std::vector<std::string> problems;
  if (text.size() > kLabelMax) problems.push_back(too_long(kLabelMax, unit));
  // A dot is all that keeps a subdomain from being a label.
  if (!matches_label(text))
    problems.emplace_back(matches_dns_subdomain(text) ? "must not contain dots" : kDnsLabelRule);
  return problems;
}

std::vector<std::string> check_dns_subdomain(std::string_view text, std::string_view unit) {
  std::vector<std::string> problems;
  if (text.size() > kSubdomainMax) problems.push_back(too_long(kSubdomainMax, unit));
  if (!matches_dns_subdomain(text)) problems.emplace_back(kDnsSubdomainRule);
  return problems;
}

std::vector<std::string> check_dns1035_label(std::string_view text, std::string_view unit) {
  std::vector<std::string> problems;
  if (text.size() > kLabelMax) problems.push_back(too_long(kLabelMax, unit));
  if (!matches_label(text) || is_digit(text.front())) problems.emplace_back(kDns1035LabelRule);
  return problems;
}

std::vector<std::string> check_qualified_name(std::string_view text, std::string_view unit) {
  std::vector<std::string> problems;
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos)
      return {
          base::format("a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. "
                       "'example.com/MyName')",
                       kNamePartRule)};
    if (prefix.empty())
      problems.emplace_back("prefix part must be non-empty");
    else
      for (const std::string& problem : check_dns_subdomain(prefix, unit)) problems.push_back("prefix part " + problem);
  }
  if (name.empty())
    problems.emplace_back("name part must be non-empty");
  else if (name.size() > kLabelMax)
    problems.push_back("name part " + too_long(kLabelMax, unit));
  if (!matches_name_part(name)) problems.push_back(base::format("name part {}", kNamePartRule));
  return problems;
}

std::vector<std::string> check_label_value(std::string_view text, std::string_view unit) {
  std::vector<std::string> problems;
  if (text.size() > kLabelMax) problems.push_back(too_long(kLabelMax, unit));
  if (!text.empty() && !matches_name_part(text)) problems.emplace_back(kLabelValueRule);
  return problems;
}

}  // namespace api
