"""Valid objects of the kinds that people write, with as many fields as they can have, for random_compare.py to break."""
import copy

import random_pods
from random_pods import LABELS, TEMPLATE_LABELS, container

SMALL = {"containers": [container("c")], "automountServiceAccountToken": False}
TEMPLATE = {"metadata": {"labels": TEMPLATE_LABELS, "annotations": {"a": "b"}}, "spec": SMALL}
ONCE = {"metadata": {"labels": {"run": "x"}}, "spec": dict(SMALL, restartPolicy="Never")}
DEVICES = {"requests": [{"name": "one", "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 2, "adminAccess": False, "selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}],
                                                    "tolerations": [{"key": "example.com/sick", "operator": "Exists", "effect": "NoSchedule"}]}},
                        {"name": "any", "firstAvailable": [{"name": "big", "deviceClassName": "big.example.com", "count": 1}, {"name": "small", "deviceClassName": "small.example.com", "allocationMode": "All"}]}],
           "constraints": [{"requests": ["one"], "matchAttribute": "gpu.example.com/numa"}], "config": [{"requests": ["one"], "opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}]}
CLAIM = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeMode": "Filesystem", "volumeName": "pv-1", "resources": {"requests": {"storage": "1Gi"}, "limits": {"storage": "2Gi"}},
         "selector": LABELS, "dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "snap"}}
TERMS = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n"]}]}]}}
METRICS = [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}}, {"type": "ContainerResource", "containerResource": {"name": "memory", "container": "c", "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
           {"type": "Pods", "pods": {"metric": {"name": "rps", "selector": LABELS}, "target": {"type": "AverageValue", "averageValue": "10"}}},
           {"type": "Object", "object": {"describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"}, "metric": {"name": "rps"}, "target": {"type": "Value", "value": "10"}}},
           {"type": "External", "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "30"}}}]
SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "required": ["size"], "properties": {
    "size": {"type": "string", "enum": ["small", "large"], "default": "small"}, "replicas": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 10}, "names": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3, "x-kubernetes-list-type": "set"},
    "map": {"type": "object", "additionalProperties": {"type": "string"}}, "port": {"x-kubernetes-int-or-string": True}, "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    "x-kubernetes-validations": [{"rule": "self.size != 'large' || self.replicas > 1", "message": "large ones need two"}]}}}
RULES = [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["deployments", "deployments/scale"], "scope": "Namespaced"}]
RUNTIME = {"handler": "runc", "overhead": {"podFixed": {"cpu": "10m", "memory": "1Mi"}}, "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}]}}

# (name, apiVersion, kind, plural, namespaced, the rest of the object)
BASES = [("pod " + name, "v1", "Pod", "pods", True, {"spec": spec}) for name, spec in random_pods.PODS.items()] + [
    ("deployment", "apps/v1", "Deployment", "deployments", True, {"spec": {"replicas": 2, "minReadySeconds": 5, "revisionHistoryLimit": 3, "progressDeadlineSeconds": 60, "paused": True, "selector": LABELS, "template": TEMPLATE,
                                                                           "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}}}}),
    ("replica set", "apps/v1", "ReplicaSet", "replicasets", True, {"spec": {"replicas": 2, "minReadySeconds": 5, "selector": LABELS, "template": TEMPLATE}}),
    ("controller", "v1", "ReplicationController", "replicationcontrollers", True, {"spec": {"replicas": 2, "selector": TEMPLATE_LABELS, "template": TEMPLATE}}),
    ("stateful set", "apps/v1", "StatefulSet", "statefulsets", True, {"spec": {"serviceName": "s", "replicas": 2, "podManagementPolicy": "Parallel", "selector": LABELS, "template": TEMPLATE, "minReadySeconds": 1, "ordinals": {"start": 1}, "revisionHistoryLimit": 2,
                                                                               "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}, "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
                                                                               "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}}),
    ("daemon set", "apps/v1", "DaemonSet", "daemonsets", True, {"spec": {"selector": LABELS, "template": TEMPLATE, "minReadySeconds": 3, "revisionHistoryLimit": 4, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}}}),
    ("job", "batch/v1", "Job", "jobs", True, {"spec": {"parallelism": 2, "completions": 4, "completionMode": "Indexed", "backoffLimit": 3, "activeDeadlineSeconds": 100, "ttlSecondsAfterFinished": 10, "suspend": True, "podReplacementPolicy": "Failed", "template": ONCE,
                                                       "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"containerName": "c", "operator": "In", "values": [1, 42]}}, {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}}}),
    ("job by hand", "batch/v1", "Job", "jobs", True, {"spec": {"manualSelector": True, "selector": {"matchLabels": {"run": "x"}}, "template": ONCE, "managedBy": "example.com/me"}}),
    ("cron job", "batch/v1", "CronJob", "cronjobs", True, {"spec": {"schedule": "*/5 * * * 1-5", "timeZone": "Europe/Berlin", "concurrencyPolicy": "Forbid", "startingDeadlineSeconds": 100, "successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 2, "suspend": False,
                                                                    "jobTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {"backoffLimit": 1, "template": ONCE}}}}),
    ("service", "v1", "Service", "services", True, {"spec": {"type": "ClusterIP", "selector": {"app": "a"}, "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 100}}, "publishNotReadyAddresses": True, "internalTrafficPolicy": "Local",
                                                             "externalIPs": ["203.0.113.1"], "ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv4"], "trafficDistribution": "PreferClose",
                                                             "ports": [{"name": "web", "port": 80, "targetPort": "http", "protocol": "TCP", "appProtocol": "http"}, {"name": "dns", "port": 53, "targetPort": 5353, "protocol": "UDP"}]}}),
    ("balanced service", "v1", "Service", "services", True, {"spec": {"type": "LoadBalancer", "selector": {"app": "a"}, "externalTrafficPolicy": "Cluster", "loadBalancerSourceRanges": ["10.0.0.0/8"], "loadBalancerClass": "example.com/lb", "allocateLoadBalancerNodePorts": True,
                                                                      "loadBalancerIP": "203.0.113.9", "ports": [{"port": 80}]}}),
    ("headless service", "v1", "Service", "services", True, {"spec": {"clusterIP": "None", "ports": [{"port": 80}]}}),
    ("external service", "v1", "Service", "services", True, {"spec": {"type": "ExternalName", "externalName": "db.example.com"}}),
    ("endpoint slice", "discovery.k8s.io/v1", "EndpointSlice", "endpointslices", True, {"addressType": "IPv4", "endpoints": [
        {"addresses": ["10.1.2.3"], "conditions": {"ready": True, "serving": True, "terminating": False}, "hostname": "h", "nodeName": "n", "zone": "z", "targetRef": {"kind": "Pod", "name": "p"}, "hints": {"forZones": [{"name": "z"}]}}],
        "ports": [{"name": "web", "port": 80, "protocol": "TCP", "appProtocol": "http"}]}),
    ("config map", "v1", "ConfigMap", "configmaps", True, {"data": {"a.conf": "1"}, "binaryData": {"b": "AAEC"}, "immutable": False}),
    ("secret", "v1", "Secret", "secrets", True, {"type": "Opaque", "data": {"a": "MQ=="}, "stringData": {"b": "2"}, "immutable": False}),
    ("secret of tls", "v1", "Secret", "secrets", True, {"type": "kubernetes.io/tls", "data": {"tls.crt": "MQ==", "tls.key": "MQ=="}}),
    ("secret of docker", "v1", "Secret", "secrets", True, {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "{}"}}),
    ("secret of basic", "v1", "Secret", "secrets", True, {"type": "kubernetes.io/basic-auth", "stringData": {"username": "u", "password": "p"}}),
    ("secret of ssh", "v1", "Secret", "secrets", True, {"type": "kubernetes.io/ssh-auth", "stringData": {"ssh-privatekey": "k"}}),
    ("claim", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", True, {"spec": CLAIM}),
    ("volume local", "v1", "PersistentVolume", "persistentvolumes", False, {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"], "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "fast", "volumeMode": "Filesystem", "mountOptions": ["ro"],
                                                                                     "local": {"path": "/mnt/disk", "fsType": "ext4"}, "nodeAffinity": TERMS, "claimRef": {"namespace": "probe", "name": "c", "kind": "PersistentVolumeClaim"}}}),
    ("volume nfs", "v1", "PersistentVolume", "persistentvolumes", False, {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "nfs": {"server": "s", "path": "/e"}}}),
    ("volume csi", "v1", "PersistentVolume", "persistentvolumes", False, {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOncePod"], "csi": {"driver": "csi.example.com", "volumeHandle": "h", "fsType": "ext4", "volumeAttributes": {"a": "b"},
                                                                                                                                                             "nodeStageSecretRef": {"name": "s", "namespace": "n"}}}}),
    ("storage class", "storage.k8s.io/v1", "StorageClass", "storageclasses", False, {"provisioner": "csi.example.com", "parameters": {"type": "fast"}, "reclaimPolicy": "Retain", "mountOptions": ["ro"], "allowVolumeExpansion": True, "volumeBindingMode": "WaitForFirstConsumer",
                                                                                     "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}]}),
    ("quota", "v1", "ResourceQuota", "resourcequotas", True, {"spec": {"hard": {"pods": "1000", "services": "1000", "requests.storage": "10Ti", "count/jobs.batch": "900"}}}),
    ("scoped quota", "v1", "ResourceQuota", "resourcequotas", True, {"spec": {"hard": {"pods": "1000", "requests.cpu": "1000"}, "scopes": ["NotTerminating"], "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["none"]}]}}}),
    ("limits", "v1", "LimitRange", "limitranges", True, {"spec": {"limits": [{"type": "PersistentVolumeClaim", "min": {"storage": "1Mi"}, "max": {"storage": "90Ti"}}, {"type": "Pod", "max": {"cpu": "9000", "memory": "900Ti"}, "maxLimitRequestRatio": {"cpu": "900"}},
                                                                             {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m"}, "min": {"cpu": "1m"}, "max": {"cpu": "9000"}}]}}),
    ("budget", "policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", True, {"spec": {"minAvailable": "50%", "selector": LABELS, "unhealthyPodEvictionPolicy": "AlwaysAllow"}}),
    ("budget away", "policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", True, {"spec": {"maxUnavailable": 1, "selector": LABELS}}),
    ("autoscaler", "autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", True, {"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "minReplicas": 1, "maxReplicas": 3, "metrics": METRICS, "behavior": {
        "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}, "scaleDown": {"stabilizationWindowSeconds": 300, "selectPolicy": "Min", "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}}}),
    ("network policy", "networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", True, {"spec": {"podSelector": LABELS, "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [{"podSelector": LABELS, "namespaceSelector": {"matchLabels": {"a": "b"}}}, {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}], "ports": [{"protocol": "TCP", "port": 80, "endPort": 90}, {"port": "web"}]}],
        "egress": [{"to": [{"namespaceSelector": {}}], "ports": [{"protocol": "UDP", "port": 53}]}]}}),
    ("ingress", "networking.k8s.io/v1", "Ingress", "ingresses", True, {"spec": {"ingressClassName": "nginx", "defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}, "tls": [{"hosts": ["a.example.com", "*.example.com"], "secretName": "t"}], "rules": [
        {"host": "a.example.com", "http": {"paths": [{"path": "/a", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"name": "web"}}}}, {"path": "/b", "pathType": "Exact", "backend": {"resource": {"apiGroup": "example.com", "kind": "Bucket", "name": "b"}}}]}}]}}),
    ("ingress class", "networking.k8s.io/v1", "IngressClass", "ingressclasses", False, {"spec": {"controller": "example.com/c", "parameters": {"apiGroup": "example.com", "kind": "Param", "name": "p", "scope": "Namespace", "namespace": "n"}}}),
    ("role", "rbac.authorization.k8s.io/v1", "Role", "roles", True, {"rules": [{"apiGroups": ["", "apps"], "resources": ["pods", "deployments/scale"], "verbs": ["get", "*"], "resourceNames": ["a"]}]}),
    ("cluster role", "rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", False, {"rules": [{"nonResourceURLs": ["/healthz", "/debug/*"], "verbs": ["get"]}], "aggregationRule": {"clusterRoleSelectors": [LABELS]}}),
    ("role binding", "rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", True, {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}, "subjects": [
        {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "Group", "name": "g", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "ServiceAccount", "name": "default", "namespace": "probe"}]}),
    ("cluster role binding", "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", False, {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}, "subjects": [{"kind": "User", "name": "u"}]}),
    ("priority class", "scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", False, {"value": 7, "preemptionPolicy": "Never", "description": "d", "globalDefault": False}),
    ("runtime class", "node.k8s.io/v1", "RuntimeClass", "runtimeclasses", False, RUNTIME),
    ("lease", "coordination.k8s.io/v1", "Lease", "leases", True, {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 1, "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.000000Z"}}),
    ("service account", "v1", "ServiceAccount", "serviceaccounts", True, {"automountServiceAccountToken": False, "imagePullSecrets": [{"name": "s"}], "secrets": [{"name": "t"}]}),
    ("definition", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", False, {"spec": {"group": "example.org", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList", "shortNames": ["th"], "categories": ["all"]},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}, "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}},
                      "additionalPrinterColumns": [{"name": "Size", "type": "string", "jsonPath": ".spec.size", "priority": 1}]},
                     {"name": "v1beta1", "served": True, "storage": False, "deprecated": True, "deprecationWarning": "old", "schema": {"openAPIV3Schema": SCHEMA}}], "conversion": {"strategy": "None"}}}),
    ("policy", "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", False, {"spec": {"failurePolicy": "Fail", "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "matchConstraints": {"resourceRules": RULES, "namespaceSelector": LABELS, "matchPolicy": "Exact"},
        "matchConditions": [{"name": "not-me", "expression": "request.userInfo.username != 'me'"}], "variables": [{"name": "n", "expression": "object.spec.replicas"}],
        "validations": [{"expression": "variables.n < 5", "message": "too many", "reason": "Invalid"}, {"expression": "true", "messageExpression": "'no'"}], "auditAnnotations": [{"key": "n", "valueExpression": "string(variables.n)"}]}}),
    ("policy binding", "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", False, {"spec": {"policyName": "p", "validationActions": ["Warn", "Audit"], "matchResources": {"namespaceSelector": LABELS, "objectSelector": {"matchLabels": {"never": "x"}}},
        "paramRef": {"name": "c", "namespace": "probe", "parameterNotFoundAction": "Allow"}}}),
    ("webhook", "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False, {"webhooks": [{"name": "a.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore", "timeoutSeconds": 5, "matchPolicy": "Exact",
        "clientConfig": {"service": {"namespace": "n", "name": "s", "path": "/v", "port": 443}}, "rules": [dict(RULES[0], resources=["nothings"])], "namespaceSelector": {"matchLabels": {"never": "x"}}, "matchConditions": [{"name": "c", "expression": "true"}]}]}),
    ("device class", "resource.k8s.io/v1", "DeviceClass", "deviceclasses", False, {"spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}], "config": [{"opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}], "extendedResourceName": "example.com/gpu"}}),
    ("resource claim", "resource.k8s.io/v1", "ResourceClaim", "resourceclaims", True, {"spec": {"devices": DEVICES}}),
    ("claim template", "resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates", True, {"spec": {"metadata": {"labels": {"a": "b"}}, "spec": {"devices": DEVICES}}}),
    ("resource slice", "resource.k8s.io/v1", "ResourceSlice", "resourceslices", False, {"spec": {"driver": "gpu.example.com", "nodeName": "n", "pool": {"name": "n", "resourceSliceCount": 1, "generation": 1}, "devices": [
        {"name": "gpu-0", "attributes": {"model": {"string": "a100"}, "numa": {"int": 1}, "ok": {"bool": True}, "driverVersion": {"version": "1.2.3"}}, "capacity": {"memory": {"value": "80Gi"}}, "taints": [{"key": "example.com/sick", "value": "x", "effect": "NoSchedule"}]}]}}),
    ("node", "v1", "Node", "nodes", False, {"spec": {"podCIDR": "10.9.0.0/24", "podCIDRs": ["10.9.0.0/24"], "providerID": "x://y", "unschedulable": True, "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}}),
    ("namespace", "v1", "Namespace", "namespaces", False, {"spec": {"finalizers": ["kubernetes"]}}),
    ("endpoints", "v1", "Endpoints", "endpoints", True, {"subsets": [{"addresses": [{"ip": "10.1.2.3", "hostname": "h", "nodeName": "n"}], "notReadyAddresses": [{"ip": "10.1.2.4"}], "ports": [{"name": "web", "port": 80, "protocol": "TCP", "appProtocol": "http"}]}]}),
]


def made(base, name="x"):
    """The whole object of a row, and the folder it belongs into."""
    _, version, kind, plural, namespaced, rest = base
    obj = dict(copy.deepcopy(rest), apiVersion=version, kind=kind)
    name = "things.example.org" if kind == "CustomResourceDefinition" else name
    obj["metadata"] = {"name": name, "labels": dict(TEMPLATE_LABELS), "annotations": {"example.com/note": "n"}}
    root = "/api/v1" if version == "v1" else "/apis/" + version
    return obj, root + ("/namespaces/probe" if namespaced else "") + "/" + plural
