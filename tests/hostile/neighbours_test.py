#!/usr/bin/env python3
"""What a pod does to other pods of its node: starts that hang, ends that take long, more containers than anybody needs."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from containers import PODS, create, delete, ended, is_running, pod, run_rows, status
from lib import expect, row, wait_for, web_socket


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


@row("260 commands at once in a container: the runtimes that start starved the probes of others", "commands are begun a few at a time, probes first; no probe fails, and all commands that were let in run")
def commands_beside_probes(cluster):
    create(cluster, "busy", "sleep 1000")
    create(cluster, "probed", "sleep 1000", {"livenessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1, "timeoutSeconds": 2, "failureThreshold": 1},
                                             "readinessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1, "timeoutSeconds": 2, "failureThreshold": 1}},
           restartPolicy="Always")
    for name in ("busy", "probed"):
        is_running(cluster, name)
    path = f"{PODS}/busy/exec?container=main&stdout=true&stderr=true&command=sleep&command=600"
    head = f"Authorization: Bearer {cluster.token()}\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n"
    held = []
    for _ in range(260):
        connection, answer = web_socket(cluster, path, head)
        expect(answer.startswith(b"HTTP/1.1 101 "), answer[:200])
        held.append(connection)
    def begun():
        listed = subprocess.run(["pgrep", "-c", "-f", "^sleep 600$"], capture_output=True, text=True).stdout
        return int(listed or 0) >= 250
    wait_for(120, "250 commands that run", begun)
    now = status(cluster, "probed")["containerStatuses"][0]
    expect(now["restartCount"] == 0 and now["ready"], f"a probe has failed: {now}")
    events = [e["message"] for e in cluster.get("/api/v1/namespaces/default/events")[1]["items"] if e["reason"] == "Unhealthy"]
    expect(not events, f"probes failed: {events[:3]}")
    for connection in held:
        connection.close()
    for name in ("busy", "probed"):
        delete(cluster, name)


if __name__ == "__main__":
    run_rows()
