// The rules, field by field.
#include "node/machine/security_context.h"

#include <algorithm>
#include <array>
#include <span>

#include "api/schema/names.h"
#include "base/format.h"
#include "node/machine/capabilities.h"

namespace node {

using api::Json;

namespace {

using Refusal = std::optional<std::string>;

constexpr std::int64_t kIdMax = 2147483647;
constexpr std::size_t kGroupsMax = 1024;
// Settings that a pod has for itself alone, as a kubelet allows them without being told to.
constexpr std::string_view kSafeSysctls[] = {"kernel.shm_rmid_forced",           "net.ipv4.ip_local_port_range",
                                             "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
                                             "net.ipv4.ping_group_range",        "net.ipv4.tcp_fin_timeout",
                                             "net.ipv4.tcp_keepalive_intvl",     "net.ipv4.tcp_keepalive_probes",
                                             "net.ipv4.tcp_keepalive_time",      "net.ipv4.tcp_rmem",
                                             "net.ipv4.tcp_syncookies",          "net.ipv4.tcp_wmem"};

// A context while it is looked at: whose it is decides which fields there are.
struct Context {
  const Json& pod;
  const Json& json;
  std::string path;  // "spec.securityContext", "spec.containers[main].securityContext"
  const SecurityMeans& means;

  std::string field(std::string_view name) const { return base::format("{}.{}", path, name); }
};

struct Rule {
  std::string_view field;
  Refusal (*check)(const Context&, const Json& value);
};

Refusal fine(const Context&, const Json&) { return std::nullopt; }

bool has_own_users(const Json& pod) { return !pod["spec"]["hostUsers"].as_bool(true); }

Refusal is_id(const Context& context, const Json& value) {
  const std::int64_t last = has_own_users(context.pod) ? kPodIds - 1 : kIdMax;
  if (value.is_int() && value.as_int() >= 0 && value.as_int() <= last) return std::nullopt;
  return base::format("{}: {} is not between 0 and {}", context.path, value.dump(), last);
}

Refusal user_rule(const Context& context, const Json& value) {
  if (auto why = is_id(context, value)) return why;
  if (!context.means.root && value.as_int() != context.means.user)
    return base::format("{}: to run as user {} needs root", context.path, value.as_int());
  return std::nullopt;
}

Refusal group_rule(const Context& context, const Json& value) { return is_id(context, value); }

Refusal groups_rule(const Context& context, const Json& value) {
  if (value.size() > kGroupsMax) return base::format("{}: more than {} groups", context.path, kGroupsMax);
  for (const Json& group : value.items())
    if (auto why = is_id(context, group)) return why;
  if (!context.means.containers && !value.empty())
    return context.path + ": plain processes have no groups of their own";
  return std::nullopt;
}

Refusal fs_group_rule(const Context& context, const Json& value) {
  if (auto why = is_id(context, value)) return why;
  if (context.means.containers) return std::nullopt;
  return context.path + ": plain processes have no groups of their own";
}

Refusal word_of(const Context& context, const Json& value, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (value.as_string() == word) return std::nullopt;
  return base::format("{}: {} is not known", context.path, value.dump());
}

Refusal groups_policy_rule(const Context& context, const Json& value) {
  return word_of(context, value, {"Merge", "Strict"});
}
Refusal change_policy_rule(const Context& context, const Json& value) {
  return word_of(context, value, {"Always", "OnRootMismatch"});
}

Refusal sysctls_rule(const Context& context, const Json& value) {
  for (const Json& sysctl : value.items()) {
    const std::string_view name = sysctl["name"].as_string();
    const bool safe = std::find(std::begin(kSafeSysctls), std::end(kSafeSysctls), name) != std::end(kSafeSysctls);
    if (!safe) return base::format("{}: {:?} is not one of the safe sysctls", context.path, name);
    if (context.pod["spec"]["hostNetwork"].as_bool() && name.starts_with("net."))
      return base::format("{}: {:?} would change the host, whose network the pod shares", context.path, name);
    if (context.pod["spec"]["hostIPC"].as_bool() && name.starts_with("kernel.shm"))
      return base::format("{}: {:?} would change the host, whose IPC the pod shares", context.path, name);
  }
  if (!context.means.containers && !value.empty()) return context.path + ": plain processes share the host's";
  return std::nullopt;
}

Refusal selinux_rule(const Context& context, const Json& value) {
  if (value.empty()) return std::nullopt;
  return context.path + ": SELinux labels are not supported on this node";
}
Refusal windows_rule(const Context& context, const Json& value) {
  if (value.empty()) return std::nullopt;
  return context.path + ": this node runs Linux";
}

Refusal seccomp_rule(const Context& context, const Json& value) {
  const std::string_view type = value["type"].as_string();
  if (type == "Unconfined") return std::nullopt;
  if (type != "RuntimeDefault" && type != "Localhost")
    return base::format("{}.type: {} is not known", context.path, value["type"].dump());
  if (!context.means.containers) return context.path + ": plain processes are not filtered";
  if (!context.means.seccomp) return context.path + ": this machine's kernel does not filter system calls";
  if (type == "Localhost" && value["localhostProfile"].as_string().empty())
    return context.path + ".localhostProfile: names no profile";
  return std::nullopt;
}

Refusal apparmor_rule(const Context& context, const Json& value) {
  const std::string_view type = value["type"].as_string();
  if (type == "Unconfined") return std::nullopt;
  if (type != "RuntimeDefault" && type != "Localhost")
    return base::format("{}.type: {} is not known", context.path, value["type"].dump());
  if (!context.means.containers) return context.path + ": plain processes are not confined";
  if (!context.means.apparmor) return context.path + ": AppArmor is not enabled on the host";
  const std::string profile(type == "Localhost" ? value["localhostProfile"].as_string() : kAppArmorDefault);
  if (!context.means.apparmor_profiles.contains(profile))
    return base::format("{}: the AppArmor profile {:?} is not loaded", context.path, profile);
  return std::nullopt;
}

Refusal capabilities_rule(const Context& context, const Json& value) {
  for (const char* list : {"add", "drop"}) {
    for (const Json& name : value[list].items())
      if (!is_capability(name.as_string()))
        return base::format("{}.{}: {} is not a capability", context.path, list, name.dump());
    if (!context.means.containers && !value[list].empty())
      return base::format("{}.{}: plain processes have the rights of the node agent", context.path, list);
  }
  return std::nullopt;
}

Refusal proc_mount_rule(const Context& context, const Json& value) {
  if (value.as_string() == "Default") return std::nullopt;
  if (value.as_string() != "Unmasked") return base::format("{}: {} is not known", context.path, value.dump());
  if (has_own_users(context.pod)) return std::nullopt;
  return base::format("{}: {} needs a user namespace (hostUsers: false)", context.path, value.dump());
}

Refusal read_only_rule(const Context& context, const Json& value) {
  if (context.means.containers || !value.as_bool()) return std::nullopt;
  return context.path + ": plain processes run on the host's files";
}

Refusal privileged_rule(const Context& context, const Json& value) {
  if (context.means.root || !value.as_bool()) return std::nullopt;
  return context.path + ": a privileged container needs root";
}

constexpr std::array kPodRules = {
    Rule{"appArmorProfile", apparmor_rule},
    Rule{"fsGroup", fs_group_rule},
    Rule{"fsGroupChangePolicy", change_policy_rule},
    Rule{"runAsGroup", group_rule},
    Rule{"runAsNonRoot", fine},
    Rule{"runAsUser", user_rule},
    Rule{"seLinuxChangePolicy", fine},  // of labels, and there are none
    Rule{"seLinuxOptions", selinux_rule},
    Rule{"seccompProfile", seccomp_rule},
    Rule{"supplementalGroups", groups_rule},
    Rule{"supplementalGroupsPolicy", groups_policy_rule},
    Rule{"sysctls", sysctls_rule},
    Rule{"windowsOptions", windows_rule},
};
constexpr std::array kContainerRules = {
    Rule{"allowPrivilegeEscalation", fine},
    Rule{"appArmorProfile", apparmor_rule},
    Rule{"capabilities", capabilities_rule},
    Rule{"privileged", privileged_rule},
    Rule{"procMount", proc_mount_rule},
    Rule{"readOnlyRootFilesystem", read_only_rule},
    Rule{"runAsGroup", group_rule},
    Rule{"runAsNonRoot", fine},
    Rule{"runAsUser", user_rule},
    Rule{"seLinuxOptions", selinux_rule},
    Rule{"seccompProfile", seccomp_rule},
    Rule{"windowsOptions", windows_rule},
};

Refusal check(const Context& context, std::span<const Rule> rules) {
  for (const Json::Member& member : context.json.members()) {
    if (member.value.is_null()) continue;
    const auto rule =
        std::find_if(rules.begin(), rules.end(), [&](const Rule& known) { return known.field == member.name(); });
    const std::string path = context.field(member.name());
    if (rule == rules.end()) return path + ": this field is not known on this node";
    if (auto why = rule->check({context.pod, context.json, path, context.means}, member.value)) return why;
  }
  return std::nullopt;
}

Refusal host_users_refusal(const Json& pod, const SecurityMeans& means) {
  if (!has_own_users(pod)) return std::nullopt;
  for (const char* field : {"hostNetwork", "hostPID", "hostIPC"})
    if (pod["spec"][field].as_bool())
      return base::format("spec.{}: a pod with hostUsers: false cannot share what belongs to the host's users", field);
  if (!means.no_user_namespaces.empty()) return base::format("spec.hostUsers: {}", means.no_user_namespaces);
  return std::nullopt;
}

Confinement confinement(const Json& mine, const Json& shared) {
  const Json& profile = mine.is_null() ? shared : mine;
  const std::string_view type = profile["type"].as_string();
  if (type == "Unconfined") return {Confinement::Kind::kNone, {}};
  if (type == "Localhost") return {Confinement::Kind::kNamed, profile["localhostProfile"].str()};
  return {};
}

}  // namespace

Refusal security_refusal(const Json& pod, const SecurityMeans& means) {
  const Json& spec = pod["spec"];
  // Pods of Windows need not say what keeps them from the node: PodSecurity relies on nodes to refuse them.
  if (const std::string_view os = spec["os"]["name"].as_string(); !os.empty() && os != "linux")
    return base::format("spec.os.name: {} is not the system of this node, which is linux", os);
  if (auto why = host_users_refusal(pod, means)) return why;
  if (auto why = check({pod, spec["securityContext"], "spec.securityContext", means}, kPodRules)) return why;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : spec[list].items()) {
      const std::string path = base::format("spec.{}[{}].securityContext", list, container["name"].as_string());
      if (auto why = check({pod, container["securityContext"], path, means}, kContainerRules)) return why;
    }
  }
  return std::nullopt;
}

