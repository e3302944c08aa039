#!/usr/bin/env python3
"""Objects of each core kind in protobuf, from our API server and a stock one.

usage: protobuf.py OURS.kubeconfig STOCK.kubeconfig PROTOBUF_FORM
For each kind that both serve: what either server answers in protobuf, read by our programs, is what it answers in JSON, alone and
in a list, whole and as metadata; and what our programs write in protobuf a stock server reads as it reads JSON. Prints "ok KIND" or "FAIL KIND: why".
"""
import json
import subprocess
import sys

import asks
import compare

PROTOBUF = "application/vnd.kubernetes.protobuf"
METADATA = ";as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"
# Richer than what the other requests make, where it matters.
RICH = {"pods": {"spec": {
    "terminationGracePeriodSeconds": 0, "priority": 0, "hostPID": True, "nodeSelector": {"zone": "", "disk": "ssd"},
    "tolerations": [{"operator": "Exists"}, {"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 0}],
    "securityContext": {"runAsUser": 0, "fsGroup": 5, "sysctls": [{"name": "net.core.somaxconn", "value": "1"}]},
    "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 3, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}}}]}},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}],
    "volumes": [{"name": "e", "emptyDir": {}}, {"name": "c", "configMap": {"name": "m", "items": [{"key": "k", "path": "p", "mode": 0}]}},
                {"name": "p", "projected": {"sources": [{"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}}]}}],
    "initContainers": [{"name": "i", "image": "i", "restartPolicy": "Always"}],
    "containers": [{"name": "m", "image": "nginx", "command": ["a", ""], "env": [{"name": "E", "value": "e"}, {"name": "F", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                    "ports": [{"containerPort": 80}], "resources": {"requests": {"cpu": "0.5", "memory": "1Gi"}, "limits": {"cpu": "1"}},
                    "readinessProbe": {"httpGet": {"port": "web", "path": "/"}, "initialDelaySeconds": 0}, "lifecycle": {"preStop": {"sleep": {"seconds": 0}}},
                    "securityContext": {"privileged": False, "capabilities": {"drop": ["ALL"]}}, "stdin": False, "volumeMounts": [{"name": "e", "mountPath": "/e"}]}]}},
    "persistentvolumeclaims": {"spec": {"storageClassName": "", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
    "services": {"spec": {"selector": {"app": "a"}, "sessionAffinity": "ClientIP", "ports": [{"name": "a", "port": 80, "targetPort": "web"}, {"name": "b", "port": 81, "targetPort": 0x1f90}]}}}


def compact(value):
    """As Go writes it: a value of any form is kept as the text that came."""
    return json.dumps(value, separators=(",", ":")).encode()


class Forms:
    def __init__(self, program):
        self.program = program

    def turn(self, how, given):
        done = subprocess.run([self.program, how], input=given, capture_output=True)
        if done.returncode:
            raise ValueError(done.stderr.decode().strip())
        return done.stdout

    def read(self, given):
        return json.loads(self.turn("read", given))

    def write(self, value):
        return self.turn("write", compact(value))


def without_nothing(value):
    """Without nulls, which have no form in protobuf, and kinds of a list's items, which have theirs from the list."""
    if isinstance(value, dict):
        value = {k: without_nothing(v) for k, v in value.items() if v is not None}
        for item in value["items"] if value.get("kind", "").endswith("List") else []:
            item.pop("kind", None)
            item.pop("apiVersion", None)
        return value
    return [without_nothing(one) for one in value] if isinstance(value, list) else value


def problems(server, name, path, lists, forms):
    """How the two forms differ of the object at `path` and of the list of its kind."""
    for where, shape in ((path, ""), (lists, ""), (path, METADATA.format("")), (lists, METADATA.format("List"))):
        for _ in range(3):  # others may write between two answers
            as_json = server.fetch(asks.Ask("", "GET", where, accept="application/json" + shape))
            answer = server.fetch(asks.Ask("", "GET", where, accept=PROTOBUF + shape))
            if answer.kind.split(";")[0] != PROTOBUF:
                yield f"{name} {where}{shape}: the answer is {answer.kind}"
                break
            found = list(compare.differences(forms.read(answer.body), without_nothing(json.loads(as_json.body))))
            if not found:
                break
        else:
            for at, left, right in found:
                yield f"{name} {where}{shape}: {at}: protobuf {json.dumps(left)[:200]} JSON {json.dumps(right)[:200]}"


def put_problems(stock, path, forms):
    """What a stock server makes of an object that our programs wrote."""
    known = json.loads(stock.fetch(asks.Ask("", "GET", path)).body)
    for content, body in (("application/json", compact(known)), (PROTOBUF, forms.write(known))):
        answer = stock.fetch(asks.Ask("", "PUT", path + "?dryRun=All&fieldManager=probe", raw=body, content=content))
        if answer.status != 200:
            yield f"stock refuses it as {content}: {answer.status} {answer.body[:300]}"
            return
        found = json.loads(answer.body)
        for one in (found, known):
            one["metadata"].pop("managedFields", None)
        if content == PROTOBUF:
            for at, left, right in compare.differences(found, as_written):
                yield f"stock reads what we wrote: {at}: {json.dumps(left)[:200]} and not {json.dumps(right)[:200]}"
        as_written = found


def kind_problems(row, servers, forms):
    version, kind, plural, namespaced, rest = row
    lists = asks.folder(version, plural, namespaced)
    made = asks.a(version, kind, "form-" + plural, RICH.get(plural, rest))
    path = lists + "/" + made["metadata"]["name"]
    for name, server in servers.items():
        answer = server.fetch(asks.Ask("", "POST", lists, raw=compact(made)))
        if answer.status != 201:
            yield f"{name} does not make it: {answer.status} {answer.body[:300]}"
            return
    for name, server in servers.items():
        yield from problems(server, name, path, lists, forms)
    yield from put_problems(servers["stock"], path, forms)


def main():
    servers = {"ours": compare.Server(sys.argv[1]), "stock": compare.Server(sys.argv[2])}
    forms, failed = Forms(sys.argv[3]), 0
    for ask in asks.first():
        for server in servers.values():
            server.fetch(ask)
    for row in asks.KINDS:
        kind, rest = row[1], row[4]
        if rest is None or kind == "CustomResourceDefinition" or ".volcano.sh" in row[0] or "example.com" in row[0]:
            continue
        found = list(kind_problems(row, servers, forms))
        failed += len(found)
        print("\n".join(f"FAIL {kind}: {one}" for one in found) or f"ok {kind}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
