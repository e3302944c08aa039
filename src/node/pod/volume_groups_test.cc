// Which volumes a pod's fsGroup is for, and which folders everybody may write.
#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "base/format.h"
#include "node/pod/volumes.h"

namespace node {
namespace {

using api::Json;

struct GroupCase {
  const char* volume;    // of the pod
  const char* source;    // of the PersistentVolume
  const char* made_by;   // its provisioner
  const char* security;  // of the pod
  const char* expected;  // the group, "mismatch" and "open"
};

std::string groups_of(const GroupCase& test) {
  const Json pod = *api::parse_yaml(
      base::format("{{metadata: {{name: p, namespace: ns, uid: u}}, spec: {{securityContext: {}, volumes: [{{name: v, "
                   "{}}}]}}}}",
                   test.security, test.volume));
  const Json volume = *api::parse_yaml(base::format(
      "{{metadata: {{name: pv, annotations: {{pv.kubernetes.io/provisioned-by: {:?}}}}}, spec: {{claimRef: "
      "{{uid: c}}, {}}}}}",
      test.made_by, test.source));
  const Json claim = *api::parse_yaml(
      "{metadata: {name: c, namespace: ns, uid: c, ownerReferences: [{kind: Pod, name: p, uid: u, controller: true}]}, "
      "spec: {volumeName: pv}, status: {phase: Bound}}");
  Lookups lookups;
  lookups.find = [&](std::string_view kind, std::string_view, std::string_view) {
    return kind == "PersistentVolume" ? &volume : &claim;
  };
  const auto specs = volumes_of(pod, lookups);
  if (!specs.ok()) return specs.error().message;
  const VolumeSpec& spec = specs->front();
  return base::format("{}{}{}", spec.group ? std::to_string(*spec.group) : "none",
                      spec.group_on_mismatch ? " mismatch" : "", spec.open_to_all ? " open" : "");
}

TEST(VolumeGroups, AreForVolumesThatAreThePodsOwn) {
  const char* const ours = "volcano.sh/local-path";
  const char* const claim = "persistentVolumeClaim: {claimName: c}";
  const char* const host = "hostPath: {path: /x}";
  const char* const local = "local: {path: /x}";
  const char* const on_mismatch = "{fsGroup: 5, fsGroupChangePolicy: OnRootMismatch}";
  for (const GroupCase& test : {
           GroupCase{claim, host, ours, "{fsGroup: 5}", "5 open"},
           GroupCase{claim, host, ours, on_mismatch, "5 mismatch open"},
           GroupCase{claim, host, ours, "{fsGroup: 5, fsGroupChangePolicy: Always}", "5 open"},
           GroupCase{claim, host, ours, "{fsGroupChangePolicy: OnRootMismatch}", "none open"},
           GroupCase{"ephemeral: {volumeClaimTemplate: {}}", host, ours, "{fsGroup: 5}", "5 open"},
           GroupCase{claim, local, "", on_mismatch, "5 mismatch"},
           GroupCase{"persistentVolumeClaim: {claimName: c, readOnly: true}", local, "", "{fsGroup: 5}", "none"},
           GroupCase{claim, host, "", "{fsGroup: 5}", "none"},  // a folder of the machine, as with a kubelet
           GroupCase{host, local, "", "{fsGroup: 5}", "none"},
           GroupCase{"emptyDir: {}", local, "", on_mismatch, "5"},  // which is new, as a rule
       })
    EXPECT_EQ(groups_of(test), test.expected) << test.volume << " " << test.source << " " << test.security;
}

}  // namespace
}  // namespace node