Refusal shape_refusal(const Json& pod) {
  const Json& spec = pod["spec"];
  std::set<std::string> seen;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : spec[list].items()) {
      const std::string name = container["name"].str();
      if (!api::is_dns_label(name)) return base::format("spec.{}: the name {:?} is not a DNS label", list, name);
      if (!seen.insert(name).second) return base::format("spec.{}: the name {:?} is there twice", list, name);
    }
  }
  seen.clear();
  for (const Json& volume : spec["volumes"].items()) {
    const std::string name = volume["name"].str();
    if (!api::is_dns_label(name)) return base::format("spec.volumes: the name {:?} is not a DNS label", name);
    if (!seen.insert(name).second) return base::format("spec.volumes: the name {:?} is there twice", name);
  }
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : spec[list].items())
      if (!container["volumeDevices"].empty())
        return base::format("spec.{}{{{}}}.volumeDevices: this node has no block volumes", list,
                            container["name"].as_string());
  if (const std::string_view system = spec["os"]["name"].as_string(); !system.empty() && system != "linux")
    return base::format("spec.os.name: this node runs linux, not {}", system);
  if (const std::string_view name = spec["hostnameOverride"].as_string();
      !name.empty() && (!api::is_dns_subdomain(name) || name.size() > 64))
    return base::format("spec.hostnameOverride: {:?} is not a DNS subdomain of at most 64 letters", name);
  for (const char* field : {"hostname", "subdomain"})
    if (const std::string_view name = spec[field].as_string(); !name.empty() && !api::is_dns_label(name))
      return base::format("spec.{}: {:?} is not a DNS label", field, name);
  return std::nullopt;
}

