// The rights and names that pods may ask for: obeyed, or refused by the field's name.
#include "node/machine/security_context.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "node/machine/capabilities.h"
#include "node/machine/container_text.h"
#include "node/machine/image_name.h"
#include "node/os/runc/seccomp.h"

namespace node {
namespace {

using api::Json;

Json pod_with(const std::string& spec) {
  const auto pod = api::parse_yaml("{metadata: {name: p}, spec: " + spec + "}");
  CHECK(pod.ok());
  return *pod;
}
Json pod_of(const std::string& shared, const std::string& mine) {
  return pod_with("{securityContext: " + shared + ", containers: [{name: a, image: i, securityContext: " + mine +
                  "}]}");
}

struct ContextCase {
  const char* shared;
  const char* mine;
  const char* refusal;  // how it begins; empty: obeyed
};

TEST(SecurityContext, FieldsAreObeyedOrRefusedByName) {
  for (const ContextCase& test : {
           ContextCase{"{}", "{}", ""},
           {"{runAsUser: 1, runAsGroup: 2, fsGroup: 3, supplementalGroups: [4], runAsNonRoot: true}", "{}", ""},
           {"{seccompProfile: {type: RuntimeDefault}}", "{seccompProfile: {type: Localhost, localhostProfile: a}}", ""},
           {"{sysctls: [{name: net.ipv4.tcp_syncookies, value: '1'}]}", "{}", ""},
           {"{sysctls: [{name: kernel.panic, value: '1'}]}", "{}", "spec.securityContext.sysctls: "},
           {"{runAsUser: 4294967296}", "{}", "spec.securityContext.runAsUser: 4294967296 is not between"},
           {"{}", "{runAsGroup: -1}", "spec.containers[a].securityContext.runAsGroup: -1"},
           {"{seLinuxOptions: {level: s0}}", "{}", "spec.securityContext.seLinuxOptions: "},
           {"{}", "{procMount: Unmasked}", "spec.containers[a].securityContext.procMount: "},
           {"{}", "{procMount: Default, seLinuxOptions: {}}", ""},
           {"{}", "{capabilities: {add: [net_admin, ALL], drop: [CAP_CHOWN]}}", ""},
           {"{}", "{capabilities: {add: [FLY]}}", "spec.containers[a].securityContext.capabilities.add: \"FLY\""},
           {"{}", "{windowsOptions: {hostProcess: true}}", "spec.containers[a].securityContext.windowsOptions: "},
           {"{}", "{seccompProfile: {type: Magic}}",
            "spec.containers[a].securityContext.seccompProfile.type: \"Magic\""},
           {"{appArmorProfile: {type: RuntimeDefault}}", "{}", "spec.securityContext.appArmorProfile: AppArmor is not"},
           {"{appArmorProfile: {type: Unconfined}}", "{}", ""},
           {"{}", "{newField: 1}", "spec.containers[a].securityContext.newField: "},
       }) {
    const auto refusal = security_refusal(pod_of(test.shared, test.mine), {});
    EXPECT_TRUE(refusal.value_or("").starts_with(test.refusal) && refusal.has_value() == (*test.refusal != '\0'))
        << test.shared << test.mine << refusal.value_or("obeyed");
  }
}

TEST(SecurityContext, UsersOfAPodsOwnAreFewAndShareNothingOfTheHost) {
  const SecurityMeans able{.no_user_namespaces = {}};
  for (const auto& [fields, refusal] : {
           std::pair{"", ""},
           {"securityContext: {runAsUser: 65535, fsGroup: 65535}", ""},
           {"containers: [{name: a, securityContext: {procMount: Unmasked}}]", ""},
           {"hostNetwork: true", "spec.hostNetwork: "},
           {"hostPID: true", "spec.hostPID: "},
           {"hostIPC: true", "spec.hostIPC: "},
           {"securityContext: {runAsUser: 65536}", "spec.securityContext.runAsUser: 65536 is not between 0 and 65535"},
           {"securityContext: {supplementalGroups: [65536]}", "spec.securityContext.supplementalGroups: 65536 "},
           {"containers: [{name: a, securityContext: {runAsGroup: 70000}}]", "spec.containers[a].securityContext.runA"},
       }) {
    const auto why = security_refusal(pod_with(std::string("{hostUsers: false, ") + fields + "}"), able);
    EXPECT_TRUE(why.value_or("").starts_with(refusal) && why.has_value() == (*refusal != '\0')) << fields;
  }
  EXPECT_EQ(security_refusal(pod_with("{hostUsers: false}"), {.no_user_namespaces = "why"}), "spec.hostUsers: why");
  EXPECT_TRUE(security_refusal(pod_with("{hostUsers: false}"), {})->starts_with("spec.hostUsers: "));
  EXPECT_FALSE(security_refusal(pod_with("{hostUsers: true, hostPID: true}"), {}).has_value());
}

TEST(SecurityContext, pods_of_another_system_are_refused) {
  EXPECT_FALSE(security_refusal(pod_with("{os: {name: linux}}"), {}).has_value());
  EXPECT_EQ(security_refusal(pod_with("{os: {name: windows}}"), {}),
            "spec.os.name: windows is not the system of this node, which is linux");
}

TEST(SecurityContext, PlainProcessesGiveNoConfinement) {
  const SecurityMeans plain{.containers = false, .root = false, .user = 7};
  for (const char* mine : {"{readOnlyRootFilesystem: true}", "{capabilities: {drop: [ALL]}}",
                           "{seccompProfile: {type: RuntimeDefault}}", "{runAsUser: 8}", "{privileged: true}"})
    EXPECT_TRUE(security_refusal(pod_of("{}", mine), plain).has_value()) << mine;
  for (const char* mine : {"{readOnlyRootFilesystem: false}", "{runAsUser: 7}", "{allowPrivilegeEscalation: false}",
                           "{seccompProfile: {type: Unconfined}}"})
    EXPECT_FALSE(security_refusal(pod_of("{}", mine), plain).has_value()) << mine;
}

TEST(SecurityContext, ContainersAreConfinedUnlessTheyAskNotToBe) {
  const auto kind_of = [](const char* shared, const char* mine) {
    const Json pod = pod_of(shared, mine);
    ContainerSpec spec;
    set_security(pod, pod["spec"]["containers"].items().front(), spec);
    return spec.seccomp.kind;
  };
  EXPECT_EQ(kind_of("{}", "{}"), Confinement::Kind::kDefault);
  EXPECT_EQ(kind_of("{seccompProfile: {type: Unconfined}}", "{}"), Confinement::Kind::kNone);
  EXPECT_EQ(kind_of("{seccompProfile: {type: Unconfined}}", "{seccompProfile: {type: RuntimeDefault}}"),
            Confinement::Kind::kDefault);
  EXPECT_EQ(kind_of("{}", "{privileged: true}"), Confinement::Kind::kNone);
}

bool allows(const Json& profile, std::string_view call) {
  for (const Json& rule : profile["syscalls"].items())
    if (rule["action"].as_string() == "SCMP_ACT_ALLOW" && !rule.has("args"))
      for (const Json& name : rule["names"].items())
        if (name.as_string() == call) return true;
  return false;
}

TEST(Seccomp, CallsComeWithTheirCapability) {
  const Json usual = default_seccomp(capabilities_of({}, ~std::uint64_t{0}));
  EXPECT_EQ(usual["defaultAction"].as_string(), "SCMP_ACT_ERRNO");
  for (const char* call : {"read", "execve", "futex", "chroot", "io_submit"}) EXPECT_TRUE(allows(usual, call)) << call;
  for (const char* call :
       {"mount", "unshare", "bpf", "kexec_load", "keyctl", "add_key", "userfaultfd", "open_by_handle_at",
        "io_uring_setup", "ptrace_nothing", "clone", "clone3", "init_module", "reboot"})
    EXPECT_FALSE(allows(usual, call)) << call;
  const Json strong = default_seccomp({"CAP_SYS_ADMIN"});
  for (const char* call : {"mount", "unshare", "clone", "clone3"}) EXPECT_TRUE(allows(strong, call)) << call;
  EXPECT_FALSE(allows(strong, "init_module"));
}

TEST(ImageNames, FollowTheGrammar) {
  const std::string sum = "@sha256:" + std::string(64, 'a');
  for (const std::string& name : {std::string("nginx"), std::string("a/b/c:v1.2_3-x"), "localhost:5000/a" + sum,
                                  std::string("a__b/c--d.e"), std::string("Host.example/a"), std::string("[::1]:80/a")})
    EXPECT_TRUE(check_image_name(name).ok()) << name;
  for (const char* name : {"", "-a", "a-", "a..b", "a___b", "a._b", "../a", "a/../b", "A", "a:", "a:b/", "a@b", "a b",
                           "a@sha256:../../x", "host:x/a", "[::1/a", "a:-b", "caf\xc3\xa9", "\xff"})
    EXPECT_FALSE(check_image_name(name).ok()) << name;
}

TEST(NodeNames, AreNamesOfHosts) {
  for (const char* name : {"n1", "a-b.example.org", "1"}) EXPECT_TRUE(check_node_name(name).ok()) << name;
  for (const char* name : {"", "A", "a_b", "-a", "a.", "a/b", "\xff"}) EXPECT_FALSE(check_node_name(name).ok()) << name;
}

TEST(ContainerText, TheRuntimesOwnReasonIsFound) {
  EXPECT_EQ(reason_in_runtime_log(
                "{\"level\":\"error\",\"msg\":\"first\"}\nnoise\n{\"level\":\"error\",\"msg\":\"l\xff\"}\n"),
            "l\xEF\xBF\xBD");
  EXPECT_EQ(reason_in_runtime_log("{\"level\":\"fatal\",\"msg\":\"nsexec: oom_score_adj\"}\n"
                                  "{\"level\":\"error\",\"msg\":\"can't get final child's PID from pipe: EOF\"}\n"),
            "can't get final child's PID from pipe: EOF: nsexec: oom_score_adj");
  EXPECT_EQ(reason_in_runtime_log("{}"), "");
}

}  // namespace
}  // namespace node
