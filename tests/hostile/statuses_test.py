#!/usr/bin/env python3
"""Statuses that other clients wrote: whatever counts stand in them, statuses go on being written, jobs run, and at rest
nothing is written."""
import time

from lib import Cluster, expect, row, run, wait_for

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
COMMANDS = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"
LARGEST = 2**31 - 1


def job(name, command):
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "command": command}]}
    task = {"name": "t", "replicas": 1, "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}], "template": {"spec": pod}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": {"schedulerName": "volcano", "minAvailable": 1, "tasks": [task]}}


def phase(cluster, name):
    return cluster.get(f"{JOBS}/{name}")[1].get("status", {}).get("state", {}).get("phase")


def write_status(cluster, path, status):
    code, answer = cluster.request("PATCH", f"{path}/status", {"status": status}, content_type="application/merge-patch+json")
    expect(code == 200, f"{path}: {code} {str(answer)[:300]}")


def revision(cluster):
    return int(cluster.get(f"{QUEUES}?limit=1")[1]["metadata"]["resourceVersion"])


@row("the largest count in queues, in the version of a job and in the failures of another", "sums stay counts; jobs run; at rest nothing is written")
def largest_counts(cluster):
    for name in ("one", "two"):
        cluster.create(QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": 1}})
    made = cluster.create(JOBS, job("held", ["sleep", "600"]))
    wait_for(20, "the job runs", lambda: phase(cluster, "held") == "Running")
    for name in ("one", "two"):
        write_status(cluster, f"{QUEUES}/{name}", {"running": LARGEST})
    write_status(cluster, f"{JOBS}/held", {"version": LARGEST, "retryCount": LARGEST})
    target = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "held", "uid": made["metadata"]["uid"]}
    cluster.create(COMMANDS, {"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"name": "abort"}, "action": "AbortJob", "target": target})
    wait_for(60, "the job is aborted", lambda: phase(cluster, "held") == "Aborted")
    cluster.create(JOBS, job("after", ["true"]))
    wait_for(30, "another job is done", lambda: phase(cluster, "after") == "Completed")
    wait_for(20, "the sum is written", lambda: cluster.get(f"{QUEUES}/root")[1]["status"].get("running") == LARGEST)
    expect("must be of type int32" not in cluster.output(), cluster.output()[-600:])
    time.sleep(3)
    before = revision(cluster)
    time.sleep(5)
    expect(revision(cluster) - before < 10, f"{revision(cluster) - before} writes in 5 s at rest")


if __name__ == "__main__":
    run(lambda: Cluster("--runtime", "process", "--host-rootfs"))
