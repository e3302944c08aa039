"""The requests that both servers get, in order: a fixed round for every kind, and then what people and programs get wrong."""
import copy
import json

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

CONTAINER = {"name": "c", "image": "busybox"}
POD = {"containers": [CONTAINER], "automountServiceAccountToken": False}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": POD}
SELECTOR = {"matchLabels": {"app": "a"}}
JOB_POD = dict(POD, restartPolicy="Never")
RULES = {"resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["nothings"]}]}

# (apiVersion, kind, plural, namespaced, the rest of the object)
KINDS = [
    ("v1", "ConfigMap", "configmaps", True, {"data": {"a": "1"}}),
    ("v1", "Secret", "secrets", True, {"stringData": {"a": "1"}}),
    ("v1", "Pod", "pods", True, {"spec": POD}),
    ("v1", "Service", "services", True, {"spec": {"selector": {"app": "a"}, "ports": [{"port": 80}]}}),
    ("v1", "Endpoints", "endpoints", True, {"subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}]}),
    ("v1", "ServiceAccount", "serviceaccounts", True, {}),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", True, {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
    ("v1", "PersistentVolume", "persistentvolumes", False, {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/nowhere"}}}),
    ("v1", "Node", "nodes", False, {"spec": {"podCIDR": "10.9.0.0/24"}}),
    ("v1", "Event", "events", True, {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "probe"}, "reason": "Seen", "message": "seen", "type": "Normal"}),
    ("v1", "LimitRange", "limitranges", True, {"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "9Ti"}}]}}),
    ("v1", "ResourceQuota", "resourcequotas", True, {"spec": {"hard": {"count/leases.coordination.k8s.io": "900"}}}),
    ("v1", "ReplicationController", "replicationcontrollers", True, {"spec": {"selector": {"app": "a"}, "template": TEMPLATE}}),
    ("v1", "PodTemplate", "podtemplates", True, {"template": TEMPLATE}),
    ("apps/v1", "Deployment", "deployments", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    ("apps/v1", "ReplicaSet", "replicasets", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    ("apps/v1", "StatefulSet", "statefulsets", True, {"spec": {"serviceName": "s", "selector": SELECTOR, "template": TEMPLATE}}),
    ("apps/v1", "DaemonSet", "daemonsets", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    ("apps/v1", "ControllerRevision", "controllerrevisions", True, {"revision": 1, "data": {"a": 1}}),
    ("batch/v1", "Job", "jobs", True, {"spec": {"template": {"spec": JOB_POD}}}),
    ("batch/v1", "CronJob", "cronjobs", True, {"spec": {"schedule": "@yearly", "jobTemplate": {"spec": {"template": {"spec": JOB_POD}}}}}),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", True, {"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3}}),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", True, {"spec": {"minAvailable": 1, "selector": SELECTOR}}),
    ("coordination.k8s.io/v1", "Lease", "leases", True, {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}),
    ("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", True, {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"port": 80}]}),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", True, {"spec": {"podSelector": {}}}),
    ("networking.k8s.io/v1", "Ingress", "ingresses", True, {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}),
    ("networking.k8s.io/v1", "IngressClass", "ingressclasses", False, {"spec": {"controller": "example.com/c"}}),
    ("rbac.authorization.k8s.io/v1", "Role", "roles", True, {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", True, {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]}),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", False, {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", False, {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]}),
    ("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", False, {"value": 7}),
    ("storage.k8s.io/v1", "StorageClass", "storageclasses", False, {"provisioner": "example.com/p"}),
    ("storage.k8s.io/v1", "CSIDriver", "csidrivers", False, {"spec": {}}),
    ("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", False, {"handler": "runc"}),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", False, None),
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", False, {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}}),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas", False, {"spec": {"priorityLevelConfiguration": {"name": "catch-all"}}}),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False, {}),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False, {}),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", False, {"spec": {"matchConstraints": RULES, "validations": [{"expression": "true"}]}}),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", False, {"spec": {"policyName": "p", "validationActions": ["Deny"]}}),
    ("resource.k8s.io/v1", "DeviceClass", "deviceclasses", False, {"spec": {}}),
    ("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", True, {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d"}}]}}}),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates", True, {"spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d"}}]}}}}),
    ("resource.k8s.io/v1", "ResourceSlice", "resourceslices", False, {"spec": {"driver": "example.com", "nodeName": "n", "pool": {"name": "n", "resourceSliceCount": 1, "generation": 1}}}),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", False, None),
    ("example.com/v1", "Widget", "widgets", True, {"spec": {"size": "small"}}),
]

WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
             "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
                           "additionalPrinterColumns": [{"name": "Size", "type": "string", "jsonPath": ".spec.size"}, {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
                           "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {
                               "spec": {"type": "object", "required": ["size"], "properties": {
                                   "size": {"type": "string", "enum": ["small", "large"]}, "replicas": {"type": "integer", "default": 1, "minimum": 0, "maximum": 10},
                                   "names": {"type": "array", "items": {"type": "string", "maxLength": 5}, "x-kubernetes-list-type": "set"},
                                   "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                                   "x-kubernetes-validations": [{"rule": "self.size != 'large' || self.replicas > 1", "message": "large ones need two"}]},
                               "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}}}}}}]}}


class Ask:
    def __init__(self, name, method, path, body=None, content=JSON, accept=JSON, raw=None):
        self.name, self.method, self.path, self.body, self.content, self.accept, self.raw = name, method, path, body, content, accept, raw


def base_of(version):
    return "/api/v1" if version == "v1" else "/apis/" + version


def folder(version, plural, namespaced, namespace="probe"):
    return base_of(version) + ("/namespaces/" + namespace if namespaced else "") + "/" + plural


def a(version, kind, name, rest):
    return dict(copy.deepcopy(rest), apiVersion=version, kind=kind, metadata={"name": name, "labels": {"l": "1"}})


def round_of(version, kind, plural, namespaced, rest):
    if rest is None:
        return
    at, name = folder(version, plural, namespaced), "probe-" + plural
    obj = a(version, kind, name, rest)
    say = lambda words: f"{plural}: {words}"
    yield Ask(say("create, dry run"), "POST", at + "?dryRun=All&fieldManager=probe", obj)
    yield Ask(say("get what a dry run made"), "GET", at + "/" + name)
    yield Ask(say("create"), "POST", at + "?fieldManager=probe", obj)
    yield Ask(say("create again"), "POST", at, obj)
    yield Ask(say("get"), "GET", at + "/" + name)
    yield Ask(say("table"), "GET", at + "/" + name, accept=TABLE)
    yield Ask(say("metadata"), "GET", at + "/" + name, accept=PARTIAL)
    yield Ask(say("list by name"), "GET", at + "?fieldSelector=metadata.name%3D" + name)
    yield Ask(say("list by label"), "GET", at + "?labelSelector=l%3D1", accept=PARTIAL_LIST)
    yield Ask(say("list by a field that is none"), "GET", at + "?fieldSelector=spec.nothing%3D1")
    stale = copy.deepcopy(obj)
    stale["metadata"]["resourceVersion"] = "1"
    yield Ask(say("put, stale"), "PUT", at + "/" + name, stale)
    yield Ask(say("merge patch"), "PATCH", at + "/" + name + "?fieldManager=probe", {"metadata": {"labels": {"m": "1"}}}, MERGE)
    yield Ask(say("strategic patch"), "PATCH", at + "/" + name + "?fieldManager=probe", {"metadata": {"annotations": {"s": "1"}}}, STRATEGIC)
    yield Ask(say("JSON patch whose test fails"), "PATCH", at + "/" + name, [{"op": "test", "path": "/metadata/name", "value": "x"}], JSON_PATCH)
    yield Ask(say("JSON patch"), "PATCH", at + "/" + name + "?fieldManager=probe", [{"op": "add", "path": "/metadata/labels/j", "value": "1"}], JSON_PATCH)
    yield Ask(say("metadata of a patch"), "PATCH", at + "/" + name + "?fieldManager=probe", {"metadata": {"labels": {"m": "0"}}}, MERGE, PARTIAL)
    yield Ask(say("patch"), "PATCH", at + "/" + name + "?fieldManager=probe", {"metadata": {"labels": {"m": "1"}}}, MERGE)
    yield Ask(say("patch that changes nothing"), "PATCH", at + "/" + name + "?fieldManager=probe", {"metadata": {"labels": {"m": "1"}}}, MERGE)
    yield Ask(say("patch of the name"), "PATCH", at + "/" + name, {"metadata": {"name": "other"}}, MERGE)
    yield Ask(say("patch of the kind"), "PATCH", at + "/" + name, {"kind": "Other"}, MERGE)
    yield Ask(say("patch with a wrong label"), "PATCH", at + "/" + name, {"metadata": {"labels": {"a b": "c d"}}}, MERGE)
    yield Ask(say("patch of a wrong type"), "PATCH", at + "/" + name, {"metadata": {"labels": 3}}, MERGE)
    mine = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": {"m": "2", "applied": "1"}}}
    yield Ask(say("apply, conflict"), "PATCH", at + "/" + name + "?fieldManager=other", mine, APPLY)
    yield Ask(say("apply, forced"), "PATCH", at + "/" + name + "?fieldManager=other&force=true", mine, APPLY)
    yield Ask(say("apply without a manager"), "PATCH", at + "/" + name, mine, APPLY)
    odd = copy.deepcopy(obj)
    odd["nothing"] = 1
    odd["metadata"]["nothing"] = 1
    yield Ask(say("put, unknown fields, strict"), "PUT", at + "/" + name + "?fieldValidation=Strict", odd)
    yield Ask(say("put, unknown fields, warn"), "PUT", at + "/" + name + "?fieldValidation=Warn&dryRun=All", odd)
    yield Ask(say("status"), "GET", at + "/" + name + "/status")
    yield Ask(say("scale"), "GET", at + "/" + name + "/scale")
    yield Ask(say("delete, wrong uid"), "DELETE", at + "/" + name, {"preconditions": {"uid": "x"}})
    yield Ask(say("delete, dry run"), "DELETE", at + "/" + name, {"propagationPolicy": "Background", "dryRun": ["All"]})
    yield Ask(say("delete"), "DELETE", at + "/" + name, {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
    yield Ask(say("get what is gone"), "GET", at + "/" + name)
    yield Ask(say("delete what is gone"), "DELETE", at + "/" + name)
    yield Ask(say("create without a spec"), "POST", at + "?dryRun=All", {"apiVersion": version, "kind": kind, "metadata": {"name": name}})
    empty = {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
    for key, value in rest.items():
        empty[key] = {} if isinstance(value, dict) else [] if isinstance(value, list) else None
    yield Ask(say("create with an empty spec"), "POST", at + "?dryRun=All", empty)
    wrong = a(version, kind, "A_b", rest)
    yield Ask(say("create with a wrong name"), "POST", at + "?dryRun=All", wrong)
    generated = copy.deepcopy(obj)
    generated["metadata"] = {"generateName": "Wrong_"}
    yield Ask(say("create with a wrong generateName"), "POST", at + "?dryRun=All", generated)
    nameless = copy.deepcopy(obj)
    del nameless["metadata"]["name"]
    yield Ask(say("create without a name"), "POST", at + "?dryRun=All", nameless)


def pods():
    """What is wrong with a pod's specification."""
    def pod(words, **changes):
        spec = copy.deepcopy(POD)
        container = changes.pop("container", None)
        if container is not None:
            spec["containers"][0].update(container)
        spec.update(changes)
        return Ask("pod: " + words, "POST", "/api/v1/namespaces/probe/pods?dryRun=All", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    yield pod("no containers", containers=[])
    yield pod("two of one name", containers=[CONTAINER, CONTAINER])
    yield pod("container without a name", container={"name": ""})
    yield pod("container with a wrong name", container={"name": "A_b"})
    yield pod("container without an image", container={"image": ""})
    yield pod("image with blanks", container={"image": " a "})
    yield pod("negative request", container={"resources": {"requests": {"cpu": "-1"}}})
    yield pod("request above its limit", container={"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}})
    yield pod("quantity that is none", container={"resources": {"requests": {"cpu": "lots"}}})
    yield pod("resource that is none", container={"resources": {"requests": {"nothing": "1"}}})
    yield pod("half a GPU", container={"resources": {"limits": {"nvidia.com/gpu": "0.5"}}})
    yield pod("GPU request without a limit", container={"resources": {"requests": {"nvidia.com/gpu": "1"}}})
    yield pod("storage of a fraction", container={"resources": {"limits": {"ephemeral-storage": "500m"}}})
    yield pod("restart policy", restartPolicy="Sometimes")
    yield pod("DNS policy", dnsPolicy="Nobody")
    yield pod("no DNS without a config", dnsPolicy="None")
    yield pod("pull policy", container={"imagePullPolicy": "Maybe"})
    yield pod("port out of range", container={"ports": [{"containerPort": 70000}]})
    yield pod("port without a number", container={"ports": [{"name": "a"}]})
    yield pod("port protocol", container={"ports": [{"containerPort": 1, "protocol": "ICMP"}]})
    yield pod("ports of one name", container={"ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]})
    yield pod("port name", container={"ports": [{"containerPort": 1, "name": "A_b"}]})
    yield pod("host ports twice", container={"ports": [{"containerPort": 1, "hostPort": 5}, {"containerPort": 2, "hostPort": 5}]})
    yield pod("variable without a name", container={"env": [{"value": "a"}]})
    yield pod("variable with a wrong name", container={"env": [{"name": "a=b", "value": "a"}]})
    yield pod("variable from nowhere", container={"env": [{"name": "a", "valueFrom": {}}]})
    yield pod("variable from two", container={"env": [{"name": "a", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]})
    yield pod("variable from a field that is none", container={"env": [{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.nothing"}}}]})
    yield pod("variable from a map without a key", container={"env": [{"name": "a", "valueFrom": {"configMapKeyRef": {"name": "m"}}}]})
    yield pod("mount of no volume", container={"volumeMounts": [{"name": "v", "mountPath": "/a"}]})
    yield pod("mount without a path", volumes=[{"name": "v", "emptyDir": {}}], container={"volumeMounts": [{"name": "v"}]})
    yield pod("mounts at one path", volumes=[{"name": "v", "emptyDir": {}}], container={"volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/a"}]})
    yield pod("mount out of its volume", volumes=[{"name": "v", "emptyDir": {}}], container={"volumeMounts": [{"name": "v", "mountPath": "/a", "subPath": "../b"}]})
    yield pod("volume of nothing", volumes=[{"name": "v"}])
    yield pod("volume of two kinds", volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/a"}}])
    yield pod("volumes of one name", volumes=[{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}])
    yield pod("host path of a wrong type", volumes=[{"name": "v", "hostPath": {"path": "/a", "type": "Thing"}}])
    yield pod("host path with dots", volumes=[{"name": "v", "hostPath": {"path": "/a/../b"}}])
    yield pod("config map without a name", volumes=[{"name": "v", "configMap": {}}])
    yield pod("secret without a name", volumes=[{"name": "v", "secret": {}}])
    yield pod("claim without a name", volumes=[{"name": "v", "persistentVolumeClaim": {}}])
    yield pod("mode out of range", volumes=[{"name": "v", "configMap": {"name": "m", "defaultMode": 9999}}])
    yield pod("size of memory", volumes=[{"name": "v", "emptyDir": {"medium": "Moon"}}])
    yield pod("node selector", nodeSelector={"a b": "c"})
    yield pod("toleration operator", tolerations=[{"key": "a", "operator": "Is"}])
    yield pod("toleration of everything with a value", tolerations=[{"operator": "Exists", "value": "a"}])
    yield pod("toleration without a key", tolerations=[{"operator": "Equal", "value": "a"}])
    yield pod("toleration seconds", tolerations=[{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}])
    yield pod("node affinity without terms", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}})
    yield pod("node affinity operator", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Like"}]}]}}})
    yield pod("node affinity Gt", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}]}}})
    yield pod("node affinity weight", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 200, "preference": {}}]}})
    yield pod("pod affinity without a topology", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {}}]}})
    yield pod("spread", topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Maybe"}])
    yield pod("grace", terminationGracePeriodSeconds=-1)
    yield pod("deadline", activeDeadlineSeconds=0)
    yield pod("host name", hostname="A_b")
    yield pod("subdomain", subdomain="A_b")
    yield pod("account", serviceAccountName="A_b")
    yield pod("an account that is not there", serviceAccountName="nobody")
    yield pod("priority class that is not there", priorityClassName="nothing")
    yield pod("priority", priority=5)
    yield pod("node name", nodeName="A_b")
    yield pod("gates", schedulingGates=[{"name": "A b"}])
    yield pod("gates and a node", nodeName="n", schedulingGates=[{"name": "a"}])
    yield pod("user", securityContext={"runAsUser": -1})
    yield pod("sysctl", securityContext={"sysctls": [{"name": "a b", "value": "1"}]})
    of_host = [{"name": name, "value": "1"} for name in ("net.core.somaxconn", "net/ipv4/ip_forward", "kernel.shm_rmid_forced", "kernel.sem", "fs.mqueue.msg_max", "a.b", "kernel.msgmax", "kernel/shmall",
                                                         "kernel.shm_next_id", "kernel.msg_next_id", "fs/mqueue.queues_max", "fs/mqueue/msg_max")]
    yield pod("sysctls of the host's network", hostNetwork=True, securityContext={"sysctls": of_host})
    yield pod("sysctls of the host's memory", hostIPC=True, securityContext={"sysctls": of_host})
    yield pod("group policy", securityContext={"fsGroupChangePolicy": "Maybe"})
    yield pod("profile", securityContext={"seccompProfile": {"type": "Mine"}})
    yield pod("local profile without a file", securityContext={"seccompProfile": {"type": "Localhost"}})
    yield pod("privileged without escalation", container={"securityContext": {"privileged": True, "allowPrivilegeEscalation": False}})
    yield pod("host users with host network", hostUsers=False, hostNetwork=True)
    yield pod("shared processes and the host's", shareProcessNamespace=True, hostPID=True)
    yield pod("host network with another port", hostNetwork=True, container={"ports": [{"containerPort": 1, "hostPort": 2}]})
    yield pod("probe of nothing", container={"livenessProbe": {}})
    yield pod("probe of two", container={"livenessProbe": {"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}})
    yield pod("probe period", container={"livenessProbe": {"tcpSocket": {"port": 1}, "periodSeconds": -1}})
    yield pod("probe success", container={"livenessProbe": {"tcpSocket": {"port": 1}, "successThreshold": 2}})
    yield pod("probe scheme", container={"livenessProbe": {"httpGet": {"port": 1, "scheme": "FTP"}}})
    yield pod("probe port", container={"livenessProbe": {"httpGet": {"port": "A_B"}}})
    yield pod("probe with headers", container={"readinessProbe": {"httpGet": {"port": 1, "httpHeaders": [{"name": "a b", "value": "x"}]}}})
    yield pod("hook of nothing", container={"lifecycle": {"preStop": {}}})
    yield pod("hook that sleeps", container={"lifecycle": {"preStop": {"sleep": {"seconds": 100}}}})
    yield pod("command of an exec", container={"livenessProbe": {"exec": {}}})
    yield pod("termination policy", container={"terminationMessagePolicy": "Ask"})
    yield pod("init container that restarts", initContainers=[dict(CONTAINER, name="i", restartPolicy="Sometimes")])
    yield pod("init container of one name", initContainers=[CONTAINER])
    yield pod("init container with a probe", initContainers=[dict(CONTAINER, name="i", livenessProbe={"tcpSocket": {"port": 1}})])
    yield pod("ephemeral containers", ephemeralContainers=[dict(CONTAINER, name="e")])
    yield pod("a claim of nothing", resourceClaims=[{"name": "c"}])
    yield pod("a claim that nobody has", container={"resources": {"claims": [{"name": "c"}]}})
    yield pod("overhead", overhead={"cpu": "1"})
    yield pod("operating system", os={"name": "plan9"})
    yield pod("readiness gates", readinessGates=[{"conditionType": "a b"}])
    yield pod("host aliases", hostAliases=[{"ip": "x"}])
    yield pod("preemption", preemptionPolicy="Maybe")
    yield pod("resize policy", container={"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "Maybe"}]})
    yield pod("resize policy of what is never restarted", container={"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}, restartPolicy="Never")
    yield pod("resize policy of an init container", initContainers=[{"name": "i", "image": "x", "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}])
    yield pod("pod resources", resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})
    yield pod("many at once", restartPolicy="Sometimes", dnsPolicy="Nobody", container={"name": "A_b", "image": ""})


def fields():
    """Objects of other kinds with something wrong."""
    def make(words, version, kind, plural, rest, namespaced=True, name="x", **metadata):
        obj = dict(rest, apiVersion=version, kind=kind, metadata=dict({"name": name}, **metadata))
        return Ask(f"{kind}: {words}", "POST", folder(version, plural, namespaced) + "?dryRun=All", obj)
    yield make("a key", "v1", "ConfigMap", "configmaps", {"data": {"a b": "c"}})
    yield make("keys in both", "v1", "ConfigMap", "configmaps", {"data": {"a": "c"}, "binaryData": {"a": "Yg=="}})
    yield make("data that is not base64", "v1", "ConfigMap", "configmaps", {"binaryData": {"a": "%"}})
    yield make("a number as text", "v1", "ConfigMap", "configmaps", {"data": {"a": 1}})
    yield make("label", "v1", "ConfigMap", "configmaps", {}, labels={"a": "b c"})
    yield make("annotation", "v1", "ConfigMap", "configmaps", {}, annotations={"a b": "c"})
    yield make("finalizer", "v1", "ConfigMap", "configmaps", {}, finalizers=["a b"])
    yield make("finalizer without a domain", "v1", "ConfigMap", "configmaps", {}, finalizers=["abc"])
    yield make("owner without a uid", "v1", "ConfigMap", "configmaps", {}, ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "p"}])
    yield make("two controllers", "v1", "ConfigMap", "configmaps", {}, ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": n, "uid": n, "controller": True} for n in "pq"])
    yield make("owner that is an event", "v1", "ConfigMap", "configmaps", {}, ownerReferences=[{"apiVersion": "v1", "kind": "Event", "name": "p", "uid": "u"}])
    yield make("another namespace", "v1", "ConfigMap", "configmaps", {}, namespace="elsewhere")
    yield make("resourceVersion at a creation", "v1", "ConfigMap", "configmaps", {}, resourceVersion="5")
    yield make("type of secret", "v1", "Secret", "secrets", {"type": "kubernetes.io/tls"})
    yield make("docker configuration", "v1", "Secret", "secrets", {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "eA=="}})
    yield make("basic auth", "v1", "Secret", "secrets", {"type": "kubernetes.io/basic-auth"})
    yield make("token of nobody", "v1", "Secret", "secrets", {"type": "kubernetes.io/service-account-token"})
    yield make("immutable", "v1", "Secret", "secrets", {"immutable": "yes"})
    for words, spec in {
        "no ports": {"selector": {"a": "b"}}, "headless without ports": {"clusterIP": "None"}, "type": {"type": "Moon", "ports": [{"port": 1}]}, "port": {"ports": [{"port": 0}]},
        "two ports without names": {"ports": [{"port": 1}, {"port": 2}]}, "ports twice": {"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]}, "protocol": {"ports": [{"port": 1, "protocol": "X"}]},
        "target": {"ports": [{"port": 1, "targetPort": "A_B"}]}, "affinity": {"ports": [{"port": 1}], "sessionAffinity": "Me"}, "external name": {"type": "ExternalName"},
        "external name of rubbish": {"type": "ExternalName", "externalName": "A b"}, "address": {"clusterIP": "10.1", "ports": [{"port": 1}]}, "address elsewhere": {"clusterIP": "192.168.1.1", "ports": [{"port": 1}]},
        "node port of ClusterIP": {"ports": [{"port": 1, "nodePort": 30001}]}, "node port out of range": {"type": "NodePort", "ports": [{"port": 1, "nodePort": 80}]}, "external address": {"externalIPs": ["x"], "ports": [{"port": 1}]},
        "traffic policy": {"ports": [{"port": 1}], "internalTrafficPolicy": "X"}, "selector": {"selector": {"a b": "c"}, "ports": [{"port": 1}]}, "families": {"ipFamilies": ["IPv5"], "ports": [{"port": 1}]},
        "timeout": {"ports": [{"port": 1}], "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}},
        "two families of a cluster with one": {"ipFamilyPolicy": "RequireDualStack", "ports": [{"port": 1}]}, "two families at best": {"ipFamilyPolicy": "PreferDualStack", "ports": [{"port": 1}]},
        "the other family": {"ipFamilies": ["IPv6"], "ports": [{"port": 1}]}, "both families": {"ipFamilies": ["IPv4", "IPv6"], "ports": [{"port": 1}]},
        "both families at best": {"ipFamilyPolicy": "PreferDualStack", "ipFamilies": ["IPv4", "IPv6"], "ports": [{"port": 1}]}, "address of the other family": {"clusterIP": "fd00::1", "ports": [{"port": 1}]},
        "headless of the other family": {"clusterIP": "None", "selector": {"a": "b"}, "ipFamilies": ["IPv6"]}, "headless of any family": {"clusterIP": "None", "ipFamilies": ["IPv6"]},
    }.items():
        yield make(words, "v1", "Service", "services", {"spec": spec})
    yield make("name beginning with a digit", "v1", "Service", "services", {"spec": {"ports": [{"port": 1}]}}, name="1a")
    for words, spec in {
        "selector that is not the template's": {"selector": {"matchLabels": {"x": "y"}}, "template": TEMPLATE}, "empty selector": {"selector": {}, "template": TEMPLATE}, "negative replicas": {"replicas": -1, "selector": SELECTOR, "template": TEMPLATE},
        "strategy": {"strategy": {"type": "X"}, "selector": SELECTOR, "template": TEMPLATE}, "unavailable and surge 0": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}, "selector": SELECTOR, "template": TEMPLATE},
        "percentages": {"strategy": {"rollingUpdate": {"maxSurge": "x"}}, "selector": SELECTOR, "template": TEMPLATE}, "recreate with rolling": {"strategy": {"type": "Recreate", "rollingUpdate": {}}, "selector": SELECTOR, "template": TEMPLATE},
        "restart policy": {"selector": SELECTOR, "template": dict(TEMPLATE, spec=dict(POD, restartPolicy="Never"))}, "deadline": {"progressDeadlineSeconds": 0, "selector": SELECTOR, "template": TEMPLATE},
        "template without containers": {"selector": SELECTOR, "template": {"metadata": {"labels": {"app": "a"}}, "spec": {}}}, "operator": {"selector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}, "template": TEMPLATE},
    }.items():
        yield make(words, "apps/v1", "Deployment", "deployments", {"spec": spec})
    for words, spec in {
        "restart policy": {"template": {"spec": POD}}, "negative": {"parallelism": -1, "completions": -1, "backoffLimit": -1, "template": {"spec": JOB_POD}}, "mode": {"completionMode": "X", "template": {"spec": JOB_POD}},
        "indexed without completions": {"completionMode": "Indexed", "template": {"spec": JOB_POD}}, "selector": {"selector": SELECTOR, "template": {"spec": JOB_POD}}, "ttl": {"ttlSecondsAfterFinished": -1, "template": {"spec": JOB_POD}},
        "deadline": {"activeDeadlineSeconds": -1, "template": {"spec": JOB_POD}}, "back-off per index": {"backoffLimitPerIndex": 1, "template": {"spec": JOB_POD}}, "policy": {"podFailurePolicy": {"rules": [{"action": "X"}]}, "template": {"spec": JOB_POD}},
        "success policy": {"successPolicy": {"rules": []}, "template": {"spec": JOB_POD}}, "replacement": {"podReplacementPolicy": "X", "template": {"spec": JOB_POD}}, "managed by": {"managedBy": "x", "template": {"spec": JOB_POD}},
    }.items():
        yield make(words, "batch/v1", "Job", "jobs", {"spec": spec})
    job = {"spec": {"template": {"spec": JOB_POD}}}
    for words, spec in {
        "schedule": {"schedule": "often", "jobTemplate": job}, "no schedule": {"jobTemplate": job}, "zone": {"schedule": "@daily", "timeZone": "Moon/Sea", "jobTemplate": job}, "zone in the schedule": {"schedule": "TZ=UTC @daily", "jobTemplate": job},
        "policy": {"schedule": "@daily", "concurrencyPolicy": "X", "jobTemplate": job}, "limits": {"schedule": "@daily", "successfulJobsHistoryLimit": -1, "startingDeadlineSeconds": -1, "jobTemplate": job},
    }.items():
        yield make(words, "batch/v1", "CronJob", "cronjobs", {"spec": spec})
    yield make("name of 53 characters", "batch/v1", "CronJob", "cronjobs", {"spec": {"schedule": "@daily", "jobTemplate": job}}, name="a" * 53)
    for words, spec in {"both": {"minAvailable": 1, "maxUnavailable": 1, "selector": SELECTOR}, "negative": {"minAvailable": -1, "selector": SELECTOR}, "percentage": {"minAvailable": "200%", "selector": SELECTOR}, "policy": {"unhealthyPodEvictionPolicy": "X"}}.items():
        yield make(words, "policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", {"spec": spec})
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    for words, spec in {"minimum above maximum": {"scaleTargetRef": target, "minReplicas": 5, "maxReplicas": 3}, "no maximum": {"scaleTargetRef": target}, "target": {"scaleTargetRef": {"kind": "", "name": ""}, "maxReplicas": 1},
                        "metric": {"scaleTargetRef": target, "maxReplicas": 1, "metrics": [{"type": "Resource"}]}, "utilization": {"scaleTargetRef": target, "maxReplicas": 1, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}]}}.items():
        yield make(words, "autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", {"spec": spec})
    for words, spec in {"modes": {"accessModes": [], "resources": {"requests": {"storage": "1Gi"}}}, "mode": {"accessModes": ["X"], "resources": {"requests": {"storage": "1Gi"}}}, "no storage": {"accessModes": ["ReadWriteOnce"]},
                        "negative": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "-1"}}}, "class": {"accessModes": ["ReadWriteOnce"], "storageClassName": "A b", "resources": {"requests": {"storage": "1"}}}}.items():
        yield make(words, "v1", "PersistentVolumeClaim", "persistentvolumeclaims", {"spec": spec})
    for words, rest in {"no verbs": {"rules": [{"apiGroups": [""], "resources": ["pods"]}]}, "no resources": {"rules": [{"apiGroups": [""], "verbs": ["get"]}]}, "paths": {"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]}}.items():
        yield make(words, "rbac.authorization.k8s.io/v1", "Role", "roles", rest)
    for words, rest in {"no role": {}, "role of nothing": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "X", "name": "r"}}, "subject": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [{"kind": "X", "name": "u"}]},
                        "account without a namespace": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [{"kind": "ServiceAccount", "name": "u"}]}}.items():
        yield make(words, "rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", rest)
    yield make("value of the system", "scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", {"value": 2000000000}, False)
    yield make("policy", "scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", {"value": 1, "preemptionPolicy": "X"}, False)
    yield make("reserved name", "scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", {"value": 1}, False, "system-x")
    yield make("binding mode", "storage.k8s.io/v1", "StorageClass", "storageclasses", {"provisioner": "p", "volumeBindingMode": "X"}, False)
    yield make("no provisioner", "storage.k8s.io/v1", "StorageClass", "storageclasses", {}, False)
    yield make("hard", "v1", "ResourceQuota", "resourcequotas", {"spec": {"hard": {"cpu": "-1", "nothing": "1"}}})
    yield make("scope", "v1", "ResourceQuota", "resourcequotas", {"spec": {"scopes": ["X"]}})
    yield make("type", "v1", "LimitRange", "limitranges", {"spec": {"limits": [{"type": "X y"}]}})
    yield make("minimum above maximum", "v1", "LimitRange", "limitranges", {"spec": {"limits": [{"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]}})
    yield make("duration", "coordination.k8s.io/v1", "Lease", "leases", {"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}})
    yield make("taint", "v1", "Node", "nodes", {"spec": {"taints": [{"key": "a", "effect": "X"}]}}, False)
    yield make("CIDR", "v1", "Node", "nodes", {"spec": {"podCIDRs": ["x"]}}, False)
    yield make("address type", "discovery.k8s.io/v1", "EndpointSlice", "endpointslices", {"addressType": "X", "endpoints": []})
    yield make("address", "discovery.k8s.io/v1", "EndpointSlice", "endpointslices", {"addressType": "IPv4", "endpoints": [{"addresses": ["x"]}]})
    yield make("types", "networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", {"spec": {"podSelector": {}, "policyTypes": ["X"]}})
    yield make("path type", "networking.k8s.io/v1", "Ingress", "ingresses", {"spec": {"rules": [{"http": {"paths": [{"path": "/", "backend": {"service": {"name": "s", "port": {"number": 1}}}}]}}]}})
    yield make("nothing", "networking.k8s.io/v1", "Ingress", "ingresses", {"spec": {}})
    for words, spec in {"wrong enum": {"size": "medium"}, "required": {}, "type": {"size": 3}, "range": {"size": "small", "replicas": 99}, "duplicates": {"size": "small", "names": ["a", "a"]}, "length": {"size": "small", "names": ["abcdefg"]},
                        "rule": {"size": "large"}, "unknown": {"size": "small", "nothing": 1, "free": {"a": 1}}}.items():
        yield make(words, "example.com/v1", "Widget", "widgets", {"spec": spec})


def ruled(rule, **schema):
    return {**schema, "x-kubernetes-validations": [{"rule": rule}]}


NUMBERS, TEXTS = {"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "string"}}
# What may cost too much: the factor in the message says what each server counted.
DEAR_RULES = [
    ("dear numbers", ruled("self.all(x, x > 0 && x < 9)", **NUMBERS)),
    ("dear texts", ruled("self.all(x, x.contains('a'))", **TEXTS)),
    ("dear three loops", ruled("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))", **NUMBERS, maxItems=110)),
    ("cheap three loops", ruled("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))", **NUMBERS, maxItems=90)),
    ("dear pattern", {"type": "array", "maxItems": 20, "items": ruled("self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')", type="string")}),
    ("cheap pattern", ruled("self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')", type="string", maxLength=63)),
    ("dear exists", ruled("self.all(x, self.exists(y, y == x))", **NUMBERS, maxItems=1500)),
    ("dear one", ruled("self.all(x, self.exists_one(y, y == x))", **NUMBERS, maxItems=1800)),
    ("dear keys", ruled("self.all(k, self[k].contains('a'))", type="object", additionalProperties={"type": "string", "maxLength": 500})),
    ("dear items", {"type": "array", "items": ruled("self.startsWith('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')", type="string", maxLength=100)}),
    ("cheap membership", ruled("self.all(x, x in self)", **NUMBERS, maxItems=3000)),
    ("dear sums", ruled("self.all(x, x + x + x + x + x > 9)", **NUMBERS)),
    ("dear choice", ruled("self.all(x, x > 0 ? x in [1, 2, 3] : x < 9)", **NUMBERS)),
    ("dear filter", ruled("self.filter(x, x > 0).size() < 3", **NUMBERS)),
    ("dear map", ruled("self.map(x, x + 1).size() < 3", **NUMBERS)),
]


def definitions():
    """CustomResourceDefinitions that contradict themselves."""
    def define(words, change):
        obj = copy.deepcopy(WIDGETS)
        obj["metadata"]["name"] = "gadgets.example.com"
        obj["spec"]["names"] = {"plural": "gadgets", "kind": "Gadget"}
        change(obj)
        return Ask("CRD: " + words, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All", obj)
    version = lambda o: o["spec"]["versions"][0]
    schema = lambda o: version(o)["schema"]["openAPIV3Schema"]
    yield define("name", lambda o: o["metadata"].update(name="x.example.com"))
    yield define("no versions", lambda o: o["spec"].update(versions=[]))
    yield define("no storage version", lambda o: version(o).update(storage=False))
    yield define("scope", lambda o: o["spec"].update(scope="X"))
    yield define("no schema", lambda o: version(o).pop("schema"))
    yield define("no type", lambda o: schema(o).pop("type"))
    yield define("version name", lambda o: version(o).update(name="V_1"))
    yield define("kind", lambda o: o["spec"]["names"].update(kind="gad get"))
    yield define("group", lambda o: o["spec"].update(group="nodots"))
    yield define("protected group", lambda o: (o["spec"].update(group="x.k8s.io"), o["metadata"].update(name="gadgets.x.k8s.io")))
    yield define("not structural", lambda o: schema(o)["properties"]["spec"]["properties"].update(a={}))
    yield define("default of a wrong type", lambda o: schema(o)["properties"]["spec"]["properties"]["replicas"].update(default="x"))
    yield define("pattern", lambda o: schema(o)["properties"]["spec"]["properties"]["size"].update(pattern="("))
    yield define("rule that cannot be read", lambda o: schema(o)["properties"]["spec"].update({"x-kubernetes-validations": [{"rule": "self."}]}))
    yield define("rule of a wrong type", lambda o: schema(o)["properties"]["spec"].update({"x-kubernetes-validations": [{"rule": "1 + 1"}]}))
    yield define("rule about a missing field", lambda o: schema(o)["properties"]["spec"].update({"x-kubernetes-validations": [{"rule": "self.nothing == 1"}]}))
    yield define("dear rule", lambda o: schema(o)["properties"]["spec"]["properties"].update(many={"type": "array", "items": {"type": "array", "items": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "self.all(a, a.all(b, self.all(c, c.all(d, d != b))))"}]}))
    for name, rule in DEAR_RULES:
        yield define(f"{name} rule", lambda o, rule=rule: schema(o)["properties"]["spec"]["properties"].update(many=rule))
    yield define("column", lambda o: version(o).update(additionalPrinterColumns=[{"name": "a", "type": "x", "jsonPath": "b"}]))
    yield define("scale", lambda o: version(o)["subresources"]["scale"].update(specReplicasPath="x"))
    yield define("list type", lambda o: schema(o)["properties"]["spec"]["properties"]["names"].update({"x-kubernetes-list-type": "map"}))
    yield define("additional and properties", lambda o: schema(o)["properties"]["spec"].update(additionalProperties={"type": "string"}))
    yield define("preserveUnknownFields", lambda o: o["spec"].update(preserveUnknownFields=True))
    yield define("conversion", lambda o: o["spec"].update(conversion={"strategy": "X"}))
    yield define("conversion by webhook of nothing", lambda o: o["spec"].update(conversion={"strategy": "Webhook"}))
    yield define("good", lambda o: None)


def resizes(pods_at):
    """A pod that is resized, and what may not be."""
    amounts = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}}
    spec = dict(POD, containers=[dict(CONTAINER, resources=amounts), {"name": "d", "image": "busybox"}],
                initContainers=[{"name": "s", "image": "busybox", "restartPolicy": "Always", "resources": {"requests": {"cpu": "10m"}}},
                                {"name": "i", "image": "busybox"}])
    at = pods_at + "/r/resize"
    yield Ask("resize: make r", "POST", pods_at, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "r"}, "spec": spec})
    yield Ask("resize: get", "GET", at)
    c = lambda **more: {"spec": {"containers": [dict({"name": "c"}, **more)]}}
    for words, patch in {"more cpu": c(resources={"limits": {"cpu": "300m"}}), "less memory": c(resources={"limits": {"memory": "64Mi"}}), "another image": c(image="other"),
                         "labels": {"metadata": {"labels": {"a": "b"}}}, "a request beyond the limit": c(resources={"requests": {"cpu": "3"}}), "a negative request": c(resources={"requests": {"cpu": "-1"}}),
                         "a request taken away": {"spec": {"initContainers": [{"name": "s", "resources": {"requests": {"cpu": None}}}]}}, "a limit taken away": c(resources={"limits": {"memory": None}}),
                         "no resources": c(resources=None), "storage": c(resources={"requests": {"ephemeral-storage": "1Gi"}}), "a policy": c(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
                         "one container more": {"spec": {"containers": [{"name": "e", "image": "x"}]}}, "one container less": {"spec": {"containers": [{"name": "d", "$patch": "delete"}]}},
                         "another order": {"spec": {"$setElementOrder/containers": [{"name": "d"}, {"name": "c"}]}}, "one init container more": {"spec": {"initContainers": [{"name": "e", "image": "x"}]}},
                         "a sidecar": {"spec": {"initContainers": [{"name": "s", "resources": {"requests": {"cpu": "20m"}}}]}}, "an init container": {"spec": {"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "20m"}}}]}},
                         "all of it guaranteed": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "200m", "memory": "128Mi"}}}]}}, "nothing": {}}.items():
        yield Ask("resize: " + words, "PATCH", at + "?dryRun=All", patch, STRATEGIC)
    yield Ask("resize: JSON patch", "PATCH", at + "?dryRun=All", [{"op": "replace", "path": "/spec/containers/0/resources/limits/cpu", "value": "1"}], JSON_PATCH)
    yield Ask("resize: apply, conflict", "PATCH", at + "?dryRun=All&fieldManager=me", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "r"}, "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]}}, APPLY)
    yield Ask("resize: apply", "PATCH", at + "?dryRun=All&fieldManager=me&force=true", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "r"}, "spec": {"containers": [{"name": "c", "image": "other", "resources": {"limits": {"cpu": "1"}}}]}}, APPLY)
    yield Ask("resize: of the pod's spec", "PATCH", pods_at + "/r?dryRun=All", c(resources={"limits": {"cpu": "300m"}}), STRATEGIC)
    yield Ask("resize: it runs", "PATCH", pods_at + "/r/status", {"status": {"containerStatuses": [{"name": "c", "image": "busybox", "imageID": "x", "ready": True, "restartCount": 0, "state": {"running": {}}}]}}, STRATEGIC)
    yield Ask("resize: what runs on an old node", "PATCH", at + "?dryRun=All", c(resources={"limits": {"cpu": "300m"}}), STRATEGIC)
    yield Ask("resize: delete r", "DELETE", pods_at + "/r?gracePeriodSeconds=0")


def requests():
    """What is wrong with the request itself, reads that are special, and reviews."""
    maps = "/api/v1/namespaces/probe/configmaps"
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    yield Ask("body that is not JSON", "POST", maps, raw=b"{")
    yield Ask("body that is empty", "POST", maps, raw=b"")
    yield Ask("body that is a list", "POST", maps, raw=b"[]")
    yield Ask("body without a kind", "POST", maps, {"metadata": {"name": "c"}})
    yield Ask("body of another kind", "POST", maps, dict(one, kind="Secret"))
    yield Ask("body of another version", "POST", maps, dict(one, apiVersion="v2"))
    yield Ask("body of no kind at all", "POST", maps, dict(one, kind="Nothing"))
    yield Ask("duplicate fields, strict", "POST", maps + "?fieldValidation=Strict&dryRun=All", raw=b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","a":"2"}}')
    yield Ask("duplicate fields, warn", "POST", maps + "?fieldValidation=Warn&dryRun=All", raw=b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"},"data":{"a":"2"}}')
    yield Ask("YAML body", "POST", maps + "?dryRun=All", raw=b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1'}\n", content="application/yaml")
    yield Ask("YAML answer", "GET", maps + "?fieldSelector=metadata.name%3Dnothing", accept="application/yaml")
    yield Ask("content type that is none", "POST", maps, raw=b"x", content="text/plain")
    yield Ask("answer type that is none", "GET", maps, accept="text/html")
    yield Ask("metadata of what is created", "POST", maps + "?dryRun=All", one, accept=PARTIAL)
    yield Ask("table of what is created", "POST", maps + "?dryRun=All", one, accept=TABLE)
    yield Ask("patch type that is none", "PATCH", maps + "/c", {}, "application/json")
    yield Ask("wrong parameter dryRun", "POST", maps + "?dryRun=Some", one)
    yield Ask("wrong parameter fieldValidation", "POST", maps + "?fieldValidation=Loud", one)
    yield Ask("long field manager", "POST", maps + "?dryRun=All&fieldManager=" + "a" * 200, one)
    yield Ask("wrong label selector", "GET", maps + "?labelSelector=a%3D%3D%3Db")
    yield Ask("wrong field selector", "GET", maps + "?fieldSelector=a")
    yield Ask("wrong limit", "GET", maps + "?limit=x")
    yield Ask("negative limit", "GET", maps + "?limit=-1")
    yield Ask("wrong continue", "GET", maps + "?limit=1&continue=x")
    yield Ask("wrong resourceVersion", "GET", maps + "?resourceVersion=x")
    yield Ask("resourceVersion of tomorrow", "GET", maps + "?resourceVersion=999999999&timeoutSeconds=1")
    yield Ask("match without a version", "GET", maps + "?resourceVersionMatch=Exact")
    yield Ask("match that is none", "GET", maps + "?resourceVersion=1&resourceVersionMatch=Almost")
    yield Ask("exact of nothing", "GET", maps + "?resourceVersion=0&resourceVersionMatch=Exact")
    yield Ask("watch of a wrong version", "GET", maps + "?watch=true&resourceVersion=x&timeoutSeconds=1")
    yield Ask("sendInitialEvents without a match", "GET", maps + "?watch=true&sendInitialEvents=true&timeoutSeconds=1")
    yield Ask("sendInitialEvents without a watch", "GET", maps + "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
    yield Ask("delete with a wrong policy", "DELETE", maps + "/c", {"propagationPolicy": "X"})
    yield Ask("delete with both policies", "DELETE", maps + "/c", {"propagationPolicy": "Orphan", "orphanDependents": True})
    yield Ask("delete with a wrong grace", "DELETE", maps + "/c", {"gracePeriodSeconds": "x"})
    yield Ask("a kind that is none", "GET", "/api/v1/namespaces/probe/nothings")
    yield Ask("a group that is none", "GET", "/apis/nothing.example.com/v1/things")
    yield Ask("a version that is none", "GET", "/apis/apps/v9/deployments")
    yield Ask("a path that is none", "GET", "/nothing")
    yield Ask("a subresource that is none", "GET", maps + "/c/nothing")
    yield Ask("a namespaced kind without a namespace", "POST", "/api/v1/configmaps", one)
    yield Ask("a namespace that is none", "POST", "/api/v1/namespaces/nowhere/configmaps", one)
    yield Ask("a method that is none", "PUT", maps, one)
    yield Ask("POST to an object", "POST", maps + "/c", one)
    yield Ask("PUT with another name", "PUT", maps + "/d", one)
    yield Ask("PUT that makes", "PUT", "/apis/coordination.k8s.io/v1/namespaces/probe/leases/made", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "made"}, "spec": {"holderIdentity": "me"}})
    yield Ask("PUT of a pod that is not there", "PUT", "/api/v1/namespaces/probe/pods/none", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "none"}, "spec": POD})
    yield Ask("make c", "POST", maps + "?fieldManager=probe", one)
    for words, patch in {"JSON patch of a missing path": [{"op": "replace", "path": "/data/x", "value": "1"}], "JSON patch with a wrong operation": [{"op": "swap", "path": "/data/x"}], "JSON patch without a path": [{"op": "add", "value": 1}],
                         "JSON patch that moves": [{"op": "move", "from": "/data/a", "path": "/data/b"}], "JSON patch that is an object": {"op": "add"}}.items():
        yield Ask(words, "PATCH", maps + "/c?dryRun=All", patch, JSON_PATCH)
    yield Ask("strategic patch that deletes", "PATCH", maps + "/c?dryRun=All", {"data": {"$patch": "delete"}}, STRATEGIC)
    yield Ask("strategic patch with a wrong directive", "PATCH", maps + "/c?dryRun=All", {"data": {"$patch": "bend"}}, STRATEGIC)
    yield Ask("merge patch that is a list", "PATCH", maps + "/c?dryRun=All", [1], MERGE)
    yield Ask("merge patch that erases", "PATCH", maps + "/c?dryRun=All", {"data": None}, MERGE)
    yield Ask("patch of a stale version", "PATCH", maps + "/c", {"metadata": {"resourceVersion": "1"}}, MERGE)
    yield Ask("patch of the uid", "PATCH", maps + "/c", {"metadata": {"uid": "x"}}, MERGE)
    yield Ask("patch of what is not there", "PATCH", maps + "/none", {"data": {"a": "b"}}, MERGE)
    yield Ask("apply that makes", "PATCH", maps + "/made?fieldManager=me", dict(one, metadata={"name": "made"}), APPLY)
    yield Ask("apply with managedFields", "PATCH", maps + "/made?fieldManager=me", dict(one, metadata={"name": "made", "managedFields": [{"manager": "x"}]}), APPLY)
    yield Ask("apply without a kind", "PATCH", maps + "/made?fieldManager=me", {"metadata": {"name": "made"}}, APPLY)
    yield Ask("apply of another name", "PATCH", maps + "/made?fieldManager=me", dict(one, metadata={"name": "x"}), APPLY)
    yield Ask("apply of less", "PATCH", maps + "/made?fieldManager=me", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}}, APPLY)
    yield Ask("immutable map", "PATCH", maps + "/c", {"immutable": True}, MERGE)
    yield Ask("change of an immutable map", "PATCH", maps + "/c", {"data": {"a": "2"}}, MERGE)
    yield Ask("immutable no more", "PATCH", maps + "/c", {"immutable": False}, MERGE)
    yield Ask("delete a collection", "DELETE", maps + "?fieldSelector=metadata.name%3Dc")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": POD}
    pods_at = "/api/v1/namespaces/probe/pods"
    yield Ask("make p", "POST", pods_at, pod)
    for words, patch in {"image": {"spec": {"containers": [{"name": "c", "image": "other"}]}}, "command": {"spec": {"containers": [{"name": "c", "command": ["x"]}]}}, "node": {"spec": {"nodeName": "n"}}, "restart policy": {"spec": {"restartPolicy": "Never"}},
                         "another toleration": {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}, "deadline": {"spec": {"activeDeadlineSeconds": 5}}, "a second container": {"spec": {"containers": [{"name": "d", "image": "x"}]}}, "status": {"status": {"phase": "Running"}}}.items():
        yield Ask("pod update: " + words, "PATCH", pods_at + "/p?dryRun=All", patch, STRATEGIC)
    yield Ask("pod status: phase", "PATCH", pods_at + "/p/status?dryRun=All", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}, STRATEGIC)
    yield Ask("pod status: spec", "PATCH", pods_at + "/p/status?dryRun=All", {"spec": {"nodeName": "n"}}, STRATEGIC)
    yield Ask("pod status: wrong phase", "PATCH", pods_at + "/p/status?dryRun=All", {"status": {"phase": "Dreaming"}}, STRATEGIC)
    yield Ask("binding", "POST", pods_at + "/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}})
    yield Ask("binding again", "POST", pods_at + "/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}})
    yield Ask("binding to nothing", "POST", pods_at + "/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Moon", "name": ""}})
    yield Ask("binding of nobody", "POST", pods_at + "/nobody/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "nobody"}, "target": {"kind": "Node", "name": "n"}})
    yield Ask("eviction, dry run", "POST", pods_at + "/p/eviction?dryRun=All", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}})
    yield Ask("eviction of nobody", "POST", pods_at + "/nobody/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "nobody"}})
    yield Ask("ephemeral containers of p", "GET", pods_at + "/p/ephemeralcontainers")
    yield from resizes(pods_at)
    yield Ask("delete p", "DELETE", pods_at + "/p")
    yield Ask("p, deleting", "GET", pods_at + "/p")
    yield Ask("delete p now", "DELETE", pods_at + "/p?gracePeriodSeconds=0")
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"selector": SELECTOR, "template": TEMPLATE}}
    at = "/apis/apps/v1/namespaces/probe/deployments"
    yield Ask("make d", "POST", at, deployment)
    yield Ask("scale of d", "GET", at + "/d/scale")
    yield Ask("scale d", "PATCH", at + "/d/scale", {"spec": {"replicas": 3}}, MERGE)
    yield Ask("scale d to a negative", "PATCH", at + "/d/scale", {"spec": {"replicas": -3}}, MERGE)
    yield Ask("put the scale", "PUT", at + "/d/scale", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d", "namespace": "probe"}, "spec": {"replicas": 2}})
    yield Ask("another selector", "PATCH", at + "/d", {"spec": {"selector": {"matchLabels": {"app": "b"}}}}, MERGE)
    yield Ask("a generation", "PATCH", at + "/d?dryRun=All", {"spec": {"paused": True}}, MERGE)
    yield Ask("no generation", "PATCH", at + "/d?dryRun=All", {"metadata": {"annotations": {"x": "y"}}}, MERGE)
    yield Ask("status of d", "PATCH", at + "/d/status?dryRun=All", {"status": {"replicas": 1, "readyReplicas": 2}}, MERGE)
    yield Ask("orphaning d", "DELETE", at + "/d?propagationPolicy=Orphan")
    yield Ask("d, being orphaned", "GET", at + "/d")
    yield Ask("foreground", "DELETE", at + "/d?propagationPolicy=Foreground")
    user = {"user": "u", "groups": ["g"]}
    auth = "/apis/authorization.k8s.io/v1/"
    can = {"resourceAttributes": {"namespace": "probe", "verb": "get", "resource": "pods"}}
    yield Ask("may u", "POST", auth + "subjectaccessreviews", {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": dict(user, **can)})
    yield Ask("may nobody", "POST", auth + "subjectaccessreviews", {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": can})
    yield Ask("may u nothing", "POST", auth + "subjectaccessreviews", {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": user})
    yield Ask("may I", "POST", auth + "selfsubjectaccessreviews", {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": can})
    yield Ask("may I a path", "POST", auth + "selfsubjectaccessreviews", {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"nonResourceAttributes": {"path": "/x", "verb": "get"}}})
    yield Ask("what may I", "POST", auth + "selfsubjectrulesreviews", {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "probe"}})
    yield Ask("token that is none", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "x"}})
    yield Ask("token of nothing", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {}})
    yield Ask("token for too short", "POST", "/api/v1/namespaces/probe/serviceaccounts/default/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 5}})
    yield Ask("token for nobody", "POST", "/api/v1/namespaces/probe/serviceaccounts/nobody/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    yield Ask("token bound to a moon", "POST", "/api/v1/namespaces/probe/serviceaccounts/default/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Moon", "name": "x"}}})
    for path in ["/api", "/apis/apps", "/livez", "/readyz", "/healthz", "/livez/ping", "/readyz/nothing", "/version/", "/openapi/v3/apis/nothing/v1", "/metrics/nothing", "/logs"]:
        yield Ask("path " + path, "GET", path, accept="*/*")
    for version in sorted({k[0] for k in KINDS}):
        yield Ask("kinds of " + version, "GET", base_of(version))
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gone"}}
    yield Ask("make a namespace", "POST", "/api/v1/namespaces", space)
    yield Ask("get a namespace", "GET", "/api/v1/namespaces/gone")
    yield Ask("table of a namespace", "GET", "/api/v1/namespaces/gone", accept=TABLE)
    yield Ask("namespace of a wrong name", "POST", "/api/v1/namespaces", dict(space, metadata={"name": "a.b"}))
    yield Ask("change of a namespace's name label", "PATCH", "/api/v1/namespaces/gone?dryRun=All", {"metadata": {"labels": {"kubernetes.io/metadata.name": "x"}}}, MERGE)
    yield Ask("delete a namespace", "DELETE", "/api/v1/namespaces/gone")
    yield Ask("make something in a namespace that goes", "POST", "/api/v1/namespaces/gone/configmaps", one)
    yield Ask("finalize", "PUT", "/api/v1/namespaces/gone/finalize", dict(space, spec={"finalizers": []}))
    yield Ask("delete what may not go", "DELETE", "/api/v1/namespaces/default")


def first():
    """What the rest needs."""
    yield Ask("namespace probe", "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "probe"}})
    yield Ask("account default", "POST", "/api/v1/namespaces/probe/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
    yield Ask("definition of widgets", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGETS)


def all_asks():
    yield from first()
    for row in KINDS:
        yield from round_of(*row)
    yield from pods()
    yield from fields()
    yield from definitions()
    yield from requests()
