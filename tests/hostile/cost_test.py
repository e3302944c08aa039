#!/usr/bin/env python3
"""Requests that are made to cost: each is done in time that grows with its size, or refused by a limit that is stated
(docs/compat/apiserver.md); another client is answered meanwhile, and no callback holds the API's loop for long."""
import http.client
import json
import os
import threading
import time

from lib import PATIENCE, Cluster, expect, row, run

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
# What another client waits at most while the request is worked on, and how long one callback may hold the loop.
BYSTANDER_SECONDS = 0.5
LOOP_SECONDS = 0.05


def patience():
    """On a machine that others use as well, everything waits for its turn."""
    return PATIENCE * max(1.0, os.getloadavg()[0] / os.cpu_count())


class Bystander:
    """Another client, on a connection of its own, that reads one object again and again; `worst` is what it waited."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.worst = 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.read)

    def read(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=self.cluster.tls(),
                                                 timeout=60 * PATIENCE)
        headers = {"Authorization": f"Bearer {self.cluster.token()}"}
        try:
            while not self.ended.wait(0.02):
                began = time.monotonic()
                connection.request("GET", "/api/v1/namespaces/default", headers=headers)
                connection.getresponse().read()
                self.worst = max(self.worst, time.monotonic() - began)
        except OSError:
            self.worst = float("inf")
        connection.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        if _[0] is None:
            expect(self.worst <= BYSTANDER_SECONDS * patience(), f"another client waited {self.worst:.2f} s for a GET")


def loop_holds(cluster):
    """(callbacks longer than the limit, all callbacks) so far, from /metrics."""
    limit = LOOP_SECONDS * patience()
    within = total = 0
    for line in cluster.get("/metrics")[1].splitlines():
        if line.startswith("volcano_api_loop_seconds_bucket"):
            bound = line.split('le="')[1].split('"')[0]
            if bound != "+Inf" and float(bound) <= limit:
                within = int(float(line.split()[-1]))
        if line.startswith("volcano_api_loop_seconds_count"):
            total = int(float(line.split()[-1]))
    return total - within, total


def within(cluster, seconds, what, work):
    """Plays `work` beside another client; Failed if it takes longer, or if a callback held the loop too long."""
    before, _ = loop_holds(cluster)
    with Bystander(cluster):
        began = time.monotonic()
        result = work()
        took = time.monotonic() - began
    after, _ = loop_holds(cluster)
    expect(took <= seconds * patience(), f"{what} took {took:.1f} s")
    expect(after == before, f"{what}: {after - before} callbacks held the loop for more than "
           f"{LOOP_SECONDS * patience() * 1000:.0f} ms")
    return result


def answered(result, *wanted):
    status, answer = result
    expect(status in wanted, f"answered {status}: {str(answer)[:300]}")
    return answer


def config_map(name, **more):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **more}


def json_patch(cluster, path, operations, **more):
    return cluster.request("PATCH", path, operations, content_type="application/json-patch+json", **more)


@row("objects with 40,000 and 170,000 unknown fields", "pruned at once, told in a short warning or refusal")
def unknown_fields(cluster):
    for count in (40_000, 170_000):
        body = config_map(f"unknown-{count}", data={"k": "v"}, **{f"u{i}": 1 for i in range(count)})
        made = within(cluster, 5, f"{count} unknown fields", lambda: cluster.request("POST", CONFIGMAPS, body))
        expect(set(answered(made, 201)) == {"apiVersion", "kind", "metadata", "data"}, f"not pruned: {list(made[1])[:9]}")
        refused = cluster.request("POST", CONFIGMAPS + "?fieldValidation=Strict", body)
        expect(len(json.dumps(answered(refused, 400))) < 40_000, "a refusal of more than 40 kB")
    connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=cluster.tls(), timeout=60)
    body["metadata"]["name"] = "unknown-told"
    connection.request("POST", CONFIGMAPS, json.dumps(body), {"Authorization": f"Bearer {cluster.token()}",
                                                            "Content-Type": "application/json"})
    warnings = connection.getresponse().headers.get_all("Warning")
    expect(warnings and 0 < sum(map(len, warnings)) < 10_000, f"{sum(map(len, warnings or []))} bytes of warnings")


@row("a JSON patch of 9,000 removals", "linear")
def patch_removals(cluster):
    cluster.create(CONFIGMAPS, config_map("removals", data={f"k{i}": "v" for i in range(9000)}))
    patch = [{"op": "remove", "path": f"/data/k{i}"} for i in range(9000)]
    left = answered(within(cluster, 3, "9,000 removals", lambda: json_patch(cluster, f"{CONFIGMAPS}/removals", patch)), 200)
    expect(not left.get("data"), f"{len(left['data'])} keys left")


@row("JSON patches of too many operations, of too much work, of copies that double", "refused by a limit, without memory")
def patch_limits(cluster):
    cluster.create(CONFIGMAPS, config_map("limits", data={"k": "v"}))
    path = f"{CONFIGMAPS}/limits"
    test = {"op": "test", "path": "/data/k", "value": "v"}
    answered(within(cluster, 3, "10,001 operations", lambda: json_patch(cluster, path, [test] * 10_001)), 413)
    before = cluster.rss_mib()
    copies = [{"op": "add", "path": "/x", "value": ["0123456789abcdef"] * 100}]
    copies += [{"op": "copy", "from": "/x", "path": "/x/-"}] * 18
    refused = answered(within(cluster, 3, "18 copies", lambda: json_patch(cluster, path, copies)), 413, 422)
    expect("copy of /x/-" in refused["message"], f"the operation is not named: {refused['message']}")
    front = [{"op": "add", "path": "/x", "value": [1] * 200_000}] + [{"op": "remove", "path": "/x/0"}] * 5000
    answered(within(cluster, 3, "removals from the front", lambda: json_patch(cluster, path, front)), 413)
    expect(cluster.rss_mib() < before + 400, f"{cluster.rss_mib() - before} MiB for refused patches")


@row("a JSON patch whose test fails", "the refusal names operation and path")
def failed_test(cluster):
    cluster.create(CONFIGMAPS, config_map("tested", data={"k": "v"}))
    patch = [{"op": "add", "path": "/data/a", "value": "1"}, {"op": "test", "path": "/data/k", "value": "w"}]
    refused = answered(json_patch(cluster, f"{CONFIGMAPS}/tested", patch), 422)
    expect("operation 1, test of /data/k" in refused["message"], refused["message"])


@row("edits that nest an object deeper than can be read", "refused; the object stays readable")
def levels(cluster):
    cluster.create(CONFIGMAPS, config_map("levels", data={"k": "v"}))
    path = f"{CONFIGMAPS}/levels"
    deep = "1"
    for _ in range(900):
        deep = '{"a":' + deep + "}"
    pointer = "/x" + "/a" * 890
    patch = f'[{{"op":"add","path":"/x","value":{deep}}},{{"op":"copy","from":"/x","path":"{pointer}"}}]'
    answered(within(cluster, 3, "doubled levels", lambda: json_patch(cluster, path, patch)), 413, 422)
    for kind in ("merge-patch", "strategic-merge-patch"):
        status, _ = cluster.request("PATCH", path, '{"x":' + deep + "}", content_type=f"application/{kind}+json")
        expect(status in (200, 400, 413, 422), f"{kind}: {status}")
    expect(answered(cluster.get(path), 200)["data"] == {"k": "v"}, "the object has changed")


@row("a strategic merge patch with an order of 20,000 containers", "linear")
def element_order(cluster):
    containers = [{"name": f"c{i}", "image": "i"} for i in range(2000)]
    pod = {"metadata": {"name": "ordered"}, "spec": {"containers": containers, "schedulerName": "nobody"}}
    answered(within(cluster, 5, "a pod of 2,000 containers", lambda: cluster.request("POST", PODS, pod)), 201)
    order = [{"name": f"c{i}"} for i in range(20_000)]
    patch = {"spec": {"$setElementOrder/containers": order, "containers": containers}}
    status, _ = within(cluster, 5, "an order of 20,000", lambda: cluster.request(
        "PATCH", f"{PODS}/ordered", patch, content_type="application/strategic-merge-patch+json"))
    expect(status in (200, 413, 422), f"answered {status}")
    cluster.request("DELETE", f"{PODS}/ordered")


@row("a list of 30 MB that is asked for packed", "it is packed beside the loop")
def packed_list(cluster):
    for i in range(30):
        cluster.create(CONFIGMAPS, config_map(f"packed-{i}", data={"k": os.urandom(450_000).hex()}))
    status, _ = within(cluster, 20, "a packed list", lambda: cluster.request("GET", CONFIGMAPS, headers={"Accept-Encoding": "gzip"}))
    expect(status == 200, f"answered {status}")
    for i in range(30):
        cluster.request("DELETE", f"{CONFIGMAPS}/packed-{i}")


@row("bodies that become a hundred times as large with their defaults", "refused before more is done with them")
def amplified(cluster):
    before = cluster.rss_mib()
    for count in (20_000, 1_000_000):
        body = '{"metadata":{"name":"a"},"spec":{"containers":[' + ",".join(["{}"] * count) + "]}}"
        answered(within(cluster, 5, f"{count} empty containers", lambda: cluster.request("POST", PODS, body)), 413)
    expect(cluster.rss_mib() < before + 600, f"{cluster.rss_mib() - before} MiB for refused pods")


@row("a job, a queue and a group of 1 MiB and more parts than anybody needs", "answered, without holding the loop")
def large_kinds(cluster):
    jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    task = {"name": "t", "replicas": 0, "template": template}
    bodies = [
        (jobs, {"metadata": {"name": "long"}, "spec": {"plugins": {"x" * 1_000_000: ["a"] * 100_000}, "tasks": [task]}}),
        (jobs, {"metadata": {"name": "events"},
                "spec": {"policies": [{"events": ["x"] * 100_000, "action": "AbortJob"}], "tasks": [task]}}),
        (jobs, {"metadata": {"name": "tasks"}, "spec": {"tasks": [{"replicas": 0, "template": template}] * 5000}}),
        (QUEUES, {"metadata": {"name": "amounts"},
                  "spec": {"capability": {f"example.com/r{i}": "-1" for i in range(50_000)}}}),
        (QUEUES, {"metadata": {"name": "paths", "annotations": {
            "volcano.sh/hierarchy": "root" + "/a" * 60_000, "volcano.sh/hierarchy-weights": "1" + "/1" * 60_000}},
            "spec": {}}),
    ]
    for path, body in bodies:
        name = body["metadata"]["name"]
        status, answer = within(cluster, 10, name, lambda: cluster.request("POST", path, body))
        expect(status in (201, 400, 413, 422), f"{name}: {status}")
        expect(status == 201 or len(json.dumps(answer)) < 300_000, f"{name}: a refusal of {len(json.dumps(answer))} bytes")
        cluster.request("DELETE", f"{path}/{name}")


@row("a table of endpoints with 20,000 addresses, each with 20,000 ports", "they are counted, not written out")
def endpoints_table(cluster):
    path = "/api/v1/namespaces/default/endpoints"
    subset = {"addresses": [{"ip": "1.2.3.4"}] * 20_000, "ports": [{"name": f"p{i}", "port": 80} for i in range(20_000)]}
    cluster.create(path, {"metadata": {"name": "many"}, "subsets": [subset]})
    table = within(cluster, 5, "the table", lambda: cluster.get(
        f"{path}/many", headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}))
    expect("+ 399999997 more..." in str(answered(table, 200)["rows"]), f"cells {table[1]['rows'][0]['cells']}")
    cluster.request("DELETE", f"{path}/many")


@row("labels, finalizers, owners and data keys by the ten thousand", "created, changed and deleted without holding the loop")
def many_parts(cluster):
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody"}
    parts = {
        "labels": lambda n: {"metadata": {"name": "parts", "labels": {f"l{i}": "v" for i in range(n)}}},
        "finalizers": lambda n: {"metadata": {"name": "parts", "finalizers": [f"example.com/f{i}" for i in range(n)]}},
        "owners": lambda n: {"metadata": {"name": "parts",
                                          "ownerReferences": [{**owner, "uid": f"u{i}"} for i in range(n)]}},
        "data": lambda n: {"metadata": {"name": "parts"}, "data": {f"k{i}": "v" for i in range(n)}},
    }
    path = f"{CONFIGMAPS}/parts"
    for what, make in parts.items():
        made = within(cluster, 5, f"create with many {what}", lambda: cluster.request("POST", CONFIGMAPS, make(10_000)))
        answered(made, 201)
        within(cluster, 5, f"update of many {what}", lambda: cluster.request("PUT", path, make(5_000)))
        apply = {"apiVersion": "v1", "kind": "ConfigMap", **make(7_000)}
        within(cluster, 5, f"apply of many {what}", lambda: cluster.request(
            "PATCH", path + "?fieldManager=me&force=true", apply, content_type="application/apply-patch+yaml"))
        within(cluster, 5, f"no {what}", lambda: cluster.request(
            "PATCH", path, {"metadata": {"labels": None, "finalizers": None, "ownerReferences": None}, "data": None},
            content_type="application/merge-patch+json"))
        cluster.request("DELETE", path)


@row("a body that repeats a key 100,000 times", "the last one counts; the warnings stay short")
def duplicate_keys(cluster):
    body = '{"metadata":{"name":"twice"},"data":{' + ",".join(['"k":"v"'] * 100_000) + "}}"
    answered(within(cluster, 5, "duplicate keys", lambda: cluster.request("POST", CONFIGMAPS, body)), 201)
    answered(cluster.request("POST", CONFIGMAPS + "?fieldValidation=Strict", body), 400)


@row("YAML whose aliases stand for gigabytes", "refused")
def yaml_aliases(cluster):
    long_text = 'a: &x "' + "y" * 1_000_000 + '"\nb: [' + ", ".join(["*x"] * 100_000) + "]\n"
    levels = "a0: &a0 [1,1,1,1,1,1,1,1,1]\n"
    levels += "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    for body in (long_text, levels):
        refused = answered(within(cluster, 5, "aliases", lambda: cluster.request(
            "POST", CONFIGMAPS, body, content_type="application/yaml")), 400)
        expect("excessive aliasing" in refused["message"], refused["message"])


@row("3 MiB of YAML in a quarter of a million lines", "read beside the threads that others wait for")
def yaml_lines(cluster):
    body = "metadata:\n  name: lines\ndata:\n" + "".join(f"  k{i}: v\n" for i in range(230_000))
    answered(within(cluster, 10, "YAML", lambda: cluster.request("POST", CONFIGMAPS, body,
                                                                 content_type="application/yaml")), 413)


@row("forty managers that each change a field", "the oldest become one, as in Kubernetes")
def managers(cluster):
    cluster.create(CONFIGMAPS, config_map("managed", data={}))
    for i in range(40):
        answered(cluster.request("PATCH", f"{CONFIGMAPS}/managed?fieldManager=m{i}", {"data": {f"k{i}": "v"}},
                                 content_type="application/merge-patch+json"), 200)
    entries = cluster.get(f"{CONFIGMAPS}/managed")[1]["metadata"]["managedFields"]
    expect(len(entries) <= 10 and entries[0]["manager"] == "ancient-changes", f"{[e['manager'] for e in entries]}")


def together(cluster, method, paths, body=None):
    """The same request for many paths on one connection; returns the processor time of the program."""
    connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=cluster.tls(), timeout=60 * PATIENCE)
    headers = {"Authorization": f"Bearer {cluster.token()}", "Content-Type": "application/json"}
    began = cluster.cpu_seconds()
    for i, path in enumerate(paths):
        connection.request(method, path, json.dumps(body(i)) if body else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        expect(answer.status in (200, 201), f"{method} {path}: {answer.status} {text[:200]}")
    connection.close()
    return cluster.cpu_seconds() - began


@row("2,000 objects selected by label, as a table, and deleted together", "the loop is not held")
def collections(cluster):
    together(cluster, "POST", [CONFIGMAPS] * 2000,
             lambda i: {"metadata": {"name": f"many-{i}", "labels": {"many": "yes"}}, "data": {"k": "v" * 500}})
    selected = f"{CONFIGMAPS}?labelSelector=many%3Dyes"
    found = within(cluster, 5, "a list by label", lambda: cluster.get(selected))
    expect(len(answered(found, 200)["items"]) == 2000, f"{len(found[1]['items'])} items")
    table = within(cluster, 5, "a table", lambda: cluster.get(
        selected, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}))
    expect(len(answered(table, 200)["rows"]) == 2000, "rows are missing")
    seen, token = 0, ""
    while True:
        page = answered(cluster.get(f"{selected}&limit=500&continue={token}"), 200)
        seen += len(page["items"])
        token = page["metadata"].get("continue", "")
        if not token:
            break
    expect(seen == 2000, f"{seen} items in pages")
    answered(within(cluster, 20, "a deletion of 2,000", lambda: cluster.request("DELETE", selected, timeout=60)), 200)
    expect(not cluster.get(selected)[1]["items"], "some are left")


@row("2,000 queues are made and deleted", "the last ones cost what the first ones did")
def queues(cluster):
    def make(first):
        return together(cluster, "POST", [QUEUES] * 500, lambda i: {"metadata": {"name": f"q{first + i}"}, "spec": {}})
    before, _ = loop_holds(cluster)
    costs = [make(first) for first in range(0, 2000, 500)]
    expect(costs[3] <= 3 * costs[0] + 1, f"500 queues cost {costs[0]:.1f} s of processor time, the last 500 {costs[3]:.1f} s")
    gone = together(cluster, "DELETE", [f"{QUEUES}/q{i}" for i in range(2000)])
    expect(gone <= 3 * sum(costs) + 1, f"deleting took {gone:.1f} s of processor time, making {sum(costs):.1f} s")
    expect(sum(costs) + gone < 60 * PATIENCE, f"{sum(costs) + gone:.1f} s of processor time for 2,000 queues")
    after, _ = loop_holds(cluster)
    expect(after == before, f"{after - before} callbacks held the loop")


if __name__ == "__main__":
    run(Cluster)
