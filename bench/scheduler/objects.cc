// Objects as a cluster has them. The part that is the same in each is one text; names, amounts and places are put in.
#include "objects.h"

#include "base/format.h"

namespace bench {
namespace {

// A uid that belongs to the text.
std::string uid_of(const std::string& text) {
  std::uint64_t a = 14695981039346656037U;
  for (const char c : text) a = (a ^ static_cast<unsigned char>(c)) * 1099511628211U;
  const std::uint64_t b = a * 6364136223846793005U + 1442695040888963407U;
  return base::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff, b >> 52,
                      b & 0xffffffffffff);
}

// metadata's members that every stored object has.
std::string identity(const std::string& name) {
  return base::format(R"("name":"{}","uid":"{}","resourceVersion":"{}","creationTimestamp":"2026-11-20T08:15:30Z")",
                      name, uid_of(name), 100'000 + std::hash<std::string>{}(name) % 900'000);
}

std::string annotated(const std::string& members) {
  return members.empty() ? "" : ",\"annotations\":{" + members + "}";
}

constexpr const char* kPodMade =
    R"({"manager":"vc-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-11-20T08:15:30Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:scheduling.k8s.io/group-name":{},"f:volcano.sh/job-name":{},"f:volcano.sh/job-version":{},"f:volcano.sh/queue-name":{},"f:volcano.sh/task-spec":{},"f:volcano.sh/template-uid":{}},"f:labels":{".":{},"f:volcano.sh/job-name":{},"f:volcano.sh/job-namespace":{},"f:volcano.sh/queue-name":{},"f:volcano.sh/task-index":{},"f:volcano.sh/task-spec":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"9c8e0c1e-0f65-4d7e-8d0b-2f9f3d9e4a11\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:command":{},"f:env":{".":{},"k:{\"name\":\"VC_TASK_INDEX\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"VK_TASK_INDEX\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{".":{},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}})";
constexpr const char* kPodStarted =
    R"(,{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-11-20T08:15:36Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"PodReadyToStartContainers\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.244.1.17\"}":{".":{},"f:ip":{}}},"f:startTime":{}}},"subresource":"status"})";
constexpr const char* kContainer =
    R"("command":["python3","/opt/train.py","--epochs","90"],"image":"registry.example.com/team/train:2026.11","imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","env":[{"name":"VK_TASK_INDEX","value":"0"},{"name":"VC_TASK_INDEX","value":"0"}],"volumeMounts":[{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount","name":"kube-api-access-x7k2p","readOnly":true}])";
constexpr const char* kPodSpec =
    R"("dnsPolicy":"ClusterFirst","enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority","priority":0,"restartPolicy":"OnFailure","schedulerName":"volcano","securityContext":{},"serviceAccount":"default","serviceAccountName":"default","terminationGracePeriodSeconds":30,"volumes":[{"name":"kube-api-access-x7k2p","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"items":[{"key":"ca.crt","path":"ca.crt"}],"name":"kube-root-ca.crt"}},{"downwardAPI":{"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"},"path":"namespace"}]}}]}}])";
constexpr const char* kTolerations =
    R"({"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300},{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300})";
constexpr const char* kRunning =
    R"("phase":"Running","qosClass":"Burstable","startTime":"2026-11-20T08:15:32Z","hostIP":"10.0.3.17","hostIPs":[{"ip":"10.0.3.17"}],"podIP":"10.244.1.17","podIPs":[{"ip":"10.244.1.17"}],"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:15:36Z","status":"True","type":"PodReadyToStartContainers"},{"lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:15:32Z","status":"True","type":"Initialized"},{"lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:15:36Z","status":"True","type":"Ready"},{"lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:15:36Z","status":"True","type":"ContainersReady"},{"lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:15:32Z","status":"True","type":"PodScheduled"}],"containerStatuses":[{"containerID":"containerd://5b8d7c0c6a1f4b9f8e6d3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d","image":"registry.example.com/team/train:2026.11","imageID":"registry.example.com/team/train@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0","lastState":{},"name":"main","ready":true,"restartCount":0,"started":true,"state":{"running":{"startedAt":"2026-11-20T08:15:35Z"}}}])";
