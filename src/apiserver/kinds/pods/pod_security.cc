// The controls, one function each, and the table of which level has which since when.
#include "apiserver/kinds/pods/pod_security.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "api/json/problems.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::format;

namespace {

using Names = std::vector<std::string>;
using Values = std::set<std::string>;
using Found = std::optional<SecurityProblem>;

struct Pod {
  const Json& annotations;
  const Json& spec;
  const Json& context;
  int minor;
  std::vector<const Json*> containers = {};  // of all three lists

  Pod(const Json& object, int of_minor)
      : annotations(object["metadata"]["annotations"]),
        spec(object["spec"]),
        context(spec["securityContext"]),
        minor(of_minor) {
    for (const char* list : {"initContainers", "containers", "ephemeralContainers"})
      for (const Json& container : spec[list].items()) containers.push_back(&container);
  }

  // Windows has no such rights; since 1.25 its pods need not say so.
  bool is_of_windows() const { return minor >= 25 && spec["os"]["name"].as_string() == "windows"; }
  // Root of such a pod is nobody on the node, which counts since 1.35.
  bool has_own_users() const { return minor >= 35 && !spec["hostUsers"].as_bool(true); }
};

std::string quoted(const auto& texts) {
  std::string out;
  for (const std::string& one : texts) out += (out.empty() ? "\"" : ", \"") + one + "\"";
  return out;
}

std::string_view counted(std::size_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

// `containers "a", "b"`
std::string named(const auto& names) {
  return format("{} {}", counted(names.size(), "container", "containers"), quoted(names));
}

// The breakers of a rule, and their values.
struct Breakers {
  bool pod = false;
  Names containers;
  Values values;

  bool any() const { return pod || !containers.empty(); }
  std::string text() const {
    if (containers.empty()) return "pod";
    return (pod ? "pod and " : "") + named(containers);
  }
};

// `breaks(container, values)` says whether a container does.
Breakers containers_that(const Pod& pod, auto breaks) {
  Breakers out;
  for (const Json* container : pod.containers)
    if (breaks(*container, out.values)) out.containers.push_back((*container)["name"].str());
  return out;
}

// `breaks(context, values)` says it of a security context, the pod's or a container's.
Breakers contexts_that(const Pod& pod, auto breaks) {
  Values of_pod;
  const bool bad_pod = breaks(pod.context, of_pod);
  Breakers out =
      containers_that(pod, [&](const Json& one, Values& values) { return breaks(one["securityContext"], values); });
  out.pod = bad_pod;
  out.values.merge(of_pod);
  return out;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, text) != all.end();
}

// Takes down the type of a profile that is neither of the two allowed ones.
auto profile_breaks(const char* field) {
  return [field](const Json& context, Values& values) {
    const Json& profile = context[field];
    if (!profile.is_object() || is_one_of(profile["type"].as_string(), {"RuntimeDefault", "Localhost"})) return false;
    values.insert(profile["type"].str());
    return true;
  };
}

// --- baseline ---

Found apparmor(const Pod& pod) {
  constexpr std::string_view kPrefix = "container.apparmor.security.beta.kubernetes.io/";
  const Breakers bad = contexts_that(pod, profile_breaks("appArmorProfile"));
  Names values(bad.values.begin(), bad.values.end());
  Values annotations;
  for (const Json::Member& row : pod.annotations.members()) {
    const std::string_view value = row.value.as_string();
    if (row.name().starts_with(kPrefix) && !value.empty() && value != "runtime/default" &&
        !value.starts_with("localhost/"))
      annotations.insert(format("{}={}", row.name(), api::shown(row.value)));
  }
  if (!bad.any() && annotations.empty()) return {};
  values.insert(values.end(), annotations.begin(), annotations.end());
  std::string who = bad.any() ? bad.text() : "";
  if (!annotations.empty())
    who += format("{}{}", who.empty() ? "" : " and ", counted(annotations.size(), "annotation", "annotations"));
  return SecurityProblem{
      std::string(counted(values.size(), "forbidden AppArmor profile", "forbidden AppArmor profiles")),
      format("{} must not set AppArmor profile type to {}", who, quoted(values))};
}

Breakers adding_others_than(const Pod& pod, std::initializer_list<std::string_view> allowed) {
  return containers_that(pod, [&](const Json& container, Values& values) {
    bool bad = false;
    for (const Json& one : container["securityContext"]["capabilities"]["add"].items()) {
      if (is_one_of(one.as_string(), allowed)) continue;
      values.insert(one.str());
      bad = true;
    }
    return bad;
  });
}

std::string adding_text(const Breakers& bad) {
  return format("{} must not include {} in securityContext.capabilities.add", named(bad.containers),
                quoted(bad.values));
}

Found added_capabilities(const Pod& pod) {
  const Breakers bad =
      adding_others_than(pod, {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
                               "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"});
  if (!bad.any()) return {};
  return SecurityProblem{"non-default capabilities", adding_text(bad)};
}

Found host_namespaces(const Pod& pod) {
  std::string all;
  for (const char* field : {"hostNetwork", "hostPID", "hostIPC"})
    if (pod.spec[field].as_bool()) all += format("{}{}=true", all.empty() ? "" : ", ", field);
  if (all.empty()) return {};
  return SecurityProblem{"host namespaces", std::move(all)};
}

Found host_paths(const Pod& pod) {
  Names bad;
  for (const Json& volume : pod.spec["volumes"].items())
    if (!volume["hostPath"].is_null()) bad.push_back(volume["name"].str());
  if (bad.empty()) return {};
  return SecurityProblem{"hostPath volumes", format("{} {}", counted(bad.size(), "volume", "volumes"), quoted(bad))};
}

Found host_ports(const Pod& pod) {
  const Breakers bad = containers_that(pod, [](const Json& container, Values& values) {
    bool any = false;
    for (const Json& port : container["ports"].items()) {
      if (port["hostPort"].as_int() == 0) continue;
      values.insert(std::to_string(port["hostPort"].as_int()));
      any = true;
    }
    return any;
  });
  if (!bad.any()) return {};
  std::string ports;
  for (const std::string& one : bad.values) ports += (ports.empty() ? "" : ", ") + one;
  return SecurityProblem{"hostPort",
                         format("{} {} {} {}", named(bad.containers), counted(bad.containers.size(), "uses", "use"),
                                counted(bad.values.size(), "hostPort", "hostPorts"), ports)};
}

Found probe_hosts(const Pod& pod) {
  const auto collect = [](const Json& action, Values& values) {
    bool any = false;
    for (const char* way : {"httpGet", "tcpSocket"}) {
      const std::string_view host = action[way]["host"].as_string();
      if (host.empty()) continue;
      values.emplace(host);
      any = true;
    }
    return any;
  };
  const Breakers bad = containers_that(pod, [&](const Json& container, Values& values) {
    bool any = false;
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
      any |= collect(container[probe], values);
    for (const char* hook : {"postStart", "preStop"}) any |= collect(container["lifecycle"][hook], values);
    return any;
  });
  if (!bad.any()) return {};
  const Values names(bad.containers.begin(), bad.containers.end());
  return SecurityProblem{
      "probe or lifecycle host",
      format("{} {} {} {}", named(names), counted(names.size(), "uses", "use"),
             counted(bad.values.size(), "probe or lifecycle host", "probe or lifecycle hosts"), quoted(bad.values))};
}

Found privileged(const Pod& pod) {
  const Breakers bad = containers_that(
      pod, [](const Json& container, Values&) { return container["securityContext"]["privileged"].as_bool(); });
  if (!bad.any()) return {};
  return SecurityProblem{"privileged", named(bad.containers) + " must not set securityContext.privileged=true"};
}

Found proc_mount_of_any(const Pod& pod) {
  const Breakers bad = containers_that(pod, [](const Json& container, Values& values) {
    const Json& mount = container["securityContext"]["procMount"];
    if (mount.is_null() || mount.as_string() == "Default") return false;
    values.insert(mount.str());
    return true;
  });
  if (!bad.any()) return {};
  return SecurityProblem{"procMount", format("{} must not set securityContext.procMount to {}", named(bad.containers),
                                             quoted(bad.values))};
}

Found proc_mount(const Pod& pod) { return pod.has_own_users() ? Found() : proc_mount_of_any(pod); }

Found selinux(const Pod& pod) {
  bool user = false, role = false;
  const Breakers bad = contexts_that(pod, [&](const Json& context, Values& values) {
    const Json& options = context["seLinuxOptions"];
    const std::string_view type = options["type"].as_string();
    const bool good_type = is_one_of(type, {"", "container_t", "container_init_t", "container_kvm_t"}) ||
                           (type == "container_engine_t" && pod.minor >= 31);
    if (!good_type) values.emplace(type);
    const bool has_user = !options["user"].as_string().empty(), has_role = !options["role"].as_string().empty();
    user |= has_user;
    role |= has_role;
    return !good_type || has_user || has_role;
  });
  if (!bad.any()) return {};
  std::string what;
  if (!bad.values.empty()) what = format("{} {}", counted(bad.values.size(), "type", "types"), quoted(bad.values));
  if (user) what += format("{}user may not be set", what.empty() ? "" : "; ");
  if (role) what += format("{}role may not be set", what.empty() ? "" : "; ");
  return SecurityProblem{"seLinuxOptions",
                         format("{} set forbidden securityContext.seLinuxOptions: {}", bad.text(), what)};
}

Found forbidden_seccomp(const Pod& pod) {
  const Breakers bad = contexts_that(pod, profile_breaks("seccompProfile"));
  if (!bad.any()) return {};
  return SecurityProblem{"seccompProfile", format("{} must not set securityContext.seccompProfile.type to {}",
                                                  bad.text(), quoted(bad.values))};
}

bool is_allowed_sysctl(std::string_view name, int minor) {
  struct Row {
    const char* name;
    int since;
  };
  constexpr Row kRows[] = {{"kernel.shm_rmid_forced", 0},
                           {"net.ipv4.ip_local_port_range", 0},
                           {"net.ipv4.tcp_syncookies", 0},
                           {"net.ipv4.ping_group_range", 0},
                           {"net.ipv4.ip_unprivileged_port_start", 0},
                           {"net.ipv4.ip_local_reserved_ports", 27},
                           {"net.ipv4.tcp_keepalive_time", 29},
                           {"net.ipv4.tcp_fin_timeout", 29},
                           {"net.ipv4.tcp_keepalive_intvl", 29},
                           {"net.ipv4.tcp_keepalive_probes", 29},
                           {"net.ipv4.tcp_rmem", 32},
                           {"net.ipv4.tcp_wmem", 32}};
  return std::ranges::any_of(kRows, [&](const Row& row) { return minor >= row.since && name == row.name; });
}

Found sysctls(const Pod& pod) {
  std::string bad;
  bool any = false;
  for (const Json& one : pod.context["sysctls"].items()) {
    if (is_allowed_sysctl(one["name"].as_string(), pod.minor)) continue;
    bad += (any ? ", " : "") + one["name"].str();
    any = true;
  }
  if (!any) return {};
  return SecurityProblem{"forbidden sysctls", std::move(bad)};
}

Found windows_host_process(const Pod& pod) {
  const Breakers bad = contexts_that(
      pod, [](const Json& context, Values&) { return context["windowsOptions"]["hostProcess"].as_bool(); });
  if (!bad.any()) return {};
  return SecurityProblem{"hostProcess", bad.text() + " must not set securityContext.windowsOptions.hostProcess=true"};
}

// --- restricted ---

Found escalation(const Pod& pod) {
  if (pod.is_of_windows()) return {};
  const Breakers bad = containers_that(pod, [](const Json& container, Values&) {
    return container["securityContext"]["allowPrivilegeEscalation"].as_bool(true);
  });
  if (!bad.any()) return {};
  return SecurityProblem{"allowPrivilegeEscalation != false",
                         named(bad.containers) + " must set securityContext.allowPrivilegeEscalation=false"};
}

Found kept_capabilities(const Pod& pod) {
  if (pod.is_of_windows()) return {};
  const Breakers keeping = containers_that(pod, [](const Json& container, Values&) {
    return std::ranges::none_of(container["securityContext"]["capabilities"]["drop"].items(),
                                [](const Json& one) { return one.as_string() == "ALL"; });
  });
  const Breakers adding = adding_others_than(pod, {"NET_BIND_SERVICE"});
  std::string all;
  if (keeping.any()) all = named(keeping.containers) + " must set securityContext.capabilities.drop=[\"ALL\"]";
  if (adding.any()) all += (all.empty() ? "" : "; ") + adding_text(adding);
  if (all.empty()) return {};
  return SecurityProblem{"unrestricted capabilities", std::move(all)};
}

std::string kind_of(const Json& volume) {
  for (const char* kind : {"hostPath",
                           "gcePersistentDisk",
                           "awsElasticBlockStore",
                           "gitRepo",
                           "nfs",
                           "iscsi",
                           "glusterfs",
                           "rbd",
                           "flexVolume",
                           "cinder",
                           "cephfs",
                           "flocker",
                           "fc",
                           "azureFile",
                           "vsphereVolume",
                           "quobyte",
                           "azureDisk",
                           "photonPersistentDisk",
                           "portworxVolume",
                           "scaleIO",
                           "storageos"})
    if (!volume[kind].is_null()) return kind;
  return "unknown";
}

Found volumes(const Pod& pod) {
  Names bad;
  Values kinds;
  for (const Json& volume : pod.spec["volumes"].items()) {
    const auto is_there = [&](const char* kind) { return !volume[kind].is_null(); };
    constexpr const char* kAllowed[] = {"configMap", "csi",   "downwardAPI",           "emptyDir",
                                        "ephemeral", "image", "persistentVolumeClaim", "projected",
                                        "secret"};
    if (std::ranges::any_of(kAllowed, is_there)) continue;
    bad.push_back(volume["name"].str());
    kinds.insert(kind_of(volume));
  }
  if (bad.empty()) return {};
  return SecurityProblem{
      "restricted volume types",
      format("{} {} {} {} {}", counted(bad.size(), "volume", "volumes"), quoted(bad),
             counted(bad.size(), "uses", "use"),
             counted(kinds.size(), "restricted volume type", "restricted volume types"), quoted(kinds))};
}

Found root(const Pod& pod) {
  constexpr const char* kWhat = "runAsNonRoot != true";
  if (pod.has_own_users()) return {};
  const Breakers bad =
      contexts_that(pod, [](const Json& context, Values&) { return !context["runAsNonRoot"].as_bool(true); });
  if (bad.any()) return SecurityProblem{kWhat, bad.text() + " must not set securityContext.runAsNonRoot=false"};
  if (pod.context["runAsNonRoot"].as_bool()) return {};
  const Breakers silent = containers_that(
      pod, [](const Json& container, Values&) { return !container["securityContext"]["runAsNonRoot"].as_bool(); });
  if (!silent.any()) return {};
  return SecurityProblem{kWhat,
                         format("pod or {} must set securityContext.runAsNonRoot=true", named(silent.containers))};
}

Found user(const Pod& pod) {
  if (pod.has_own_users()) return {};
  const Breakers bad = contexts_that(pod, [](const Json& context, Values&) {
    return context["runAsUser"].is_number() && context["runAsUser"].as_int() == 0;
  });
  if (!bad.any()) return {};
  return SecurityProblem{"runAsUser=0", bad.text() + " must not set runAsUser=0"};
}

Found missing_seccomp(const Pod& pod) {
  if (pod.is_of_windows()) return {};
  if (Found bad = forbidden_seccomp(pod)) return bad;
  if (pod.context["seccompProfile"].is_object()) return {};
  const Breakers silent = containers_that(
      pod, [](const Json& container, Values&) { return !container["securityContext"]["seccompProfile"].is_object(); });
  if (!silent.any()) return {};
  return SecurityProblem{
      "seccompProfile",
      format(R"(pod or {} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")",
             named(silent.containers))};
}

