#!/usr/bin/env python3
"""Objects whose parts multiply (each of thousands in each of thousands), and objects that own each other: refused or borne by
the whole of `volcano up`; pods, controllers and other clients go on."""
import time

from lib import MEMORY, PATIENCE, Cluster, expect, row, run, wait_for

RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
PODS = "/api/v1/namespaces/default/pods"
SETS = "/apis/apps/v1/namespaces/default/replicasets"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
MAPS = "/api/v1/namespaces/default/configmaps"


def quickly(cluster, seconds, mebibytes, what, work):
    """Plays `work`; Failed if it takes longer, or if the program holds much more memory behind it."""
    before, began = cluster.rss_mib(), time.monotonic()
    result = work()
    took = time.monotonic() - began
    expect(cluster.alive(), f"{what} ended the program: {cluster.output()[-500:]}")
    expect(took <= seconds * PATIENCE, f"{what} took {took:.1f} s")
    grown = cluster.rss_mib("VmHWM") - before
    expect(grown <= mebibytes * MEMORY, f"{what} took {grown} MiB")
    return result


def pod(name, containers, **spec):
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def container(name="c", **more):
    return {"name": name, "image": "i", **more}


@row("a Role of a namespace's administrator whose words name a thousand million combinations", "judged at once, others served")
def role_words(cluster):
    admin = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"}
    cluster.create(f"{RBAC}/rolebindings", {"metadata": {"name": "eve"}, "roleRef": admin, "subjects": [
        {"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}]})
    rules = [{"verbs": ["get"] * 1000, "apiGroups": [""] * 1000, "resources": ["pods"] * 1000}]
    status, answer = quickly(cluster, 3, 200, "the Role", lambda: cluster.request(
        "POST", f"{RBAC}/roles", {"metadata": {"name": "words"}, "rules": rules}, headers={"Impersonate-User": "eve"}))
    expect(status == 201, f"{status} {str(answer)[:300]}")


@row("a review of 100,000 groups where 100 bindings are", "refused with the bound")
def groups(cluster):
    view = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    for i in range(100):
        cluster.create(f"{RBAC}/rolebindings", {"metadata": {"name": f"group-{i}"}, "roleRef": view, "subjects": [
            {"kind": "Group", "name": f"g{i}", "apiGroup": "rbac.authorization.k8s.io"}]})
    wish = {"namespace": "default", "verb": "get", "resource": "pods"}
    status, answer = quickly(cluster, 2, 200, "the review", lambda: cluster.request(
        "POST", "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
        {"spec": {"groups": ["a"] * 100_000, "resourceAttributes": wish}}))
    expect(status == 400 and "must have at most 1000" in str(answer), f"{status} {str(answer)[:300]}")


@row("a pod with 40,000 capabilities that it may not have", "refused in a short answer, without memory")
def capabilities(cluster):
    context = {"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"] * 40_000}}
    status, answer = quickly(cluster, 10, 400, "the pod", lambda: cluster.request(
        "POST", PODS, pod("capable", [container(securityContext=context)]), timeout=60))
    expect(status == 422 and len(str(answer)) < 100_000, f"{status}, {len(str(answer))} bytes")


@row("a LimitRange of 2,000 defaults, and a pod of 20,000 containers", "the pod is refused as too large")
def defaults(cluster):
    ranges = "/api/v1/namespaces/default/limitranges"
    amounts = {f"x.io/r{i}": "1" for i in range(2000)}
    cluster.create(ranges, {"metadata": {"name": "many"}, "spec": {"limits": [{"type": "Container", "default": amounts}]}})
    status, answer = quickly(cluster, 20, 800, "the pod", lambda: cluster.request(
        "POST", PODS, pod("filled", [container(f"c{i}") for i in range(20_000)]), timeout=60))
    expect(status == 413, f"{status} {str(answer)[:300]}")
    cluster.request("DELETE", f"{ranges}/many")


@row("a ReplicaSet that owns itself, with a pod and a budget", "nothing recurses; it can be deleted in the foreground")
def owns_itself(cluster):
    template = {"metadata": {"labels": {"own": "self"}}, "spec": {"containers": [container()], "schedulerName": "nobody"}}
    made = cluster.create(SETS, {"metadata": {"name": "self"}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"own": "self"}}, "template": template}})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "self", "uid": made["metadata"]["uid"], "controller": True,
             "blockOwnerDeletion": True}
    status, answer = cluster.request("PATCH", f"{SETS}/self", {"metadata": {"ownerReferences": [owner]}},
                                     content_type="application/merge-patch+json")
    expect(status == 200, f"{status} {str(answer)[:300]}")
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    cluster.create(budgets, {"metadata": {"name": "self"}, "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"own": "self"}}}})
    wait_for(20, "the budget's status", lambda: cluster.get(f"{budgets}/self")[1].get("status", {}).get("expectedPods") == 1)
    cluster.request("DELETE", f"{SETS}/self", {"propagationPolicy": "Foreground"})
    wait_for(20, "its deletion in the foreground", lambda: cluster.get(f"{SETS}/self")[0] == 404)


@row("a Job of two thousand million replicas that tells each of all the others", "refused in events, without memory")
def tells_all(cluster):
    task = {"replicas": 2_000_000_000, "minAvailable": 1, "template": {"spec": {"containers": [container()], "restartPolicy": "Never"}}}
    for plugins in ({"ssh": [], "svc": []}, {"tensorflow": []}):
        name = "-".join(plugins)
        def made():
            cluster.create(JOBS, {"metadata": {"name": name}, "spec": {
                "minAvailable": 1, "plugins": plugins, "tasks": [{"name": "worker", **task}]}})
            wait_for(30, "an event of the refusal", lambda: any(
                one["involvedObject"]["name"] == name and one["type"] == "Warning"
                for one in cluster.get("/api/v1/namespaces/default/events")[1]["items"]))
        quickly(cluster, 40, 800, f"a Job with {name}", made)
        cluster.request("DELETE", f"{JOBS}/{name}")


@row("20 pods of 8,000 terms, each about every other pod", "they wait and say why; other pods are bound")
def terms(cluster):
    def term(at):
        return {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {},
                "labelSelector": {"matchExpressions": [{"key": f"q{at}", "operator": "DoesNotExist"}]}}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    def made():
        for at in range(20):
            affinity = {"podAntiAffinity": {required: [term(at * 8000 + i) for i in range(8000)]}}
            cluster.create(PODS, pod(f"apart-{at}", [container()], affinity=affinity, schedulerName="volcano"))
        cluster.create(PODS, pod("plain", [container(command=["true"])], schedulerName="volcano", restartPolicy="Never"))
        wait_for(60, "the binding of a plain pod", lambda: cluster.get(f"{PODS}/plain")[1]["spec"].get("nodeName"))
    quickly(cluster, 90, 1500, "the pods", made)
    for name in [f"apart-{at}" for at in range(20)] + ["plain"]:
        cluster.request("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")


@row("a pod that names one key of a megabyte 40,000 times", "its start fails with a reason; the program's memory stays")
def volumes(cluster):
    cluster.create(MAPS, {"metadata": {"name": "large"}, "data": {"k": "x" * 1_000_000}})
    items = [{"key": "k", "path": f"f{i}"} for i in range(40_000)]
    def made():
        cluster.create(PODS, pod("mounts", [container(command=["true"])], volumes=[
            {"name": "v", "configMap": {"name": "large", "items": items}}], schedulerName="default-scheduler"))
        wait_for(40, "the event of a failed mount", lambda: any(
            one["involvedObject"]["name"] == "mounts" and one["reason"] == "FailedMount"
            for one in cluster.get("/api/v1/namespaces/default/events")[1]["items"]))
    quickly(cluster, 50, 800, "the pod", made)
    cluster.request("DELETE", f"{PODS}/mounts?gracePeriodSeconds=0")


if __name__ == "__main__":
    run(lambda: Cluster("--runtime", "process", "--host-rootfs"))
