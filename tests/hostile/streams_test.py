#!/usr/bin/env python3
"""Streams into pods, and tokens: commands that hang, output that nobody reads, frames that are none, tokens that are not ours."""
import base64
import json
import re
import socket
import struct
import time
import zlib

import lib
from lib import MEMORY, Cluster, expect, row, run, wait_for, web_socket

PODS = "/api/v1/namespaces/default/pods"
EXEC = f"{PODS}/target/exec?container=c&stdout=true&stderr=true"
V4 = "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n"


def start():
    cluster = Cluster("--runtime", "process", "--host-rootfs")
    node = wait_for(10, "a node", lambda: cluster.get("/api/v1/nodes")[1]["items"])[0]["metadata"]["name"]
    cluster.create(PODS, {"metadata": {"name": "target"}, "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [
        {"name": "c", "image": "i", "command": ["sleep", "1000"]}]}})
    wait_for(20, "the pod", lambda: cluster.get(f"{PODS}/target")[1]["status"].get("phase") == "Running")
    return cluster


def bearer(cluster):
    return f"Authorization: Bearer {cluster.token()}\r\n"


def command(*words):
    return EXEC + "".join(f"&command={word}" for word in words)


def port_head(cluster):
    return (f"POST {PODS}/target/portforward HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
            f"X-Stream-Protocol-Version: portforward.k8s.io\r\n{bearer(cluster)}\r\n").encode()


@row("commands that never end, more than the server has room for", "256 run, those above are told so, and all end with their clients")
def commands_that_hang(cluster):
    threads = len(cluster.threads())
    held, refused = [], 0
    for _ in range(270):
        connection, answer = web_socket(cluster, command("sleep", "4321"), bearer(cluster) + V4)
        expect(answer.startswith(b"HTTP/1.1 101 "), answer[:200])
        held.append(connection)
    time.sleep(1)
    for connection in held:
        connection.settimeout(0.05)
        try:
            refused += b"are open" in connection.recv(1000) + connection.recv(1000)
        except OSError:
            pass
    expect(refused == 14, f"{refused} of 270 were refused")
    for connection in held:
        connection.close()
    wait_for(20, "the end of all", lambda: len(cluster.threads()) <= threads)