// In the order in which a stock server tells them.
struct Control {
  SecurityLevel level;
  int since;
  Found (*check)(const Pod&);
  int replaced_since = -1;  // where the level is restricted, by a stricter one; -1: it never is
};
constexpr SecurityLevel kBaseline = SecurityLevel::kBaseline, kRestricted = SecurityLevel::kRestricted;
constexpr Control kControls[] = {{kBaseline, 0, apparmor},
                                 {kBaseline, 0, added_capabilities, 22},
                                 {kBaseline, 0, host_namespaces},
                                 {kBaseline, 0, host_paths, 0},
                                 {kBaseline, 0, host_ports},
                                 {kBaseline, 34, probe_hosts},
                                 {kBaseline, 0, privileged},
                                 {kBaseline, 0, proc_mount, 35},
                                 {kBaseline, 0, selinux},
                                 {kBaseline, 0, forbidden_seccomp, 0},
                                 {kBaseline, 0, sysctls},
                                 {kBaseline, 0, windows_host_process},
                                 {kRestricted, 8, escalation},
                                 {kRestricted, 22, kept_capabilities},
                                 {kRestricted, 35, proc_mount_of_any},
                                 {kRestricted, 0, volumes},
                                 {kRestricted, 0, root},
                                 {kRestricted, 23, user},
                                 {kRestricted, 0, missing_seccomp}};

