// The options of Windows: whom its containers run as, and containers that are processes of the host.
#include <algorithm>
#include <string>

#include "api/pods/parts.h"
#include "api/schema/names.h"
#include "base/format.h"

namespace api {

namespace {

constexpr std::size_t kSpecBytesMax = std::size_t{64} << 10, kDomainMax = 256, kUserMax = 104, kNetBiosMax = 15;

bool has_any(std::string_view text, std::string_view letters) {
  return text.find_first_of(letters) != std::string_view::npos;
}

// "corp.example.com", letters of both cases.
bool is_dns_domain(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return matches_dns_subdomain(lower);
}

bool is_domain(std::string_view text) {
  const bool net_bios =
      !text.empty() && text.front() != '.' && text.size() <= kNetBiosMax && !has_any(text, R"(\/:*?"<>|)");
  return net_bios || is_dns_domain(text);
}

void check_user(std::string_view user, const std::string& path, const Json& whole, FieldErrors& errors) {
  if (user.empty()) return errors.invalid(path, whole, "runAsUserName's User cannot be empty");
  if (user.size() > kUserMax)
    errors.invalid(path, whole,
                   base::format("runAsUserName's User length must not be longer than {} characters", kUserMax));
  if (user.find_first_not_of(". ") == std::string_view::npos)
    errors.invalid(path, whole, "runAsUserName's User cannot contain only periods or spaces");
  if (has_any(user, R"("/\:;|=,+*?<>@[])"))
    errors.invalid(path, whole, R"(runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[])");
}

// "user", or "domain\user".
void check_user_name(const Json& name, const std::string& path, FieldErrors& errors) {
  const std::string_view text = name.as_string();
  if (text.empty()) return errors.invalid(path, name, "runAsUserName cannot be an empty string");
  if (std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    return errors.invalid(path, name, "runAsUserName cannot contain control characters");
  if (std::ranges::count(text, '\\') > 1)
    return errors.invalid(path, name, "runAsUserName cannot contain more than one backslash");
  const std::size_t slash = text.find('\\');
  if (slash == std::string_view::npos) return check_user(text, path, name, errors);
  const std::string_view domain = text.substr(0, slash);
  if (domain.size() >= kDomainMax)
    errors.invalid(path, name, base::format("runAsUserName's Domain length must be under {} characters", kDomainMax));
  if (!is_domain(domain))
    errors.invalid(path, name, "runAsUserName's Domain doesn't match the NetBIOS nor the DNS format");
  check_user(text.substr(slash + 1), path, name, errors);
}

}  // namespace

void check_windows_options(const Json& options, const std::string& path, FieldErrors& errors) {
  if (const Json& name = options["gmsaCredentialSpecName"]; name.is_string())
    errors.invalid(in(path, "gmsaCredentialSpecName"), name, check_dns_subdomain(name.as_string()));
  if (const Json& spec = options["gmsaCredentialSpec"]; spec.is_string()) {
    if (spec.as_string().empty())
      errors.invalid(in(path, "gmsaCredentialSpec"), spec, "gmsaCredentialSpec cannot be an empty string");
    else if (spec.as_string().size() > kSpecBytesMax)
      errors.invalid(in(path, "gmsaCredentialSpec"), "", "gmsaCredentialSpec size must be under 64 KiB");
  }
  if (const Json& user = options["runAsUserName"]; user.is_string())
    check_user_name(user, in(path, "runAsUserName"), errors);
}

void check_host_processes(const Json& spec, const std::string& path, FieldErrors& errors) {
  const Json& of_pod = spec["securityContext"]["windowsOptions"]["hostProcess"];
  std::size_t containers = 0, of_host = 0;
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"})
    for (std::size_t i = 0; i < spec[list].size(); ++i) {
      const Json& own = spec[list][i]["securityContext"]["windowsOptions"]["hostProcess"];
      ++containers;
      if (of_pod.is_bool() && own.is_bool() && !(of_pod == own))
        errors.invalid(
            in(at(in(path, list), i), "securityContext.windowsOptions.hostProcess"), own,
            base::format("pod hostProcess value must be identical if both are specified, was {}", of_pod.as_bool()));
      if ((own.is_bool() ? own : of_pod).as_bool()) ++of_host;
    }
  if (of_host == 0) return;
  if (of_host != containers)
    errors.invalid(path, "",
                   "If pod contains any hostProcess containers then all containers must be HostProcess containers");
  if (!spec["hostNetwork"].as_bool())
    errors.invalid(in(path, "hostNetwork"), false,
                   "hostNetwork must be true if pod contains any hostProcess containers");
}

}  // namespace api
