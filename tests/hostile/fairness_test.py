#!/usr/bin/env python3
"""Floods of requests by one user while another works: whose turn it is, what is refused, and who never waits."""
import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

import http2_frames
from lib import PATIENCE, Cluster, expect, row, run, wait_for

MAPS = "/api/v1/namespaces/default/configmaps"
LISTS = [(MAPS, ""), (MAPS, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n"), (f"{MAPS}?labelSelector=part%3Da", ""),
         (MAPS, "Accept-Encoding: gzip\r\n")]


def user(cluster, name):
    """A service account that may do everything with ConfigMaps of its namespace; its token."""
    account = "/api/v1/namespaces/default/serviceaccounts"
    cluster.request("POST", account, {"metadata": {"name": name}})
    cluster.request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
        "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})
    answer = cluster.create(f"{account}/{name}/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    return answer["status"]["token"]


def ask(connection, token, method, path, body=None, headers=None):
    """(status, body) over a connection that is kept."""
    connection.request(method, path, body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})})
    answer = connection.getresponse()
    return answer.status, answer.read()


def metric(cluster, name, part=""):
    """The sum of a metric's series that have such a part in their labels."""
    text = cluster.get("/metrics")[1]
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name) and part in line)


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


# --- the flood, which is a process of its own: its threads would hold up the one that measures ---


def flood_forever(ca, port, token, connections, depth, lists):
    """Each connection asks again as soon as it is answered; `depth` requests at once. Says what it was answered."""
    context = ssl.create_default_context(cafile=ca)
    answers, lock = {}, threading.Lock()

    def one(number):
        path, header = LISTS[number % lists]
        request = f"GET {path} HTTP/1.1\r\nHost: a\r\n{header}Authorization: Bearer {token}\r\n\r\n".encode()
        while True:
            try:
                raw = socket.create_connection(("127.0.0.1", port), timeout=60)
                with context.wrap_socket(raw, server_hostname="127.0.0.1") as connection:
                    connection.sendall(request * depth)
                    heard = connection.makefile("rb")
                    while True:
                        status, length = int(heard.readline().split()[1]), 0
                        while (line := heard.readline().strip()):
                            if line.lower().startswith(b"content-length:"):
                                length = int(line.split(b":")[1])
                        while length > 0:
                            length -= len(heard.read(min(length, 1 << 20)))
                        with lock:
                            answers[status] = answers.get(status, 0) + 1
                        connection.sendall(request)
            except (OSError, IndexError, ValueError):
                time.sleep(0.05)

    for number in range(connections):
        threading.Thread(target=one, args=(number,), daemon=True).start()
    while True:
        time.sleep(0.2)
        with lock:
            print(json.dumps(answers), flush=True)


class Flood:
    def __init__(self, cluster, token, connections, depth=1, lists=len(LISTS)):
        self.out = os.path.join(cluster.scratch, f"flood-{time.monotonic_ns()}")
        with open(self.out, "w") as out:
            self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--flood", os.path.join(cluster.data, "keys/ca.crt"),
                                             str(cluster.port), token, str(connections), str(depth), str(lists)], stdout=out, stderr=out)

    def answers(self):
        with open(self.out) as out:
            lines = [line for line in out.read().splitlines() if line.startswith("{")]
        return {int(status): count for status, count in json.loads(lines[-1]).items()} if lines else {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def gets(cluster, token, path, seconds):
    """How long each of one user's requests took, one after the other; Failed if one is refused."""
    connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=cluster.tls(), timeout=20 * PATIENCE)
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(took) < 20:
        began = time.monotonic()
        status, body = ask(connection, token, "GET", path)
        took.append(time.monotonic() - began)
        expect(status == 200, f"a get was answered {status} {body[:300]}")
    connection.close()
    return sorted(took)


def slowness(cluster, token):
    """How much slower this machine is than a quiet one, where a get takes a millisecond; 1 at least."""
    return PATIENCE * max(1, median(gets(cluster, token, f"{MAPS}/fill-1", 1)) / 0.001)


