// The rules of the API machinery for such names, in its words.
#include "api/schema/path_rules.h"

#include <algorithm>

#include "api/schema/names.h"
#include "base/format.h"

namespace api {

std::vector<std::string> check_domain_prefixed_path(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size())
    return {R"(must be a domain-prefixed path (such as "acme.io/foo"))"};
  std::vector<std::string> problems = check_dns_subdomain(text.substr(0, slash));
  const auto is_of_path = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/-._~%!$&'()*+,;=:").find(c) != std::string_view::npos;
  };
  if (!std::ranges::all_of(text.substr(slash + 1), is_of_path))
    problems.emplace_back(R"(Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))");
  return problems;
}

std::vector<std::string> check_path_segment(std::string_view text) {
  if (text == "." || text == "..") return {base::format("may not be '{}'", text)};
  std::vector<std::string> problems;
  for (const char c : {'/', '%'})
    if (text.find(c) != std::string_view::npos) problems.push_back(base::format("may not contain '{}'", c));
  return problems;
}

}  // namespace api