def tenant(cluster, name):
    """The token of a service account that may run commands in pods of the namespace, and reach their ports."""
    accounts, roles = "/api/v1/namespaces/default/serviceaccounts", "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    cluster.create(accounts, {"metadata": {"name": name}})
    cluster.create(f"{roles}/roles", {"metadata": {"name": name}, "rules": [
        {"apiGroups": [""], "resources": ["pods", "pods/exec", "pods/attach", "pods/portforward", "pods/proxy"], "verbs": ["get", "create"]}]})
    cluster.create(f"{roles}/rolebindings", {"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
                                             "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})
    token = cluster.create(f"{accounts}/{name}/token", {"spec": {}})["status"]["token"]
    wait_for(10, "the rights of the account", lambda: cluster.get(f"{PODS}/target", headers={"Authorization": f"Bearer {token}"})[0] == 200)
    return f"Authorization: Bearer {token}\r\n"


def first_words(connection):
    """What a stream says soon after it was opened, without the empty word that each begins with."""
    connection.settimeout(5 * lib.PATIENCE)
    said = b""
    try:
        while len(said) < 8:
            part = connection.recv(1000)
            if not part:
                break
            said += part
    except OSError:
        pass
    return said


@row("one tenant opens 260 streams, by two service accounts of one namespace", "it has 64, and is told so; an administrator's command and port still get theirs, and /metrics counts")
def streams_of_one_tenant(cluster):
    threads = len(cluster.threads())
    heads = [tenant(cluster, "one"), tenant(cluster, "two")]
    held, refused = [], 0
    for i in range(260):
        connection, answer = web_socket(cluster, command("sleep", "4323"), heads[i % 2] + V4)
        expect(answer.startswith(b"HTTP/1.1 101 "), answer[:200])
        held.append(connection)
        if i >= 64:
            said = first_words(connection)
            expect(b"64 streams into pods open" in said, f"stream {i}: {said}")
            refused += 1
    expect(refused == 196, f"{refused} of 260 were refused")
    connection, _ = web_socket(cluster, command("echo", "hello"), bearer(cluster) + V4)
    expect(b"hello" in first_words(connection), "an administrator's command was not run")
    connection.close()
    text = cluster.get("/metrics")[1]
    counts = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("volcano_api_pod_streams")}
    expect(counts.get("volcano_api_pod_streams", 0) >= 64 and counts.get('volcano_api_pod_streams_refused_total{reason="share"}', 0) >= 196, str(counts))
    for connection in held:
        connection.close()
    wait_for(20, "the end of all", lambda: len(cluster.threads()) <= threads)
    connection, answer = web_socket(cluster, command("echo", "again"), heads[0] + V4)
    expect(b"again" in first_words(connection), "the tenant's share is not given back")
    connection.close()


@row("a command writes without end, and its clients read nothing", "it waits, memory stays, and it ends with its client")
def output_that_nobody_reads(cluster):
    before = cluster.rss_mib()
    held = []
    for _ in range(30):
        connection, _ = web_socket(cluster, command("cat", "/dev/zero"), bearer(cluster) + V4)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        held.append(connection)
    time.sleep(3)
    grown = cluster.rss_mib() - before
    expect(grown < 60, f"30 readers that do not read cost {grown} MiB")
    for connection in held:
        connection.close()


@row("SPDY that is none: nonsense, headers that grow, frames without end", "the connection ends; the server goes on")
def frames_that_are_none(cluster):
    head = port_head(cluster)
    before = cluster.rss_mib()
    ping = struct.pack(">III", 0x80030006, 4, 1)
    for nonsense in [b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n", struct.pack(">II", 0, 0xFFFFFF), struct.pack(">II", 0x80030001, 3) + b"abc",
                     struct.pack(">II", 0x80030001, 10) + b"\0" * 10, struct.pack(">IIII", 0x80030002, 8, 1, 0)]:
        began = time.monotonic()
        answer = cluster.exchange(head + nonsense, timeout=20)
        expect(answer.startswith(b"HTTP/1.1 101 ") and time.monotonic() - began < 15, answer[:200])
    expect(ping in cluster.exchange(head + ping, timeout=2), "no answer to a ping")
    with cluster.connect() as connection:  # data for streams that are not open is nobody's
        connection.sendall(head)
        for i in range(2000):
            connection.sendall(struct.pack(">II", 2 * i + 1, 10000) + b"x" * 10000)
    expect(cluster.rss_mib() - before < 60, f"{cluster.rss_mib() - before} MiB are held")


@row("a client of SPDY asks for answers to pings and reads none: 1.3 GB in eight seconds", "it is not read any further; memory stays")
def pings_whose_answers_nobody_reads(cluster):
    before = cluster.rss_mib()
    ping = struct.pack(">III", 0x80030006, 4, 1)
    with cluster.connect() as connection:
        connection.sendall(port_head(cluster))
        connection.settimeout(3)
        sent = 0
        try:
            while sent < 200_000_000:
                connection.sendall(ping * 5000)
                sent += 60_000
        except OSError:
            pass  # it waits for us
        expect(sent < 100_000_000, "200 MB of pings were taken")
        expect(cluster.rss_mib() - before < 60 * MEMORY, f"{cluster.rss_mib() - before} MiB are held")
        connection.settimeout(20)
        while sent > 0:  # and goes on when we read
            part = connection.recv(65536)
            expect(part, "the connection ended")
            sent -= len(part)


@row("a client fills the input of a command that does not read it, and goes: the command ran on for four hours",
     "the command ends soon after its client")
def clients_that_go_with_input_unread(cluster):
    threads = len(cluster.threads())
    path = command("sleep", "4322") + "&stdin=true"
    chunk = b"\x82\xff" + struct.pack(">Q", 99_001) + b"\0\0\0\0" + b"\0" + b"x" * 99_000
    for _ in range(3):
        connection, answer = web_socket(cluster, path, bearer(cluster) + V4)
        expect(answer.startswith(b"HTTP/1.1 101 "), answer[:200])
        connection.settimeout(2)
        try:
            while True:
                connection.sendall(chunk)
        except OSError:
            pass  # nobody takes more
        connection.close()
    wait_for(20, "the end of all", lambda: len(cluster.threads()) <= threads)


def small_bombs(count):
    """Frames that open streams, each with 64 KiB of nothing in its headers."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_DEFAULT_STRATEGY, spdy_dictionary())
    out = b""
    for i in range(count):
        block = packer.compress(struct.pack(">I", 8190) + bytes(8 * 8190)) + packer.flush(zlib.Z_SYNC_FLUSH)
        body = struct.pack(">IIH", 2 * i + 1, 0, 0) + block
        out += struct.pack(">II", 0x80030001, len(body)) + body
    return out


def spdy_dictionary():
    """As the server has it: words behind their lengths, then text."""
    with open(f"{lib.ROOT}/src/rt/http/spdy.cc") as source:
        code = source.read()
    def text(name):
        return "".join(re.findall('"([^"]*)"', code.split(name + " =")[1].split(";\n")[0]))
    words = b"".join(struct.pack(">I", len(word)) + word.encode() for word in text("kWords").split("|"))
    return words + text("kTail").encode()


@row("a megabyte of frames whose headers unpack to 600: 4 GB, and nobody was served for twelve seconds",
     "the connection ends at the first; small ones are taken, and others are served meanwhile")
def headers_that_unpack_to_much(cluster):
    before = cluster.rss_mib()
    head = f"{bearer(cluster)}Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"
    ping = struct.pack(">III", 0x80030006, 4, 1)
    for message in [small_bombs(9000), ping * 80000]:
        connection, answer = web_socket(cluster, f"{PODS}/target/portforward", head)
        expect(answer.startswith(b"HTTP/1.1 101 "), answer[:200])
        connection.sendall(b"\x82\xff" + struct.pack(">Q", len(message)) + b"\0\0\0\0" + message)
        began = time.monotonic()
        while time.monotonic() - began < 1.5:
            asked = time.monotonic()
            cluster.get("/api/v1/namespaces/default")
            expect(time.monotonic() - asked < 1 * lib.PATIENCE, f"another client waited {time.monotonic() - asked:.1f} s")
        connection.close()
    expect(cluster.rss_mib() - before < 100 * MEMORY, f"{cluster.rss_mib() - before} MiB are held")


@row("tokens that nobody signed, for others, or of an account that is gone", "401, in constant words")
def tokens_that_are_not_ours(cluster):
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    cluster.create(accounts, {"metadata": {"name": "a"}})
    def token(spec):
        return cluster.create(f"{accounts}/a/token", {"spec": spec})["status"]["token"]
    good, other = token({}), token({"audiences": ["elsewhere"]})
    def ask(value):
        return cluster.get("/api", headers={"Authorization": f"Bearer {value}"})[0]
    expect(ask(good) == 200, "a good token is refused")
    header, payload, signature = good.split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    claims["sub"] = "system:serviceaccount:kube-system:default"
    forged = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    for bad in [other, f"{header}.{forged}.{signature}", f"{none}.{payload}.", f"{none}.{payload}.{signature}", good + "A", "a.b.c", "." * 10000]:
        expect(ask(bad) == 401, f"{bad[:60]} is taken")
    cluster.request("DELETE", f"{accounts}/a")
    wait_for(5, "the end of the token", lambda: ask(good) == 401)
    # Also where the account could do nothing: 403 would say that the token is good.
    for method, path in [("GET", "/api/v1/secrets"), ("POST", "/api/v1/namespaces/default/pods"), ("DELETE", "/api/v1/nodes/x"), ("GET", "/api/v1/pods?watch=true")]:
        status = cluster.request(method, path, {"a": 1} if method == "POST" else None, headers={"Authorization": f"Bearer {good}"})[0]
        expect(status == 401, f"{method} {path} with a token of an account that is gone: {status}")


if __name__ == "__main__":
    run(start)
