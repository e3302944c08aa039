// The controls of the Pod Security Standards, one by one: what each allows and what it refuses, in which words.
#include "apiserver/kinds/pods/pod_security.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

constexpr SecurityLevel kBaseline = SecurityLevel::kBaseline, kRestricted = SecurityLevel::kRestricted;

Json json(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

// A pod that meets all of them, with this merged into its spec, its pod's context and its container.
struct Change {
  std::string spec, context, container, container_context, annotations;
};

void merge(Json& into, const std::string& members) {
  const Json given = json("{" + members + "}");
  for (const Json::Member& one : given.members()) into.set(one.name(), one.value);
}

Json pod_with(const Change& change) {
  Json pod = json(R"j({"metadata": {"annotations": {"a": "b"}}, "spec": {
      "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
      "containers": [{"name": "c", "image": "i", "securityContext": {"allowPrivilegeEscalation": false,
         "capabilities": {"drop": ["ALL"]}}}],
      "volumes": [{"name": "v", "emptyDir": {}}]}})j");
  merge(pod.edit_path({"metadata", "annotations"}), change.annotations);
  Json& spec = pod.edit("spec");
  merge(spec.edit("securityContext"), change.context);
  Json& container = spec.edit("containers").edit(std::size_t{0});
  merge(container.edit("securityContext"), change.container_context);
  merge(container, change.container);
  merge(spec, change.spec);
  return pod;
}

std::string violations(const Json& pod, SecurityLevel level, int minor = kLatestMinor) {
  return in_detail(security_problems(pod, {level, minor}));
}

struct Row {
  Change change;
  std::string baseline, restricted;  // "=": the same
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Json pod = pod_with(row.change);
    EXPECT_EQ(violations(pod, SecurityLevel::kPrivileged), "") << pod.dump();
    EXPECT_EQ(violations(pod, kBaseline), row.baseline) << pod.dump();
    EXPECT_EQ(violations(pod, kRestricted), row.restricted == "=" ? row.baseline : row.restricted) << pod.dump();
  }
}

TEST(PodSecurity, keeps_pods_from_the_host) {
  check({
      {{}, "", "="},
      {{.spec = R"("hostNetwork": true)"}, "host namespaces (hostNetwork=true)", "="},
      {{.spec = R"("hostPID": true, "hostIPC": true)"}, "host namespaces (hostPID=true, hostIPC=true)", "="},
      {{.spec = R"("hostNetwork": false, "hostPID": false, "hostIPC": false)"}, "", "="},
      {{.container_context = R"("privileged": false)"}, "", "="},
      {{.container_context = R"("privileged": true)"},
       R"(privileged (container "c" must not set securityContext.privileged=true))",
       "="},
      {{.spec = R"("volumes": [{"name": "h", "hostPath": {"path": "/"}}, {"name": "e", "emptyDir": {}}])"},
       R"(hostPath volumes (volume "h"))",
       R"(restricted volume types (volume "h" uses restricted volume type "hostPath"))"},
      {{.container = R"("ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 0}])"}, "", "="},
      {{.container = R"("ports": [{"hostPort": 81}])"}, R"(hostPort (container "c" uses hostPort 81))", "="},
      {{.container = R"("ports": [{"hostPort": 81}, {"hostPort": 80}])"},
       R"(hostPort (container "c" uses hostPorts 80, 81))",
       "="},
      {{.container = R"("livenessProbe": {"httpGet": {"port": 1}}, "lifecycle": {"preStop": {"exec": {}}})"}, "", "="},
      {{.container = R"("livenessProbe": {"httpGet": {"port": 1, "host": "b"}},
                        "lifecycle": {"preStop": {"tcpSocket": {"port": 1, "host": "a"}}})"},
       R"(probe or lifecycle host (container "c" uses probe or lifecycle hosts "a", "b"))",
       "="},
      {{.context = R"("windowsOptions": {"hostProcess": false})"}, "", "="},
      {{.context = R"("windowsOptions": {"hostProcess": true})",
        .container_context = R"("windowsOptions": {"hostProcess": true})"},
       R"(hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true))",
       "="},
  });
}