def fill(cluster, count, size):
    for i in range(count):
        cluster.create(MAPS, {"metadata": {"name": f"fill-{i}", "labels": {"part": "ab"[i % 2]}}, "data": {"k": "x" * size}})


@row("one user floods with 200 connections of long lists", "gets of another have a median under 50 ms and none fails; what is long waits its turn, too")
def flood_of_lists(cluster):
    fill(cluster, 500, 4000)
    slow = slowness(cluster, user(cluster, "calm"))
    with Flood(cluster, user(cluster, "noisy"), 200) as flood:
        wait_for(20, "the flood", lambda: sum(flood.answers().values()) > 100)
        took = gets(cluster, user(cluster, "calm"), f"{MAPS}/fill-1", 5)
        # A write of 100 kB is decided off the loop, where the lists of the other are made, too.
        connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=cluster.tls(), timeout=20 * PATIENCE)
        token, writes = user(cluster, "calm"), []
        for i in range(10):
            began = time.monotonic()
            status, body = ask(connection, token, "POST", MAPS, json.dumps({"metadata": {"name": f"large-{i}"}, "data": {"k": "x" * 100_000}}))
            expect(status == 201, f"a large write was answered {status} {body[:300]}")
            writes.append(time.monotonic() - began)
        answers = flood.answers()
    print(f"# gets: median {median(took) * 1000:.1f} ms, worst {max(took) * 1000:.0f} ms; large writes: median {median(writes) * 1000:.0f} ms; "
          f"this machine is {slow:.1f} times as slow as a quiet one; the flood was answered {answers}", flush=True)
    expect(median(took) < 0.05 * slow, f"the median of {len(took)} gets was {median(took) * 1000:.0f} ms")
    expect(median(writes) < 0.5 * slow, f"the median of large writes was {median(writes) * 1000:.0f} ms")
    expect(answers.get(200, 0) > 0, f"the flood itself starved: {answers}")
    expect(metric(cluster, "apiserver_flowcontrol_dispatched_requests_total") > 100, "nothing was counted")
    cluster.request("DELETE", MAPS)


@row("one user asks for more at once than may wait, over HTTP/2, and goes away", "429 for that user alone; what waits goes with the peer")
def more_than_may_wait(cluster):
    fill(cluster, 60, 4000)
    token, calm = user(cluster, "noisy"), user(cluster, "calm")
    fields = [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", f"{MAPS}?labelSelector=part%3Dc"), ("authorization", f"Bearer {token}")]
    head = b"".join(b"\0" + http2_frames.text(name) + http2_frames.text(value) for name, value in fields)
    slow = slowness(cluster, calm)

    def refused(reason):
        return metric(cluster, "apiserver_flowcontrol_rejected_requests_total", f'reason="{reason}"')

    def floods():
        """What a flood of 20 connections adds to the refusals of both kinds."""
        held = []
        for _ in range(20):
            connection = http2_frames.dial(cluster)
            ends = http2_frames.END_HEADERS | http2_frames.END_STREAM
            connection.sendall(b"".join(http2_frames.frame(http2_frames.HEADERS, ends, 2 * i + 1, head) for i in range(100)))
            held.append(connection)
        took = gets(cluster, calm, f"{MAPS}/fill-1", 0.2)
        expect(cluster.get("/metrics")[0] == 200, "the administrator was refused")
        for connection in held:
            connection.close()
        expect(median(took) < 0.05 * slow, f"the median of {len(took)} gets was {median(took) * 1000:.0f} ms")
        return refused("queue-full") > 0 and refused("cancelled") > 0

    wait_for(20, "a refusal for want of room, and one that nobody waited for", floods)
    wait_for(20, "the end of the queue", lambda: metric(cluster, "apiserver_flowcontrol_current_inqueue_requests") == 0)
    cluster.request("DELETE", MAPS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--flood"]:
        ca, port, token, connections, depth, lists = sys.argv[2:]
        flood_forever(ca, int(port), token, int(connections), int(depth), int(lists))
    run(lambda: Cluster("--runtime", "process", "--host-rootfs"))
