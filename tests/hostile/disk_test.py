#!/usr/bin/env python3
"""The disk below the data folder: files that the node gives to containers, and that they can write. Needs root and runc."""
from containers import create, delete, run_rows, status
from lib import expect, row, wait_for


def evicted(cluster, name):
    """Why the pod was evicted."""
    def over():
        now = status(cluster, name)
        return now.get("reason") == "Evicted" and now["message"]
    return wait_for(45, f"the eviction of {name}", over)


WRITE = "head -c 40000000 /dev/zero > {}; sleep 1000"


@row("a pod with limits.ephemeral-storage of 20Mi wrote 573 MB to its termination message, /etc/hosts, /etc/hostname and /etc/resolv.conf",
     "it is evicted, whichever of them it writes")
def given_files_count(cluster):
    paths = {"message": "/dev/termination-log", "hosts": "/etc/hosts", "hostname": "/etc/hostname", "resolv": "/etc/resolv.conf"}
    for name, path in paths.items():
        create(cluster, f"limited-{name}", WRITE.format(path), {"resources": {"limits": {"ephemeral-storage": "20Mi"}}})
    for name in paths:
        why = evicted(cluster, f"limited-{name}")
        expect("exceeds the total limit" in why or "exceeded its local" in why, why)
        delete(cluster, f"limited-{name}")


@row("the same by a container that ends and starts again, so that each run's message is a file of its own", "the files of all runs count")
def messages_of_runs_that_ended_count(cluster):
    create(cluster, "again", "head -c 12000000 /dev/zero > /dev/termination-log; sleep 1; exit 1",
           {"resources": {"limits": {"ephemeral-storage": "20Mi"}}}, restartPolicy="Always")
    why = wait_for(90, "the eviction", lambda: status(cluster, "again").get("message"))
    expect("exceed" in why, why)
    delete(cluster, "again")


@row("a pod without limits writes 40 MB to files that the node gives it", "these have a limit of their own; the pod's own files have none")
def given_files_have_a_limit_of_their_own(cluster):
    create(cluster, "unlimited", WRITE.format("/etc/hosts"))
    create(cluster, "own-files", WRITE.format("/tmp/own"))
    why = evicted(cluster, "unlimited")
    expect("/etc/hosts" in why and "16777216" in why, why)
    expect(status(cluster, "own-files").get("phase") == "Running", "a pod's own files without a limit are none of this")
    for name in ("unlimited", "own-files"):
        delete(cluster, name)


if __name__ == "__main__":
    run_rows()