TEST(PodSecurity, knows_profiles_and_kernel_settings) {
  const std::string apparmor = "container.apparmor.security.beta.kubernetes.io/c";
  check({
      {{.context = R"("appArmorProfile": {"type": "RuntimeDefault"})",
        .container_context = R"("appArmorProfile": {"type": "Localhost", "localhostProfile": "x"})"},
       "",
       "="},
      {{.context = R"("appArmorProfile": {"type": "Unconfined"})"},
       R"(forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined"))",
       "="},
      {{.container_context = R"("appArmorProfile": {"type": "Unconfined"})",
        .annotations = base::format(R"("{}": "unconfined")", apparmor)},
       R"(forbidden AppArmor profiles (container "c" and annotation must not set AppArmor profile type to "Unconfined", )"
       R"("container.apparmor.security.beta.kubernetes.io/c="unconfined""))",
       "="},
      {{.annotations = base::format(R"("{0}": "runtime/default", "{0}2": "localhost/x", "{0}3": "")", apparmor)},
       "",
       "="},
      {{.annotations = base::format(R"("{}": "a\"b")", apparmor)},
       R"(forbidden AppArmor profile (annotation must not set AppArmor profile type to )"
       R"("container.apparmor.security.beta.kubernetes.io/c="a\"b""))",
       "="},
      {{.context = R"("seLinuxOptions": {"type": "container_t", "level": "s0"})",
        .container_context = R"("seLinuxOptions": {"type": "container_engine_t"})"},
       "",
       "="},
      {{.context = R"("seLinuxOptions": {"type": "spc_t", "user": "u"})",
        .container_context = R"("seLinuxOptions": {"role": "r"})"},
       R"(seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; )"
       "user may not be set; role may not be set)",
       "="},
      {{.container_context = R"("procMount": "Default")"}, "", "="},
      {{.container_context = R"("procMount": "Unmasked")"},
       R"(procMount (container "c" must not set securityContext.procMount to "Unmasked"))",
       "="},
      {{.spec = R"("hostUsers": false)", .container_context = R"("procMount": "Unmasked")"},
       "",
       R"(procMount (container "c" must not set securityContext.procMount to "Unmasked"))"},
      {{.container_context = R"("seccompProfile": {"type": "Localhost", "localhostProfile": "x"})"}, "", "="},
      {{.context = R"("seccompProfile": {"type": "Unconfined"})"},
       R"(seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined"))",
       "="},
      {{.context = R"("seccompProfile": null)"},
       "",
       R"(seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or )"
       R"("Localhost"))"},
      {{.context = R"("sysctls": [{"name": "kernel.shm_rmid_forced"}, {"name": "net.ipv4.tcp_wmem"}])"}, "", "="},
      {{.context = R"("sysctls": [{"name": "kernel.msgmax"}, {"name": "net.ipv4.tcp_rmem"}, {"name": "vm.x"}])"},
       "forbidden sysctls (kernel.msgmax, vm.x)",
       "="},
  });
}

TEST(PodSecurity, restricts_rights) {
  const std::string drops = R"("drop": ["ALL"])";
  check({
      {{.container_context = R"("allowPrivilegeEscalation": null)"},
       "",
       R"(allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false))"},
      {{.container_context = R"("capabilities": {"drop": ["all"]})"},
       "",
       R"(unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]))"},
      {{.container_context = R"("capabilities": {"add": ["NET_BIND_SERVICE"], )" + drops + "}"}, "", "="},
      {{.container_context = R"("capabilities": {"add": ["CHOWN"], )" + drops + "}"},
       "",
       R"(unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add))"},
      {{.container_context = R"("capabilities": {"add": ["SYS_ADMIN", "NET_RAW"]})"},
       R"(non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in )"
       "securityContext.capabilities.add)",
       R"(unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" )"
       R"(must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add))"},
      {{.spec = R"("volumes": [{"name": "a", "nfs": {}}, {"name": "b", "flexVolume": {}}, {"name": "c"},
           {"name": "d", "secret": {}}, {"name": "e", "configMap": {}}, {"name": "f", "csi": {}}, {"name": "g",
           "downwardAPI": {}}, {"name": "h", "ephemeral": {}}, {"name": "i", "image": {}}, {"name": "j", "projected": {}},
           {"name": "k", "persistentVolumeClaim": {}}])"},
       "",
       R"(restricted volume types (volumes "a", "b", "c" use restricted volume types "flexVolume", "nfs", "unknown"))"},
      {{.context = R"("runAsNonRoot": null)"},
       "",
       R"(runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true))"},
      {{.context = R"("runAsNonRoot": null)", .container_context = R"("runAsNonRoot": true)"}, "", "="},
      {{.container_context = R"("runAsNonRoot": false)"},
       "",
       R"(runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false))"},
      {{.spec = R"("hostUsers": false)", .context = R"("runAsNonRoot": false, "runAsUser": 0)"}, "", "="},
      {{.context = R"("runAsUser": 1000)"}, "", "="},
      {{.context = R"("runAsUser": 0)", .container_context = R"("runAsUser": 0)"},
       "",
       R"(runAsUser=0 (pod and container "c" must not set runAsUser=0))"},
      {{.spec = R"("os": {"name": "windows"})",
        .context = R"("seccompProfile": null)",
        .container_context = R"("allowPrivilegeEscalation": null, "capabilities": null)"},
       "",
       "="},
  });
}