std::string joined(const std::vector<SecurityProblem>& problems, bool with_details) {
  std::string out;
  for (const SecurityProblem& one : problems) {
    out += (out.empty() ? "" : ", ") + one.what;
    if (with_details && !one.detail.empty()) out += " (" + one.detail + ")";
  }
  return out;
}

}  // namespace

std::string SecurityStandard::text() const {
  constexpr const char* kWords[] = {"privileged", "baseline", "restricted"};
  const std::string version = minor == kLatestMinor ? "latest" : format("v1.{}", minor);
  return format("{}:{}", kWords[static_cast<std::size_t>(level)], version);
}

std::vector<SecurityProblem> security_problems(const Json& object, const SecurityStandard& standard) {
  std::vector<SecurityProblem> problems;
  const Pod pod(object, standard.minor);
  for (const Control& control : kControls) {
    if (control.level > standard.level || standard.minor < control.since) continue;
    const bool replaced = control.replaced_since >= 0 && standard.minor >= control.replaced_since;
    if (replaced && standard.level == kRestricted) continue;
    if (Found found = control.check(pod)) problems.push_back(*std::move(found));
  }
  return problems;
}

std::string in_short(const std::vector<SecurityProblem>& problems) { return joined(problems, false); }
std::string in_detail(const std::vector<SecurityProblem>& problems) { return joined(problems, true); }

}  // namespace apiserver
