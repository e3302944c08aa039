#!/usr/bin/env python3
"""Data that could be written but not read back: bytes that are not a text, depth, size. By every way into the API."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import Cluster, Failed, expect, row, run

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
BAD = [b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80"]


def cluster():
    return Cluster("--runtime", "process", "--host-rootfs")


def survives_a_restart(c):
    """What was accepted is served again after a kill."""
    before = c.get(MAPS)[1]
    c.kill()
    c.start()
    after = c.get(MAPS)[1]
    expect([m["metadata"]["name"] for m in before["items"]] == [m["metadata"]["name"] for m in after["items"]], "objects differ after a restart")


@row("bodies with bytes that are not UTF-8, as JSON, YAML and patches", "400, and nothing is stored")
def bad_bytes_in_bodies(c):
    for bad in BAD:
        body = b'{"metadata":{"name":"bad"},"data":{"k":"' + bad + b'"}}'
        for kind in ("application/json", "application/yaml"):
            status, answer = c.request("POST", MAPS, body, content_type=kind)
            expect(status == 400, f"{kind} with {bad}: {status} {str(answer)[:200]}")
    c.create(MAPS, {"metadata": {"name": "p"}, "data": {"k": "v"}})
    for kind in ("application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"):
        for bad in BAD:
            body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"data":{"k":"' + bad + b'"}}'
            status, answer = c.request("PATCH", f"{MAPS}/p?fieldManager=f", body, content_type=kind)
            expect(status == 400, f"{kind} with {bad}: {status} {str(answer)[:200]}")
    body = b'[{"op":"replace","path":"/data/k","value":"\xff"}]'
    expect(c.request("PATCH", f"{MAPS}/p", body, content_type="application/json-patch+json")[0] == 400, "a JSON patch")
    expect(c.get(f"{MAPS}/p")[1]["data"] == {"k": "v"}, "the object has changed")
    c.request("DELETE", f"{MAPS}/p")


@row("halves of surrogate pairs in JSON and YAML", "refused, or read as U+FFFD")
def lone_surrogates(c):
    for text in ('"\\ud800"', '"\\udc00x"', '"\\ud800\\ud800"'):
        for kind in ("application/json", "application/yaml"):
            status, answer = c.request("POST", MAPS, '{"metadata":{"generateName":"s"},"data":{"k":' + text + "}}", content_type=kind)
            expect(status in (201, 400), f"{text} as {kind}: {status} {str(answer)[:200]}")
    survives_a_restart(c)


@row("a User-Agent, fieldManager, selector or name with bytes that are not UTF-8", "refused or made valid; what is stored reads back")
def bad_bytes_around_bodies(c):
    for number, bad in enumerate(BAD):
        out = c.exchange(
            b"POST " + MAPS.encode() + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + c.token().encode()
            + b"\r\nUser-Agent: agent" + bad + b"\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(b'{"metadata":{"name":"agent%d"}}' % number)
            + b'{"metadata":{"name":"agent%d"}}' % number)
        expect(out.startswith(b"HTTP/1.1 201") or out.startswith(b"HTTP/1.1 4"), str(out[:300]))
        quoted = "".join(f"%{byte:02X}" for byte in bad)
        for path in (f"{MAPS}?fieldManager=f{quoted}", f"{MAPS}?fieldManager={'x' * 200}"):
            status, answer = c.request("POST", path, {"metadata": {"generateName": "fm"}})
            expect(status in (201, 400, 422), f"{path}: {status} {str(answer)[:200]}")
        for path in (f"{MAPS}/x{quoted}", f"{MAPS}?labelSelector=a%3D{quoted}", f"{MAPS}?fieldSelector=metadata.name%3D{quoted}", f"/api/v1/namespaces/{quoted}/pods", f"{MAPS}?continue={quoted}"):
            status, answer = c.get(path)
            expect(status in (200, 400, 404), f"{path}: {status} {str(answer)[:200]}")
            json.dumps(answer).encode()  # the answer is text
    survives_a_restart(c)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def protobuf(kind, raw):
    return b"k8s\0" + field(1, field(1, b"v1") + field(2, kind)) + field(2, raw)


@row("protobuf bodies with strings and keys that are not UTF-8, or no protobuf at all", "400, and nothing is stored")
def bad_bytes_in_protobuf(c):
    kind = "application/vnd.kubernetes.protobuf"
    good = protobuf(b"ConfigMap", field(1, field(1, b"pb")) + field(2, field(1, b"k") + field(2, b"v")))
    status, answer = c.request("POST", MAPS, good, content_type=kind)
    expect(status == 201 and answer["data"] == {"k": "v"}, f"a good one: {status} {str(answer)[:200]}")
    for bad in BAD:
        for raw in (field(1, field(1, b"pb" + bad)), field(1, field(1, b"pbx")) + field(2, field(1, b"k") + field(2, bad)), field(1, field(1, b"pby")) + field(2, field(1, bad) + field(2, b"v"))):
            status, answer = c.request("POST", MAPS, protobuf(b"ConfigMap", raw), content_type=kind)
            expect(status in (400, 422), f"{raw}: {status} {str(answer)[:200]}")
        status, answer = c.request("POST", MAPS, protobuf(b"Config" + bad, b""), content_type=kind)
        expect(status in (400, 415), f"kind: {status} {str(answer)[:200]}")
    for cut in range(4, len(good)):
        expect(c.request("POST", MAPS, good[:cut], content_type=kind)[0] in (400, 409, 415, 422), f"cut at {cut}")


@row("objects of 1,000 levels and more, by create and by patches that nest", "refused with 400, 413 or 422; what is stored reads back")
def deep_objects(c):
    def nested(levels):
        return "[" * levels + "]" * levels

    accepted = 0
    for levels in (100, 900, 990, 999, 1005, 1100, 5000, 100000):
        text = '{"metadata":{"name":"d%d"},"spec":{"schedulerName":"volcano","tasks":[{"name":"t","replicas":1,"template":{"metadata":{"annotations":{}},"spec":{"containers":[{"name":"c","image":"i"}]}}}]},"status":{"x":%s}}' % (levels, nested(levels))
        status, answer = c.request("POST", JOBS, text)
        expect(status in (201, 400, 413, 422), f"{levels} levels: {status} {str(answer)[:200]}")
    # The parameters of a driver are kept as they are, whatever their depth.
    claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
    sys.setrecursionlimit(20000)
    for levels in (500, 900, 980, 1005):
        deep = {}
        for _ in range(levels):
            deep = {"a": deep}
        claim = {"metadata": {"name": f"deep{levels}"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}], "config": [{"opaque": {"driver": "d.example.com", "parameters": deep}}]}}}
        status, answer = c.request("POST", claims, claim)
        accepted += status == 201
        expect(status in (201, 400, 413, 422), f"parameters of {levels} levels: {status} {str(answer)[:200]}")
        if status == 201:
            # One copy into itself doubles the depth.
            top = "/spec/devices/config/0/opaque/parameters"
            patch = [{"op": "copy", "from": top, "path": top + "/a" * levels}]
            status, answer = c.request("PATCH", f"{claims}/deep{levels}", patch, content_type="application/json-patch+json")
            expect(status in (400, 413, 422), f"doubling {levels} levels: {status} {str(answer)[:200]}")
            expect(c.get(f"{claims}/deep{levels}")[0] == 200, "the object")
    expect(c.get(claims)[0] == 200, "the list")
    expect(accepted >= 3, f"only {accepted} deep objects were taken")
    survives_a_restart(c)


@row("objects that grow past 1.5 MiB by create, update and patches", "413 or 422, and the old object stays")
def large_objects(c):
    labels = "/api/v1/namespaces/default/secrets"
    status, answer = c.request("POST", JOBS, {"metadata": {"name": "big", "annotations": {"a": "x" * 200000}}, "spec": {"tasks": [{"name": "t", "replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i", "args": ["y" * 100000] * 20}]}}}]}})
    expect(status in (413, 422), f"a create of 2 MB: {status} {str(answer)[:300]}")
    c.create("/api/v1/namespaces/default/pods", {"metadata": {"name": "grows"}, "spec": {"schedulerName": "nobody", "containers": [{"name": "c", "image": "i", "args": ["y" * 1000]}]}})
    # A status may be as large as its writer likes.
    path = "/api/v1/namespaces/default/pods/grows/status"
    refused = None
    for i in range(40):
        patch = {"status": {"conditions": [{"type": f"t{i}", "status": "True", "message": "m" * 60000}]}}
        status, answer = c.request("PATCH", path, patch, content_type="application/strategic-merge-patch+json")
        if status != 200:
            refused = status, answer
            break
    expect(refused is not None and refused[0] == 413 and "too large" in str(refused[1]), str(refused)[:300])
    status, pod = c.get("/api/v1/namespaces/default/pods/grows")
    expect(status == 200 and len(json.dumps(pod)) < 1700000, "the pod")
    expect(c.request("DELETE", "/api/v1/namespaces/default/pods/grows?gracePeriodSeconds=0")[0] == 200, "its deletion")


@row("labels and annotations at their limits and beyond", "the limits of Kubernetes: 256 KiB of annotations")
def large_metadata(c):
    status, answer = c.request("POST", MAPS, {"metadata": {"name": "ann", "annotations": {"a": "x" * 300000}}})
    expect(status == 422 and "annotations" in str(answer), f"{status} {str(answer)[:200]}")


run(cluster)
