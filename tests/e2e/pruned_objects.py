#!/usr/bin/env python3
"""What custom resources are after pruning and defaulting, by the rules that Kubernetes documents (structural schemas, field
pruning, defaulting and nullable): a definition, an object, and what is stored of it. Each row says which rule it is.

usage: pruned_objects.py KUBECONFIG       prints "ok NAME" or "FAIL NAME: ..."
"""
import json
import subprocess
import sys
import time

GROUP = "pruned.example.org"
NOT_KNOWN = {"type": "object"}
ANY = {"x-kubernetes-preserve-unknown-fields": True}
TEXT = {"type": "string"}


def of(**properties):
    return {"type": "object", "properties": properties}


def listed(items, **more):
    return {"type": "array", "items": items, **more}


# name, schema of spec, the spec that is sent, the spec that is stored
ROWS = [
    ("unknown fields are pruned", of(a=TEXT), {"a": "x", "b": 1, "c": {"d": 1}}, {"a": "x"}),
    ("fields of an object without properties are pruned", of(a=NOT_KNOWN), {"a": {"b": 1}}, {"a": {}}),
    ("in items of arrays", of(a=listed(of(b=TEXT))), {"a": [{"b": "x", "c": 1}, {"c": 1}]}, {"a": [{"b": "x"}, {}]}),
    ("in arrays of arrays", of(a=listed(listed(of(b=TEXT)))), {"a": [[{"b": "x", "c": 1}]]}, {"a": [[{"b": "x"}]]}),
    ("in values of maps, whose keys stay", of(a={"type": "object", "additionalProperties": of(b=TEXT)}),
     {"a": {"k": {"b": "x", "c": 1}, "l": {}}}, {"a": {"k": {"b": "x"}, "l": {}}}),
    ("maps of texts keep all keys", of(a={"type": "object", "additionalProperties": TEXT}), {"a": {"k": "x", "l": "y"}},
     {"a": {"k": "x", "l": "y"}}),
    ("additionalProperties: true keeps everything", of(a={"type": "object", "additionalProperties": True}),
     {"a": {"k": {"deep": [1, {"x": None}]}}}, {"a": {"k": {"deep": [1, {"x": None}]}}}),
    ("preserved fields stay, at every depth below", of(a={"type": "object", **ANY}), {"a": {"b": {"c": [{"d": 1}]}}},
     {"a": {"b": {"c": [{"d": 1}]}}}),
    ("pruning begins again where properties are specified", of(a={**of(known=of(b=TEXT)), **ANY}),
     {"a": {"known": {"b": "x", "c": 1}, "other": {"c": 1}}}, {"a": {"known": {"b": "x"}, "other": {"c": 1}}}),
    ("preserved without a type", of(a=ANY), {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}),
    ("preserved in the items of an array", of(a=listed({"type": "object", **ANY})), {"a": [{"b": 1}, {}]}, {"a": [{"b": 1}, {}]}),
    ("preserved by the array itself", of(a=listed(of(b=TEXT), **ANY)), {"a": [{"b": "x", "c": 1}]}, {"a": [{"b": "x", "c": 1}]}),
    ("int-or-string stays what it was", of(a={"x-kubernetes-int-or-string": True}, b={"x-kubernetes-int-or-string": True}),
     {"a": 80, "b": "http"}, {"a": 80, "b": "http"}),
    ("an embedded resource keeps apiVersion, kind and metadata",
     of(a={"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": of(b=TEXT)}}),
     {"a": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "n", "labels": {"l": "m"}}, "spec": {"b": "x", "c": 1}, "d": 1}},
     {"a": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "n", "labels": {"l": "m"}}, "spec": {"b": "x"}}}),
    ("an embedded resource that is preserved keeps everything",
     of(a={"type": "object", "x-kubernetes-embedded-resource": True, **ANY}),
     {"a": {"apiVersion": "v1", "kind": "Pod", "spec": {"c": 1}}}, {"a": {"apiVersion": "v1", "kind": "Pod", "spec": {"c": 1}}}),
    ("a default stands for what is missing", of(a={"type": "string", "default": "x"}, b={"type": "integer", "default": 0}), {},
     {"a": "x", "b": 0}),
    ("and not for what is there, be it empty", of(a={"type": "string", "default": "x"}), {"a": ""}, {"a": ""}),
    ("a default below what is missing is not applied", of(a=of(b={"type": "string", "default": "x"})), {}, {}),
    ("but below what is there", of(a=of(b={"type": "string", "default": "x"})), {"a": {}}, {"a": {"b": "x"}}),
    ("and below a default", of(a={**of(b={"type": "string", "default": "x"}), "default": {}}), {}, {"a": {"b": "x"}}),
    ("in items", of(a=listed(of(b={"type": "string", "default": "x"}))), {"a": [{}, {"b": "y"}]}, {"a": [{"b": "x"}, {"b": "y"}]}),
    ("in values of maps", of(a={"type": "object", "additionalProperties": of(b={"type": "string", "default": "x"})}),
     {"a": {"k": {}}}, {"a": {"k": {"b": "x"}}}),
    ("beside preserved fields", of(a={**of(b={"type": "string", "default": "x"}), **ANY}), {"a": {"c": 1}}, {"a": {"b": "x", "c": 1}}),
    ("an array as a default", of(a=listed(TEXT, default=["x", "y"])), {}, {"a": ["x", "y"]}),
    ("null of a field that is not nullable is pruned before defaults", of(a={"type": "string", "default": "x"}), {"a": None}, {"a": "x"}),
    ("null of a nullable field stays", of(a={"type": "string", "nullable": True, "default": "x"}), {"a": None}, {"a": None}),
    ("a nullable field that is missing has its default", of(a={"type": "string", "nullable": True, "default": "x"}), {}, {"a": "x"}),
    ("a default of null is none", of(a={"type": "string", "nullable": True, "default": None}), {}, {}),
    ("allOf prunes nothing that properties specify", {**of(a=TEXT), "allOf": [{"required": ["a"]}]}, {"a": "x", "b": 1}, {"a": "x"}),
]


def main():
    kubeconfig = sys.argv[1]

    def kubectl(*words, text=None):
        return subprocess.run(["kubectl", "--kubeconfig", kubeconfig, *words], input=text, capture_output=True, text=True, check=False)

    definitions, objects = [], []
    for number, (_, schema, sent, _) in enumerate(ROWS):
        plural, kind = f"rows{number}", f"Row{number}"
        definitions.append({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": of(spec=schema)}}]}})
        objects.append({"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "one", "namespace": "default"}, "spec": sent})
    made = kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": definitions}))
    if made.returncode:
        print(f"FAIL the definitions: {made.stderr.strip()}")
        return 1
    kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
    failed = 0
    for number, (name, _, _, stored) in enumerate(ROWS):
        path = f"/apis/{GROUP}/v1/namespaces/default/rows{number}"
        for _ in range(50):
            made = kubectl("create", "--raw", path, "-f", "-", text=json.dumps(objects[number]))
            if "NotFound" not in made.stderr and "could not find" not in made.stderr:
                break
            time.sleep(0.1)
        found = kubectl("get", "--raw", f"{path}/one")
        spec = json.loads(found.stdout).get("spec") if found.returncode == 0 else f"{made.stderr.strip()} {found.stderr.strip()}"
        if spec == stored:
            print(f"ok {name}")
        else:
            failed = 1
            print(f"FAIL {name}: stored is {json.dumps(spec)}, not {json.dumps(stored)}")
    return failed


sys.exit(main())
