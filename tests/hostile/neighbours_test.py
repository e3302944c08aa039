#!/usr/bin/env python3
"""What a pod does to other pods of its node: starts that hang, ends that take long, more containers than anybody needs."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from containers import PODS, create, delete, ended, pod, run_rows
from lib import expect, row, wait_for


def pod_that_hangs(name):
    """Its start waits at a FIFO where the runtime looks for users."""
    body = pod(name, "true", {"volumeMounts": [{"name": "v", "mountPath": "/etc/passwd", "subPath": "passwd"}]}, volumes=[{"name": "v", "emptyDir": {}}])
    body["spec"]["initContainers"] = [{"name": "first", "image": "i", "command": ["mkfifo", "/v/passwd"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]
    return body


@row("a dozen pods whose starts hang: no other pod of the node started for a minute", "others start in seconds, and those that hang are deleted in seconds")
def starts_that_hang(cluster):
    names = [f"hangs{number}" for number in range(12)]
    for name in names:
        cluster.create(PODS, pod_that_hangs(name))
    def hang():
        statuses = [cluster.get(f"{PODS}/{name}")[1]["status"] for name in names]
        return sum(bool(one.get("initContainerStatuses", [{}])[0].get("state", {}).get("terminated")) for one in statuses) >= 8
    wait_for(30, "the starts that hang", hang)
    create(cluster, "beside", "true")
    expect(ended(cluster, "beside", 20)["exitCode"] == 0, "the other pod")
    for name in names:
        cluster.request("DELETE", f"{PODS}/{name}")
    wait_for(30, "the deletion of those that hang", lambda: not [name for name in names if cluster.get(f"{PODS}/{name}")[0] != 404])
    delete(cluster, "beside")


if __name__ == "__main__":
    run_rows()
