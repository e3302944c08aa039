#!/usr/bin/env python3
"""Everything hostile at once for SOAK_SECONDS (600): requests, connections, watches that nobody reads, pods. Then: what
was acknowledged is there, also after kill -9; memory does not grow; no mount, cgroup, network link, process or descriptor is
left.

Memory is read after each of six equal parts, behind a minute that is not counted. A thread gives free pieces of memory back
when it next works, so that it swings (268, 328, 286, 310, 350, 308 MiB after a minute each): medians of three are compared. What
leaks grows by the same with each part."""
import hashlib
import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import Cluster, PATIENCE, expect, row, run, wait_for

SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
ROOT = os.geteuid() == 0


class Load:
    """Threads that do harm until told to stop. What goes wrong in the checks they make is collected."""

    def __init__(self, cluster):
        self.c = cluster
        self.stop = threading.Event()
        self.problems = []
        self.acknowledged = {}  # name of a ConfigMap: its value; None once its deletion was acknowledged
        self.counts = {}

    def run(self, seconds):
        threads = [threading.Thread(target=self.loop, args=(part, number)) for number, part in enumerate((self.writes, self.requests, self.framing, self.silence, self.watches, self.pods))]
        for thread in threads:
            thread.start()
        self.stop.wait(seconds)
        self.stop.set()
        for thread in threads:
            thread.join()
        self.stop.clear()
        expect(not self.problems, "; ".join(self.problems[:5]))

    def loop(self, part, number):
        dice = random.Random(number)
        while not self.stop.is_set() and len(self.problems) < 20:
            try:
                part(dice)
            except OSError:
                pass  # connections may be refused and cut: that is what the bounds are for
            except Exception as error:
                self.problems.append(f"{part.__name__}: {error}")
            self.counts[part.__name__] = self.counts.get(part.__name__, 0) + 1

    def writes(self, dice):
        """An ordinary client: everything it does is answered, and within bounds."""
        began = time.monotonic()
        name = f"kept-{len(self.acknowledged)}"
        status, answer = self.c.request("POST", MAPS, {"metadata": {"name": name}, "data": {"v": name}})
        if status == 201:
            self.acknowledged[name] = name
            if len(self.acknowledged) % 3 == 0:
                old = f"kept-{len(self.acknowledged) - 2}"
                if self.acknowledged.get(old) and self.c.request("DELETE", f"{MAPS}/{old}")[0] == 200:
                    self.acknowledged[old] = None
        elif status not in (409, 429, 503):
            self.problems.append(f"a plain write: {status} {str(answer)[:200]}")
        if time.monotonic() - began > 5 * PATIENCE:
            self.problems.append(f"a plain write took {time.monotonic() - began:.1f} s")
        time.sleep(0.01)

    def requests(self, dice):
        """Bodies and patches that try depth, size, steps and bytes."""
        pick = dice.randrange(7)
        if pick == 0:
            self.c.request("POST", MAPS, b'{"metadata":{"name":"x"},"data":{"k":"\xff\xfe"}}')
        elif pick == 1:
            self.c.request("POST", MAPS, '{"metadata":{"name":"x"},"data":' + '{"a":' * 5000 + "1" + "}" * 5000 + "}")
        elif pick == 2:
            self.c.request("POST", MAPS, {"metadata": {"name": "unknown"}, **{f"u{i}": i for i in range(dice.randrange(40000))}})
            self.c.request("DELETE", f"{MAPS}/unknown")
        elif pick == 3:
            self.c.request("POST", MAPS, {"metadata": {"name": "patched"}, "data": {"a": "x" * 1000}})
            steps = [{"op": "copy", "from": "/data", "path": f"/data/{i}"} for i in range(18)]
            self.c.request("PATCH", f"{MAPS}/patched", steps, content_type="application/json-patch+json")
            self.c.request("PATCH", f"{MAPS}/patched", [{"op": "remove", "path": "/data/a"}] * 9000, content_type="application/json-patch+json")
        elif pick == 4:
            self.c.request("POST", MAPS, b"x" * dice.randrange(4 << 20))
        elif pick == 5:
            self.c.request("POST", MAPS, "a: &a [x]\n" + "\n".join(f"b{i}: [*a, *a, *a, *a]" for i in range(2000)), content_type="application/yaml")
        else:
            for path in (f"{MAPS}?limit=99999999999999999999", f"{PODS}?labelSelector=" + "a," * 3000, f"{PODS}?continue=%ff%fe", "/api/v1/" + "x/" * 2000):
                self.c.get(path)

    def framing(self, dice):
        """Bytes that are nearly HTTP."""
        head = b"GET " + MAPS.encode() + b" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.c.token().encode() + b"\r\n"
        text = dice.choice([
            head + b"Transfer-Encoding: chunked, identity\r\nContent-Length: 5\r\n\r\nhello",
            head + b"Content-Length: 99999999999999999999\r\n\r\n",
            (head + b"\r\n") * 2000,
            b"\x16\x03\x01" + bytes(dice.randrange(256) for _ in range(200)),
            head + b"X: " + b"y" * 100000,
            head + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n",
        ])
        with self.c.connect() as connection:
            connection.settimeout(1)
            connection.sendall(text)
            if dice.random() < 0.5:
                connection.recv(1000)

    def silence(self, dice):
        """Connections that say nothing, or not even TLS."""
        held = []
        for _ in range(20):
            held.append(socket.create_connection(("127.0.0.1", self.c.port), timeout=5))
        held.append(self.c.connect())
        self.stop.wait(2)
        for connection in held:
            connection.close()

    def watches(self, dice):
        """Watches that nobody reads, beside large events."""
        held = []
        for _ in range(10):
            connection = self.c.connect()
            connection.sendall(b"GET " + MAPS.encode() + b"?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.c.token().encode() + b"\r\n\r\n")
            held.append(connection)
        for i in range(10):
            self.c.request("POST", MAPS, {"metadata": {"name": "large"}, "data": {"v": "x" * 900000}})
            self.c.request("DELETE", f"{MAPS}/large")
        self.stop.wait(1)
        for connection in held:
            connection.close()

    def pods(self, dice):
        """Pods that leave rubbish behind and do not want to go."""
        commands = [
            "printf 'a\\377b' > /dev/termination-log; exit 1",
            "trap '' TERM; sleep 600",
            "rm -f /dev/termination-log; mkfifo /dev/termination-log; exit 1",
            "i=0; while [ $i -lt 300 ]; do mkdir d && cd d || exit 1; i=$((i+1)); done",
            "head -c 300000 /dev/urandom; exit 3",
            "sleep 0.2 & sleep 0.3 & exit 0",
        ]
        names = []
        for i, command in enumerate(dice.sample(commands, 3)):
            name = f"soak-{dice.randrange(10**9)}"
            names.append(name)
            self.c.request("POST", PODS, {"metadata": {"name": name, "labels": {"soak": "1"}}, "spec": {"nodeName": self.node(), "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "any", "command": ["sh", "-c", command], "terminationMessagePolicy": "FallbackToLogsOnError"}]}})
        self.stop.wait(1 + dice.random() * 2)
        for name in names:
            self.c.request("DELETE", f"{PODS}/{name}")

    def node(self):
        return self.c.get("/api/v1/nodes")[1]["items"][0]["metadata"]["name"]


def leftovers(cluster):
    """What of the machine still belongs to the cluster's folder: mounts, processes, control groups, network links."""
    found = []
    with open("/proc/self/mountinfo") as mounts:
        found += [line.split()[4] for line in mounts if cluster.data in line]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as command:
                text = command.read()
            if cluster.data.encode() in text and int(pid) != cluster.process.pid:
                found.append(f"process {pid} {text[:100]}")
        except OSError:
            pass
    # Bridges and control groups are named after the node's folder.
    digest = hashlib.sha256(f"{cluster.data}/node".encode()).hexdigest()[:8]
    for folder, folders, _ in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(folder, one) for one in folders if one == f"volcano-{digest}"]
        folders[:] = [one for one in folders if folder.count("/") < 5]
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
    found += [line.split(":")[1].strip() for line in links.splitlines() if f"vcbr{digest}" in line]
    return found


def check_kept(cluster, load):
    """What was acknowledged is there, and what was deleted is not."""
    there = {m["metadata"]["name"] for m in cluster.get(MAPS)[1]["items"] if m["metadata"]["name"].startswith("kept-")}
    lost = [name for name, value in load.acknowledged.items() if value and name not in there]
    expect(not lost, f"lost: {lost[:5]}")
    back = [name for name, value in load.acknowledged.items() if value is None and name in there]
    expect(not back, f"deleted objects are back: {back[:5]}")


def settle(cluster, load):
    """Removes what the load made but for the last hundred, and waits until it is gone: what is left says little of memory."""
    check_kept(cluster, load)
    kept = [name for name, value in load.acknowledged.items() if value]
    for name in kept[:-100]:
        if cluster.request("DELETE", f"{MAPS}/{name}")[0] == 200:
            load.acknowledged[name] = None
    cluster.request("DELETE", "/api/v1/namespaces/default/events", timeout=120)
    cluster.request("DELETE", f"{PODS}?labelSelector=soak")
    wait_for(60, "the end of all pods", lambda: not cluster.get(PODS)[1]["items"])
    for name in ("large", "patched", "unknown", "x"):
        cluster.request("DELETE", f"{MAPS}/{name}")
    time.sleep(5)


def fill_history(cluster):
    """The window of watches holds 64 MiB: it is full before anything is measured."""
    for i in range(90):
        cluster.request("POST", MAPS, {"metadata": {"name": "fill"}, "data": {"v": str(i) + "x" * 900000}})
        cluster.request("DELETE", f"{MAPS}/fill")


def part(cluster, load):
    """Memory (MiB), descriptors and threads at rest, after a sixth of the time."""
    load.run(SECONDS / 6)
    settle(cluster, load)
    fill_history(cluster)
    return cluster.rss_mib("RssAnon"), cluster.descriptors(), len(cluster.threads())


@row(f"all of it at once for {SECONDS} s", "nothing acknowledged is lost, memory comes back, nothing is left behind")
def soak():
    cluster = Cluster("--host-rootfs", *([] if ROOT else ["--runtime", "process"]))
    wait_for(30, "a node", lambda: cluster.get("/api/v1/nodes")[1]["items"])
    load = Load(cluster)
    load.run(min(60, SECONDS / 4))
    parts = [part(cluster, load) for _ in range(6)]
    wait_for(30, "the end of connections", lambda: cluster.descriptors() <= parts[0][1] + 5)
    wait_for(30, "the end of threads", lambda: len(cluster.threads()) <= parts[0][2] + 1)
    memory, descriptors, threads = ([one[i] for one in parts] for i in range(3))
    print(f"    {load.counts}; memory {memory} MiB, {descriptors} descriptors, {threads} threads", flush=True)
    before, after = statistics.median(memory[:3]), statistics.median(memory[3:])
    expect(after <= before * 1.2, f"memory grew from {before} to {after} MiB: {memory}")
    cluster.check_healthy()
    cluster.kill()
    cluster.start()
    check_kept(cluster, load)
    cluster.stop()
    end = time.monotonic() + 20 * PATIENCE
    while leftovers(cluster) and time.monotonic() < end:
        time.sleep(0.5)
    expect(not leftovers(cluster), f"left behind: {leftovers(cluster)[:5]}")
    cluster.remove()


run()