TEST(PodSecurity, looks_at_all_containers) {
  const Json pod = json(R"j({"spec": {"initContainers": [{"name": "i", "securityContext": {"privileged": true}}],
      "containers": [{"name": "c"}], "ephemeralContainers": [{"name": "e", "securityContext": {"privileged": true}}]}})j");
  EXPECT_EQ(violations(pod, kBaseline),
            R"(privileged (containers "i", "e" must not set securityContext.privileged=true))");
  EXPECT_EQ(in_short(security_problems(pod, {kRestricted})),
            "privileged, allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, "
            "seccompProfile");
}

TEST(PodSecurity, is_as_it_was_in_a_version) {
  struct Case {
    Change change;
    SecurityLevel level;
    int since;     // the first version that refuses, or allows
    bool allowed;  // from then on
  };
  const Case cases[] = {
      {{.container = R"("startupProbe": {"tcpSocket": {"host": "h"}})"}, kBaseline, 34, false},
      {{.context = R"("sysctls": [{"name": "net.ipv4.ip_local_reserved_ports"}])"}, kBaseline, 27, true},
      {{.context = R"("sysctls": [{"name": "net.ipv4.tcp_fin_timeout"}])"}, kBaseline, 29, true},
      {{.context = R"("sysctls": [{"name": "net.ipv4.tcp_rmem"}])"}, kBaseline, 32, true},
      {{.context = R"("seLinuxOptions": {"type": "container_engine_t"})"}, kBaseline, 31, true},
      {{.spec = R"("hostUsers": false)", .container_context = R"("procMount": "Unmasked")"}, kBaseline, 35, true},
      {{.spec = R"("hostUsers": false)", .context = R"("runAsNonRoot": false)"}, kRestricted, 35, true},
      {{.container_context = R"("allowPrivilegeEscalation": true)"}, kRestricted, 8, false},
      {{.container_context = R"("capabilities": {})"}, kRestricted, 22, false},
      {{.context = R"("runAsUser": 0)"}, kRestricted, 23, false},
      {{.spec = R"("os": {"name": "windows"})", .context = R"("seccompProfile": null)"}, kRestricted, 25, true},
  };
  for (const Case& one : cases) {
    const Json pod = pod_with(one.change);
    EXPECT_EQ(violations(pod, one.level, one.since).empty(), one.allowed) << pod.dump();
    EXPECT_NE(violations(pod, one.level, one.since - 1).empty(), one.allowed) << pod.dump();
    EXPECT_EQ(violations(pod, one.level, 1000).empty(), one.allowed) << pod.dump();
  }
  // The weaker control says what a stricter one will say later.
  EXPECT_EQ(
      violations(pod_with({.container_context = R"("capabilities": {"add": ["NET_RAW"]})"}), kRestricted, 21),
      R"(non-default capabilities (container "c" must not include "NET_RAW" in securityContext.capabilities.add))");
  EXPECT_EQ((SecurityStandard{kRestricted, 31}.text()), "restricted:v1.31");
}

TEST(PodSecurity, takes_fields_of_a_wrong_type_for_absent) {
  const Json wrong[] = {json("5"),   json("[[]]"), json(R"("x")"), json(R"({"a": []})"), json("[null, 1, {}]"),
                        json("true")};
  for (const Json& value : wrong) {
    for (const char* field :
         {"securityContext", "containers", "initContainers", "volumes", "os", "hostUsers", "hostPID"}) {
      Json pod = pod_with({});
      pod.edit("spec").set(field, value);
      violations(pod, kRestricted);
    }
    for (const char* field : {"capabilities", "seccompProfile", "appArmorProfile", "seLinuxOptions", "windowsOptions",
                              "procMount", "runAsUser", "runAsNonRoot", "privileged", "sysctls"}) {
      const std::string member = base::format(R"("{}": {})", field, value.dump());
      violations(pod_with({.context = member, .container_context = member}), kRestricted);
    }
    for (const char* field : {"ports", "name", "livenessProbe", "lifecycle", "securityContext"})
      violations(pod_with({.container = base::format(R"("{}": {})", field, value.dump())}), kRestricted);
    violations(value, kRestricted);
    violations(Json::object({{"spec", value}, {"metadata", value}}), kBaseline);
  }
}

}  // namespace
}  // namespace apiserver