constexpr const char* kNodeStatus =
    R"("addresses":[{"address":"10.0.3.17","type":"InternalIP"}],"conditions":[{"lastHeartbeatTime":"2026-11-20T09:00:01Z","lastTransitionTime":"2026-10-01T06:00:00Z","message":"kubelet has sufficient memory available","reason":"KubeletHasSufficientMemory","status":"False","type":"MemoryPressure"},{"lastHeartbeatTime":"2026-11-20T09:00:01Z","lastTransitionTime":"2026-10-01T06:00:00Z","message":"kubelet has no disk pressure","reason":"KubeletHasNoDiskPressure","status":"False","type":"DiskPressure"},{"lastHeartbeatTime":"2026-11-20T09:00:01Z","lastTransitionTime":"2026-10-01T06:00:00Z","message":"kubelet has sufficient PID available","reason":"KubeletHasSufficientPID","status":"False","type":"PIDPressure"},{"lastHeartbeatTime":"2026-11-20T09:00:01Z","lastTransitionTime":"2026-10-01T06:00:20Z","message":"kubelet is posting ready status","reason":"KubeletReady","status":"True","type":"Ready"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"images":[{"names":["registry.example.com/team/train@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0","registry.example.com/team/train:2026.11"],"sizeBytes":4831838208},{"names":["registry.example.com/pause:3.10"],"sizeBytes":319984}],"nodeInfo":{"architecture":"amd64","containerRuntimeVersion":"containerd://2.1.4","kernelVersion":"6.8.0","kubeletVersion":"v1.36.1","operatingSystem":"linux","osImage":"Debian GNU/Linux 12"})";

}  // namespace

std::string node_line(const std::string& name, const std::string& resources, const std::string& labels,
                      const std::string& spec) {
  return base::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{{1},"labels":{{"kubernetes.io/hostname":"{0}","kubernetes.io/arch":)"
      R"("amd64","kubernetes.io/os":"linux","beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/os":"linux"{2}}},)"
      R"("annotations":{{"node.alpha.kubernetes.io/ttl":"0","volumes.kubernetes.io/controller-managed-attach-detach":"true"}}}},)"
      R"("spec":{{"podCIDR":"10.244.1.0/24","podCIDRs":["10.244.1.0/24"],"providerID":"example://{0}"{3}}},)"
      R"("status":{{"allocatable":{{{4},"pods":"110"}},"capacity":{{{4},"pods":"110"}},{5}}}}})"
      "\n",
      name, identity(name), labels, spec, resources, kNodeStatus);
}

std::string group_line(const std::string& name, int min, const std::string& queue, const std::string& minimum,
                       const std::string& phase, const std::string& priority, const std::string& topology,
                       const std::string& annotations) {
  return base::format(
      R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{{{0},"namespace":"b","generation":3,)"
      R"("ownerReferences":[{{"apiVersion":"batch.volcano.sh/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":)"
      R"("Job","name":"{1}","uid":"{2}"}}]{9}}},"spec":{{"minMember":{3},"minTaskMember":{{"w":{3}}},"queue":"{4}"{5}{6}{7}}},)"
      R"("status":{{"phase":"{8}"}}}})"
      "\n",
      identity(name), name, uid_of("job " + name), min, queue,
      minimum.empty() ? "" : ",\"minResources\":{" + minimum + "}",
      priority.empty() ? "" : ",\"priorityClassName\":\"" + priority + "\"", topology, phase, annotated(annotations));
}

std::string pod_line(const PodLine& pod) {
  return base::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{{0},"namespace":"b","labels":{{"volcano.sh/job-name":"{1}",)"
      R"("volcano.sh/job-namespace":"b","volcano.sh/queue-name":"default","volcano.sh/task-index":"{15}","volcano.sh/task-spec":)"
      R"("w"{2}}},"annotations":{{"scheduling.k8s.io/group-name":"{1}","volcano.sh/job-name":"{1}","volcano.sh/job-version":)"
      R"("0","volcano.sh/queue-name":"default","volcano.sh/task-spec":"w","volcano.sh/template-uid":"{1}-w"{3}}},)"
      R"("ownerReferences":[{{"apiVersion":"batch.volcano.sh/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":)"
      R"("Job","name":"{1}","uid":"{4}"}}],"managedFields":[{5}{6}]}},"spec":{{{7}{8}{9},"tolerations":[{10}{11}],)"
      R"("containers":[{{"name":"main",{12},"resources":{{"requests":{{{13}}}}}}}]}},"status":{{{14}}}}})"
      "\n",
      identity(pod.name), pod.group, pod.labels.empty() ? "" : "," + pod.labels, pod.annotations,
      uid_of("job " + pod.group), kPodMade, pod.node.empty() ? "" : kPodStarted, kPodSpec,
      pod.node.empty() ? "" : ",\"nodeName\":\"" + pod.node + "\"", pod.spec, kTolerations,
      pod.tolerations.empty() ? "" : "," + pod.tolerations, kContainer, pod.requests,
      pod.node.empty() ? R"("phase":"Pending","qosClass":"Burstable")" : kRunning,
      pod.name.substr(pod.name.rfind('-') + 1));  // its index, so that each pod has labels of its own
}

std::string queue_line(const std::string& name, int weight, const std::string& more, const std::string& annotations) {
  return base::format(
      R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{{{},"generation":1{}}},)"
      R"("spec":{{"weight":{}{}}},"status":{{"state":"Open"}}}})"
      "\n",
      identity(name), annotated(annotations), weight, more);
}

}  // namespace bench