void set_security(const Json& pod, const Json& json, ContainerSpec& spec) {
  const Json& mine = json["securityContext"];
  const Json& shared = pod["spec"]["securityContext"];
  const auto number = [&](const char* key) -> std::optional<std::int64_t> {
    if (mine[key].is_int()) return mine[key].as_int();
    if (shared[key].is_int()) return shared[key].as_int();
    return std::nullopt;
  };
  spec.user = number("runAsUser");
  spec.group = number("runAsGroup");
  for (const Json& group : shared["supplementalGroups"].items()) spec.extra_groups.push_back(group.as_int());
  if (shared["fsGroup"].is_int()) spec.extra_groups.push_back(shared["fsGroup"].as_int());
  spec.image_groups = shared["supplementalGroupsPolicy"].as_string() != "Strict";
  spec.must_not_be_root = mine.has("runAsNonRoot") ? mine["runAsNonRoot"].as_bool() : shared["runAsNonRoot"].as_bool();
  spec.privileged = mine["privileged"].as_bool();
  spec.no_new_privileges = mine.has("allowPrivilegeEscalation") && !mine["allowPrivilegeEscalation"].as_bool();
  spec.unmasked_proc = mine["procMount"].as_string() == "Unmasked";
  spec.read_only_root = mine["readOnlyRootFilesystem"].as_bool();
  for (const Json& name : mine["capabilities"]["add"].items()) spec.capabilities_added.push_back(name.str());
  for (const Json& name : mine["capabilities"]["drop"].items()) spec.capabilities_dropped.push_back(name.str());
  spec.seccomp = confinement(mine["seccompProfile"], shared["seccompProfile"]);
  spec.apparmor = confinement(mine["appArmorProfile"], shared["appArmorProfile"]);
  if (spec.privileged) spec.seccomp = spec.apparmor = {Confinement::Kind::kNone, {}};
  for (const Json& sysctl : shared["sysctls"].items())
    spec.sysctls.emplace_back(sysctl["name"].str(), sysctl["value"].str());
}

}  // namespace node
