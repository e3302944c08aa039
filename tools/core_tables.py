#!/usr/bin/env python3
"""Takes the facts about Kubernetes' own kinds (names, types, list types, merge keys, defaults; no texts) from its published
OpenAPI documents and prints the compact table src/api/core/tables.inc.

usage: tools/core_tables.py DIR API APIMACHINERY AGGREGATOR LATER LATER_API > src/api/core/tables.inc
  DIR: api/openapi-spec of the Kubernetes module; API, APIMACHINERY, AGGREGATOR: the modules k8s.io/api, apimachinery and kube-aggregator (field numbers); LATER, LATER_API: DIR and API
  of the version that has scheduling.v1beta1, and spec.scheduling of Jobs
"""
import json
import os
import re
import sys

ROOTS = """
core.v1: Namespace Node Pod PodTemplate Service Endpoints ConfigMap Secret ServiceAccount Event PersistentVolumeClaim
  PersistentVolume LimitRange ResourceQuota ReplicationController Binding ComponentStatus
apps.v1: ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
batch.v1: CronJob Job
autoscaling.v2: HorizontalPodAutoscaler
autoscaling.v1: HorizontalPodAutoscaler Scale
certificates.v1: CertificateSigningRequest
scheduling.v1: PriorityClass
scheduling.v1beta1: Workload PodGroup
storage.v1: StorageClass CSINode CSIDriver CSIStorageCapacity VolumeAttachment VolumeAttributesClass
resource.v1: DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
coordination.v1: Lease
discovery.v1: EndpointSlice
networking.v1: NetworkPolicy Ingress IngressClass
node.v1: RuntimeClass
flowcontrol.v1: FlowSchema PriorityLevelConfiguration
policy.v1: Eviction PodDisruptionBudget
apiextensions.v1: CustomResourceDefinition
apiregistration.v1: APIService
admissionregistration.v1: ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
  ValidatingWebhookConfiguration MutatingWebhookConfiguration
events.v1: Event
authentication.v1: TokenReview TokenRequest SelfSubjectReview
authorization.v1: SelfSubjectAccessReview SubjectAccessReview LocalSubjectAccessReview SelfSubjectRulesReview
rbac.v1: Role ClusterRole RoleBinding ClusterRoleBinding
meta.v1: Status DeleteOptions APIGroupList APIGroup APIResourceList APIVersions ListMeta WatchEvent
  PartialObjectMetadata
"""
SCALARS = {("string", None): "s", ("integer", "int32"): "i", ("integer", "int64"): "l", ("boolean", None): "b",
           ("number", "double"): "d", ("string", "byte"): "y", ("integer", None): "l", ("object", None): "*"}
SPECIAL = {"api.resource.Quantity": "q", "util.intstr.IntOrString": "x", "meta.v1.Time": "t", "meta.v1.MicroTime": "T",
           "meta.v1.FieldsV1": "*", "runtime.RawExtension": "*", "meta.v1.Duration": "s",
           # Their other forms (a list of schemas, a boolean, names alone) are refused, or read by who reads schemas.
           "apiextensions.v1.JSONSchemaPropsOrArray": "apiextensions.v1.JSONSchemaProps",
           "apiextensions.v1.JSONSchemaPropsOrBool": "*", "apiextensions.v1.JSONSchemaPropsOrStringArray": "*"}


def alias(name):
    for prefix in ("io.k8s.api.", "io.k8s.apimachinery.pkg.apis.", "io.k8s.apimachinery.pkg.", "io.k8s.apiextensions-apiserver.pkg.apis.", "io.k8s.kube-aggregator.pkg.apis."):
        if name.startswith(prefix):
            return name[len(prefix):]
    return name


def module_of(group):
    """The folder of the groups of a module."""
    if group in ("meta", "apiregistration"):
        return os.path.join(sys.argv[3 if group == "meta" else 4], "pkg", "apis")
    return sys.argv[2]


def of_later(name):
    return name.startswith(("scheduling.v1alpha3.", "scheduling.v1beta1.")) or name in ("batch.v1.JobSpec", "batch.v1.JobSchedulingConfiguration")


def proto_fields(name):
    """The protobuf fields of a type: name -> (number, type)."""
    group, version, kind = name.split(".")[-3:]
    root = sys.argv[6] if of_later(name) else module_of(group)
    path = os.path.join(root, group, version, "generated.proto")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        match = re.search(r"^message " + kind + r" \{(.*?)^\}", f.read(), flags=re.S | re.M)
    if not match:
        return {}
    found = re.findall(r"^\s+(?:optional |repeated |(?=map<))([^=;/]*?)\s+(\w+) = (\d+)", match.group(1), flags=re.M)
    return {field: (int(number), kind.strip()) for kind, field, number in found}


def field_numbers(name, properties):
    """Field name -> "N", or "M.N" where protobuf nests a message M that JSON writes in place."""
    spelled = {field.lower(): field for field in properties}  # "uID" and "Expression" are uid and expression in JSON
    numbers = {}
    for field, (number, kind) in proto_fields(name).items():
        if field.lower() in spelled:
            numbers[spelled[field.lower()]] = str(number)
        elif kind and kind[0].isupper():
            inner = ".".join(name.split(".")[-3:-1]) + "." + kind
            for inner_field, inner_number in field_numbers(inner, properties).items():
                numbers.setdefault(inner_field, f"{number}.{inner_number}")
    return numbers


