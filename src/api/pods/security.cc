// Whom a pod and its containers run as, and what they may do.
#include <algorithm>
#include <array>

#include "api/pods/parts.h"
#include "base/format.h"

namespace api {

namespace {

constexpr std::string_view kIdRange = "must be between 0 and 2147483647, inclusive";
constexpr std::array<std::string_view, 3> kProfiles = {"Localhost", "RuntimeDefault", "Unconfined"};

void check_ids(const Json& context, const std::string& path, std::initializer_list<const char*> fields,
               FieldErrors& errors) {
  for (const char* field : fields)
    if (const Json& id = context[field]; id.is_number() && (id.as_int() < 0 || id.as_int() > 2147483647))
      errors.invalid(in(path, field), id, kIdRange);
}

void check_profile(const Json& profile, const std::string& path, std::string_view what, FieldErrors& errors) {
  if (!profile.is_object()) return;
  const std::string type = profile["type"].str();
  const bool named = !profile["localhostProfile"].as_string().empty();
  if (type.empty())
    errors.required(in(path, "type"),
                    base::format("type is required when {} is set", path.substr(path.rfind('.') + 1)));
  else
    errors.one_of(in(path, "type"), type, kProfiles);
  if (type == "Localhost" && !named)
    errors.required(in(path, "localhostProfile"), base::format("must be set when {} type is Localhost", what));
  else if (type != "Localhost" && named)
    errors.invalid(in(path, "localhostProfile"), profile["localhostProfile"],
                   base::format("can only be set when {} type is Localhost", what));
  if (what != "seccomp") return;
  const std::string_view file = profile["localhostProfile"].as_string();
  if (file.starts_with('/'))
    errors.invalid(in(path, "localhostProfile"), profile["localhostProfile"], "must be a relative path");
  check_no_way_up(in(path, "localhostProfile"), file, errors);
}

bool is_sysctl_part(std::string_view part) {
  const auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (part.empty() || !is_end(part.front()) || !is_end(part.back())) return false;
  for (const char c : part)
    if (!is_end(c) && c != '-' && c != '_') return false;
  return true;
}

bool is_sysctl(std::string_view name) {
  if (name.size() > 253) return false;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("./", start), name.size());
    if (!is_sysctl_part(name.substr(start, end - start))) return false;
    start = end + 1;
  }
  return true;
}

// The field that gives the pod the host's namespace which this sysctl is of; empty: none does. Names may be written
// with slashes; then dots and slashes have changed places.
std::string_view host_field(const Json& spec, std::string name) {
  constexpr std::array<std::string_view, 10> kIpc = {
      "kernel.msg",    "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.sem",
      "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm",    "kernel.shm_rmid_forced"};
  if (const std::size_t first = name.find_first_of("./"); first != std::string::npos && name[first] == '/')
    for (char& c : name) c = c == '/' ? '.' : c == '.' ? '/' : c;
  if (spec["hostNetwork"].as_bool() && name.starts_with("net.")) return "hostNetwork";
  const bool is_ipc = std::ranges::find(kIpc, name) != kIpc.end() || name.starts_with("fs.mqueue.");
  return spec["hostIPC"].as_bool() && is_ipc ? "hostIPC" : "";
}

void check_sysctls(const Json& spec, const std::string& path, const PodRules& rules, FieldErrors& errors) {
  const Json& sysctls = spec["securityContext"]["sysctls"];
  std::set<std::string> names;
  for (std::size_t i = 0; i < sysctls.size(); ++i) {
    const std::string where = in(at(path, i), "name");
    const std::string name = sysctls[i]["name"].str();
    if (name.empty())
      errors.required(where);
    else if (!is_sysctl(name))
      errors.invalid(where, name,
                     "must have at most 253 characters and match regex "
                     "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    else if (!names.insert(name).second)
      errors.duplicate(where, name);
    // A setting of what the pod shares with its host would be one of the host's.
    if (const auto field = host_field(spec, name); !field.empty() && !rules.host_sysctls)
      errors.invalid(where, name, base::format("may not be specified when '{}' is true", field));
  }
}

// The fields that an operating system does not have. `path` is of the pod or of a container.
void check_system(const Json& context, const std::string& path, std::initializer_list<const char*> fields,
                  FieldErrors& errors) {
  for (const char* field : fields)
    if (!context[field].is_null()) errors.forbidden(in(path, field), "cannot be set for a windows pod");
}

void check_windows(const Json& spec, const std::string& path, FieldErrors& errors) {
  for (const char* field : {"hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"}) {
    const bool given = std::string_view(field) == "hostUsers" || std::string_view(field) == "shareProcessNamespace"
                           ? !spec[field].is_null()
                           : spec[field].as_bool();
    if (given) errors.forbidden(in(path, field), "cannot be set for a windows pod");
  }
  check_system(spec["securityContext"], in(path, "securityContext"),
               {"appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls",
                "runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"},
               errors);
  for (const char* list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < spec[list].size(); ++i)
      check_system(spec[list][i]["securityContext"], in(at(in(path, list), i), "securityContext"),
                   {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
                    "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"},
                   errors);
}

void check_linux(const Json& spec, const std::string& path, FieldErrors& errors) {
  constexpr std::string_view kWhy = "windows options cannot be set for a linux pod";
  if (spec["securityContext"]["windowsOptions"].is_object())
    errors.forbidden(in(in(path, "securityContext"), "windowsOptions"), kWhy);
  for (const char* list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < spec[list].size(); ++i)
      if (spec[list][i]["securityContext"]["windowsOptions"].is_object())
        errors.forbidden(in(at(in(path, list), i), "securityContext.windowsOptions"), kWhy);
}

}  // namespace

