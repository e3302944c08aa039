"""Pods of one shell script: made, watched, deleted. Containers need root and runc; the host's own root file system stands
in for images."""
import os
import shutil

from lib import ROWS, Cluster, Skipped, run, wait_for

PODS = "/api/v1/namespaces/default/pods"
CAN_RUN = os.geteuid() == 0 and all(shutil.which(word) for word in ("runc", "conmon", "ip"))


def start(*flags, **more):
    if not CAN_RUN:
        raise Skipped("containers need root, runc, conmon and ip")
    return Cluster("--node-name", "n1", "--host-rootfs", "--runtime", "runc", *flags, **more)


def pod(name, script, container=None, **spec):
    """A pod that runs a shell script once."""
    main = {"name": "main", "image": "i", "command": ["sh", "-c", script]}
    main.update(container or {})
    body = {"nodeName": "n1", "terminationGracePeriodSeconds": 1, "restartPolicy": "Never", "containers": [main]}
    body.update(spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": body}


def create(cluster, *words, **more):
    made = pod(*words, **more)
    cluster.create(PODS, made)
    return made["metadata"]["name"]


def status(cluster, name):
    return cluster.get(f"{PODS}/{name}")[1].get("status", {})


def state(cluster, name, kind="terminated"):
    statuses = status(cluster, name).get("containerStatuses") or [{}]
    return statuses[0].get("state", {}).get(kind)


def ended(cluster, name, seconds=30):
    return wait_for(seconds, f"the end of {name}", lambda: state(cluster, name))


def is_running(cluster, name):
    return wait_for(30, f"the start of {name}", lambda: state(cluster, name, "running"))


def delete(cluster, name, seconds=40):
    cluster.request("DELETE", f"{PODS}/{name}")
    wait_for(seconds, f"the deletion of {name}", lambda: cluster.get(f"{PODS}/{name}")[0] == 404)


def log_of(cluster, name):
    return str(cluster.get(f"{PODS}/{name}/log")[1])


def run_rows():
    """The rows of a file whose pods are containers."""
    if CAN_RUN:
        run(start)
    for name, *_ in ROWS:
        print(f"skip {name}: containers need root, runc, conmon and ip")