def omitted_when_zero(name):
    """The fields that Go's JSON leaves out when they are zero, where protobuf writes them all the same: those that are not pointers."""
    group, version, kind = name.split(".")[-3:]
    root = sys.argv[6] if of_later(name) else module_of(group)
    found = set()
    folder = os.path.join(root, group, version)
    if not os.path.isdir(folder):
        return found
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".go") or file.startswith("zz_") or file.endswith("_test.go") or file.startswith("generated"):
            continue
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            match = re.search(r"^type " + kind + r" struct \{(.*?)^\}", f.read(), flags=re.S | re.M)
        if not match:
            continue
        for field, words in re.findall(r'^\s+\w+\s+([^`*\s]\S*)?\s*`json:"([^"]*)"', match.group(1), flags=re.M):
            words = words.split(",")
            if "omitempty" in words or "omitzero" in words:
                found.add(words[0])
        for embedded in re.findall(r'^\s+([\w.]+)\s+`json:",inline"', match.group(1), flags=re.M):
            if "." not in embedded:
                found |= omitted_when_zero(f"{group}.{version}.{embedded}")
    return found


def read_documents(folder):
    """The definitions by name, and the defaults by name and field."""
    with open(os.path.join(folder, "swagger.json"), encoding="utf-8") as f:
        definitions = {alias(k): v for k, v in json.load(f)["definitions"].items()}
    defaults = {}
    for name in sorted(os.listdir(os.path.join(folder, "v3"))):
        with open(os.path.join(folder, "v3", name), encoding="utf-8") as f:
            for key, schema in json.load(f).get("components", {}).get("schemas", {}).items():
                for field, value in schema.get("properties", {}).items():
                    if value.get("default") not in (None, "", {}, 0, False):
                        defaults[alias(key), field] = value["default"]
    return definitions, defaults


def main():
    folder = sys.argv[1]
    definitions, defaults = read_documents(folder)
    later, later_defaults = read_documents(sys.argv[5])
    definitions.update({name: value for name, value in later.items() if of_later(name)})
    defaults.update({key: value for key, value in later_defaults.items() if of_later(key[0])})

    # Answered to who asks for it, and in no document.
    about = {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    definitions["meta.v1.PartialObjectMetadata"] = {"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": about}}
    wanted = []
    for line in ROOTS.replace("\n  ", " ").strip().splitlines():
        group, kinds = line.split(":")
        wanted += [f"{group}.{kind}" for kind in kinds.split()]
    done = {}

    def type_of(value):
        if "$ref" in value:
            name = alias(value["$ref"].split("/")[-1])
            if name in SPECIAL:
                return SPECIAL[name]
            target = definitions[name]
            if "properties" not in target:
                return SCALARS.get((target.get("type"), target.get("format")), "*")
            wanted.append(name)
            return name
        if value.get("type") == "array":
            return "[" + type_of(value["items"]) + "]"
        if "additionalProperties" in value:
            return "{" + type_of(value["additionalProperties"]) + "}"
        return SCALARS[value.get("type"), value.get("format")]

    while wanted:
        name = wanted.pop()
        if name in done:
            continue
        definition = definitions[name]
        rows = []
        numbers = field_numbers(name, definition.get("properties", {}))
        omitted = omitted_when_zero(name)
        for field, value in definition.get("properties", {}).items():
            words = [field, type_of(value)]
            if field in definition.get("required", []):
                words.append("!")
            kind = value.get("x-kubernetes-list-type")
            if kind == "map":
                words.append("map:" + ",".join(value["x-kubernetes-list-map-keys"]))
            elif kind:
                words.append(kind)
            if value.get("x-kubernetes-map-type") == "atomic":
                words.append("atomic")
            strategy = value.get("x-kubernetes-patch-strategy", "")
            if "merge" in strategy:
                words.append("merge:" + value.get("x-kubernetes-patch-merge-key", ""))
            if "retainKeys" in strategy:
                words.append("retainKeys")
            if field in numbers:
                words.append(f"#{numbers[field]}" + ("~" if field in omitted and words[1] in "silbdy" else ""))
            if (name, field) in defaults:
                words.append("=" + json.dumps(defaults[name, field], separators=(",", ":")))
            rows.append(" ".join(words))
        flags = " atomic" if definition.get("x-kubernetes-map-type") == "atomic" else ""
        done[name] = (flags, sorted(rows))
    print("R\"tables(")
    print("# Facts of Kubernetes' published OpenAPI documents (1.36; scheduling.v1beta1 and specifications of Jobs: 1.37), one type a block; made by tools/core_tables.py.")
    print("# s string, i int32, l int64, b boolean, d double, y bytes, q quantity, x int-or-string, t time, T micro time, * anything;")
    print("# [list] {map}; ! required; list types; merge:KEY strategic merge; #N protobuf field number (#M.N inside message M;")
    print("# ~ behind it: JSON leaves it out when it is zero); =default.")
    for name in sorted(done):
        flags, rows = done[name]
        print(f":{name}{flags}")
        for row in rows:
            print(" " + row)
    print(")tables\"")


main()