bool has_host_sysctls(const Json& spec) {
  return std::ranges::any_of(spec["securityContext"]["sysctls"].items(),
                             [&](const Json& one) { return !host_field(spec, one["name"].str()).empty(); });
}

void check_pod_security(const Json& spec, const std::string& path, const PodRules& rules, FieldErrors& errors) {
  const Json& context = spec["securityContext"];
  const std::string where = in(path, "securityContext");
  if (spec["hostUsers"].is_bool() && !spec["hostUsers"].as_bool())
    for (const char* field : {"hostNetwork", "hostPID", "hostIPC"})
      if (spec[field].as_bool()) errors.forbidden(in(path, field), "when `hostUsers` is false");
  check_ids(context, where, {"fsGroup", "runAsUser", "runAsGroup"}, errors);
  const auto groups = context["supplementalGroups"].items();
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups[i].as_int() < 0 || groups[i].as_int() > 2147483647)
      errors.invalid(at(in(where, "supplementalGroups"), i), groups[i], kIdRange);
  // The path is Kubernetes' own: the field is the pod's.
  if (spec["shareProcessNamespace"].as_bool() && spec["hostPID"].as_bool())
    errors.invalid(in(where, "shareProcessNamespace"), true,
                   "ShareProcessNamespace and HostPID cannot both be enabled");
  check_sysctls(spec, in(where, "sysctls"), rules, errors);
  constexpr std::array<std::string_view, 2> kChanges = {"Always", "OnRootMismatch"};
  check_choice(context, where, "fsGroupChangePolicy", kChanges, errors);
  constexpr std::array<std::string_view, 2> kGroups = {"Merge", "Strict"};
  check_choice(context, where, "supplementalGroupsPolicy", kGroups, errors);
  constexpr std::array<std::string_view, 2> kLabelChanges = {"MountOption", "Recursive"};
  check_choice(context, where, "seLinuxChangePolicy", kLabelChanges, errors);
  check_windows_options(context["windowsOptions"], in(where, "windowsOptions"), errors);
  check_host_processes(spec, path, errors);
  if (spec["os"]["name"].as_string() == "windows") check_windows(spec, path, errors);
  if (spec["os"]["name"].as_string() == "linux") check_linux(spec, path, errors);
  check_profile(context["seccompProfile"], in(where, "seccompProfile"), "seccomp", errors);
  check_profile(context["appArmorProfile"], in(where, "appArmorProfile"), "AppArmor", errors);
}

void check_container_security(const Json& context, const std::string& path, FieldErrors& errors) {
  check_ids(context, path, {"runAsUser", "runAsGroup"}, errors);
  constexpr std::array<std::string_view, 2> kProcMounts = {"Default", "Unmasked"};
  check_choice(context, path, "procMount", kProcMounts, errors);
  check_windows_options(context["windowsOptions"], in(path, "windowsOptions"), errors);
  check_profile(context["seccompProfile"], in(path, "seccompProfile"), "seccomp", errors);
  check_profile(context["appArmorProfile"], in(path, "appArmorProfile"), "AppArmor", errors);
  const Json& escalation = context["allowPrivilegeEscalation"];
  if (!escalation.is_bool() || escalation.as_bool()) return;
  if (context["privileged"].as_bool())
    errors.invalid(path, context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  const auto added = context["capabilities"]["add"].items();
  if (std::ranges::any_of(added, [](const Json& one) { return one.as_string() == "CAP_SYS_ADMIN"; }))
    errors.invalid(path, context,
                   "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
}

}  // namespace api
