#!/usr/bin/env python3
"""Requests: connections that say nothing, do not read, or come too often; framing, headers, numbers, text; WebSockets."""
import base64
import os
import resource
import socket
import struct
import time

import lib
from lib import MEMORY, Cluster, Skipped, expect, row, run, wait_for, web_socket

MAPS = "/api/v1/namespaces/default/configmaps"


def http(cluster, head, body=b"", method="GET", path="/healthz", token=True):
    """One raw request; the answer's bytes until the server closes."""
    text = f"{method} {path} HTTP/1.1\r\n{head}Connection: close\r\n"
    if token:
        text += f"Authorization: Bearer {cluster.token()}\r\n"
    return cluster.exchange(text.encode() + b"\r\n" + body)


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def idle_connections(cluster, count):
    return [cluster.connect() for _ in range(count)]


@row("a client pipelined 6 MB of list requests and read nothing: 3 GB of memory",
     "a request is looked at when the answers before it are read; memory stays")
def pipelined_requests_that_nobody_reads(cluster):
    for i in range(40):
        cluster.create(MAPS, {"metadata": {"name": f"fat-{i}"}, "data": {"k": "x" * 50000}})
    cluster.get(MAPS)
    before = cluster.rss_mib()
    request = (f"GET {MAPS} HTTP/1.1\r\nHost: a\r\nAccept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n"
               f"Authorization: Bearer {cluster.token()}\r\n\r\n").encode()
    plain = request.replace(b"application/json;as=Table;v=v1;g=meta.k8s.io", b"application/json")
    connections = idle_connections(cluster, 3)
    for connection in connections:
        connection.settimeout(2)
        try:
            for _ in range(30000):
                connection.sendall(plain)
        except (TimeoutError, OSError):
            pass
    time.sleep(1)
    grown = cluster.rss_mib() - before
    for connection in connections:
        connection.close()
    expect(grown < 100, f"memory grew by {grown} MiB")
    cluster.request("DELETE", MAPS)


@row("a thousand watches that nobody reads each kept 64 MiB of events",
     "they wait in history, which all share; memory stays; one that reads is told everything")
def watches_that_nobody_reads(cluster):
    count, writes, size = 300, 300, 100_000
    # Watches of one namespace, of everything, and as tables.
    kinds = [(f"{MAPS}?watch=true", ""), ("/api/v1/configmaps?watch=true", ""),
             (f"{MAPS}?watch=true", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n")]
    connections = []
    for i in range(count):
        path, accept = kinds[i % len(kinds)]
        connection = cluster.connect()
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n{accept}Authorization: Bearer {cluster.token()}\r\n\r\n".encode())
        connection.recv(64)
        connections.append(connection)
    before = cluster.rss_mib()
    cluster.create(MAPS, {"metadata": {"name": "big"}, "data": {"k": "0"}})
    for i in range(writes):
        cluster.request("PUT", f"{MAPS}/big", {"metadata": {"name": "big"}, "data": {"k": str(i % 10) * size}})
    grown = cluster.rss_mib() - before
    # 30 MB of events: once in history, and what the kernel takes is not ours.
    expect(grown < 400, f"{count} watches cost {grown} MiB for {writes * size >> 20} MiB of events")
    for connection in connections:
        connection.close()
    cluster.request("DELETE", f"{MAPS}/big")


@row("a watcher that reads late lost events, or was ended too early", "it is told everything that history still has")
def a_watcher_that_reads_late(cluster):
    connection = cluster.connect()
    connection.sendall(f"GET {MAPS}?watch=true&timeoutSeconds=300 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                       f"Authorization: Bearer {cluster.token()}\r\n\r\n".encode())
    connection.recv(16)
    cluster.create(MAPS, {"metadata": {"name": "late"}, "data": {"k": "0"}})
    for i in range(200):
        cluster.request("PUT", f"{MAPS}/late", {"metadata": {"name": "late"}, "data": {"k": f"<{i}>" + "x" * 100_000}})
    cluster.request("DELETE", f"{MAPS}/late")
    connection.settimeout(30)
    heard = b""
    while b'{"type":"DELETED"' not in heard:
        part = connection.recv(1 << 20)
        expect(part, f"the watch ended after {len(heard)} bytes")
        heard += part
    for i in range(200):
        expect(f"\\u003c{i}\\u003e".encode() in heard or f"<{i}>".encode() in heard, f"event {i} was not told")
    connection.close()


@row("readers of a log that did not read it each held all of it in memory", "the file is read as fast as they take it; one that reads gets all")
def logs_that_nobody_reads(_):
    cluster = Cluster("--runtime", "process", "--host-rootfs")
    try:
        pods = "/api/v1/namespaces/default/pods"
        node = wait_for(10, "a node", lambda: cluster.get("/api/v1/nodes")[1]["items"])[0]["metadata"]["name"]
        script = "for i in $(seq 60); do head -c 100000 /dev/zero | tr '\\0' x; echo; done"
        cluster.create(pods, {"metadata": {"name": "talker"}, "spec": {"nodeName": node, "restartPolicy": "Never", "containers": [
            {"name": "c", "image": "nginx:latest", "command": ["sh", "-c", script]}]}})
        wait_for(30, "the end of the pod", lambda: cluster.get(f"{pods}/talker")[1]["status"].get("phase") == "Succeeded")
        before = cluster.rss_mib()
        connections = idle_connections(cluster, 60)
        for connection in connections:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(f"GET {pods}/talker/log HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {cluster.token()}\r\n\r\n".encode())
        time.sleep(3)
        grown = cluster.rss_mib() - before
        expect(grown < 100 * lib.MEMORY, f"60 readers of 6 MB cost {grown} MiB")
        for connection in connections:
            connection.close()
        status, text = cluster.get(f"{pods}/talker/log")
        expect(status == 200 and len(text) == 60 * 100001, f"the log has {len(text)} bytes")
        cluster.request("DELETE", f"{pods}/talker?gracePeriodSeconds=0")
        cluster.check_healthy()
        cluster.stop()
    finally:
        cluster.remove()


@row("a connection that finished TLS and said nothing stayed for ever", "it is closed, and so is one that never finishes TLS")
def silent_connections(cluster):
    quiet = cluster.connect()
    quiet.settimeout(120)
    unfinished = socket.create_connection(("127.0.0.1", cluster.port))
    unfinished.settimeout(30)
    expect(unfinished.recv(1) == b"", "the server spoke before the handshake")
    began = time.monotonic()
    expect(quiet.recv(1) == b"", "the server spoke unasked")
    expect(time.monotonic() - began < 100, "the silent connection stayed too long")


@row("out of descriptors, accept failed and was called again at once: one core busy, nobody served",
     "it waits; those above the limit get 503; afterwards everything works")
def more_connections_than_descriptors(_):
    small = Cluster(start=False)
    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            small.start()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        held, answer = [], b""
        while len(held) < 256:
            connection = small.connect()
            held.append(connection)
            # Peers that say who they are keep their seats; strangers would make room for one another.
            connection.sendall(f"GET /api HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {small.token()}\r\n\r\n".encode())
            answer = connection.recv(65536)
            if b" 200 " not in answer:
                break
        expect(100 < len(held) < 256, f"{len(held)} connections with 256 descriptors")
        expect(b" 503 " in answer and b"Retry-After" in answer and b"connections" in answer, f"above the limit: {answer[:300]}")
        for _ in range(100):  # these say nothing, and some get no descriptor
            held.append(socket.create_connection(("127.0.0.1", small.port), timeout=10))
        cpu = small.cpu_seconds()
        time.sleep(2)
        expect(small.cpu_seconds() - cpu < 1.0, "accept spins")
        for connection in held:
            connection.close()
        wait_for(15, "service after the flood", lambda: small.request("GET", "/readyz", ok_to_fail=True)[0] == 200)
        small.check_healthy()
    finally:
        small.remove()


@row("Transfer-Encoding that is not exactly `chunked`, several of them, or with Content-Length was passed by; Host was not looked at",
     "400 and closed")
def framing(cluster):
    chunked = b"0\r\n\r\n"
    for head in ["Host: a\r\nHost: b\r\n", "", "Host: a\r\nTransfer-Encoding: gzip\r\n", "Host: a\r\nTransfer-Encoding: identity\r\n",
                 "Host: a\r\nTransfer-Encoding: chunked, gzip\r\n", "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                 "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Host: a\r\nTransfer-Encoding: \x0bchunked\r\n",
                 "Host: a\r\nContent-Length: 99999999999999999999\r\n", "Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n"]:
        answer = http(cluster, head, chunked + b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", "POST", MAPS)
        expect(status_of(answer) == 400, f"{head!r}: {answer[:200]}")
        expect(answer.count(b"HTTP/1.1 ") == 1, f"{head!r}: answered twice")
        expect(b'"details":' in answer, f"no details: {answer[-300:]}")
    expect(b"99999999999999999999" in http(cluster, "Host: a\r\nContent-Length: 99999999999999999999\r\n"), "the value is not named")


@row("numbers that overflow were taken for others", "400 with the parameter's name and value")
def numbers(cluster):
    big = "99999999999999999999"
    for path, name in [(f"{MAPS}?limit={big}", "limit"), (f"{MAPS}?watch=true&timeoutSeconds={big}", "timeoutSeconds"),
                       (f"{MAPS}?watch=true&resourceVersion={big}", "resourceVersion"),
                       (f"/api/v1/namespaces/default/pods/p/log?tailLines={big}", "tailLines"),
                       (f"/api/v1/namespaces/default/pods/p/log?limitBytes={big}", "limitBytes"),
                       (f"/api/v1/namespaces/default/pods/p/log?sinceSeconds={big}", "sinceSeconds")]:
        status, answer = cluster.get(path)
        expect(status == 400 and name in answer["message"] and big in answer["message"], f"{path}: {status} {answer}")
        expect("details" in answer, f"{path}: no details in {answer}")
    status, answer = cluster.request("DELETE", f"{MAPS}/x?gracePeriodSeconds={big}")
    expect(status == 400 and "gracePeriodSeconds" in answer["message"], f"{status} {answer}")
    status, _ = cluster.get("/api/v1/namespaces/default/pods/p/log?sinceSeconds=9223372036854775807")
    expect(status == 404, f"a large span: {status}")


@row("`bearer` counted only as `Bearer`", "the word is taken in any case; another scheme is not")
def bearer(cluster):
    for scheme, wanted in [("bearer", 200), ("BEARER", 200), ("Bearer", 200), ("Basic", 401), ("bearer:", 401)]:
        answer = http(cluster, f"Host: a\r\nAuthorization: {scheme} {cluster.token()}\r\n", path=MAPS, token=False)
        expect(status_of(answer) == wanted, f"{scheme}: {answer[:100]}")


@row("Impersonate-* was ignored: `kubectl --as nobody` acted as the administrator",
     "the request acts as that user, who may do nothing unless in system:masters; what has no effect is refused")
def impersonation(cluster):
    def ask(*headers):
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        return http(cluster, "Host: a\r\n" + lines, path=MAPS)
    answer = ask(("Impersonate-User", "jane"))
    expect(status_of(answer) == 403 and b'User \\"jane\\" cannot list resource \\"configmaps\\"' in answer, f"{answer[-400:]}")
    expect(status_of(ask(("impersonate-user", "jane"), ("Impersonate-Group", "dev"), ("Impersonate-Group", "system:masters"))) == 200,
           "a master is not let in")
    expect(status_of(ask(("Impersonate-Group", "system:masters"))) == 400, "groups without a user")
    expect(status_of(ask(("Impersonate-User", "jane"), ("Impersonate-Group", "system:masters"), ("Impersonate-Other", "x"))) == 400, "another header")
    for name in ["Impersonate-Uid", "Impersonate-Extra-scopes"]:
        expect(status_of(ask((name, "x"))) == 400, f"{name} without a user")
        answer = ask(("Impersonate-User", "jane"), (name, "x"))
        expect(status_of(answer) == 403 and b'User \\"jane\\"' in answer, f"{name}: {answer[-400:]}")
    code, out = lib.kubectl(cluster, "get", "pods", "--as", "jane")
    expect(code != 0 and "Forbidden" in out, out)


@row("bytes that are not UTF-8 in a path, a parameter or a header ended in objects and messages",
     "paths and parameters are refused with 400, headers are made valid")
def text(cluster):
    for path in ["/api/v1/namespaces/default/configmaps/%ff", f"{MAPS}?labelSelector=%ff", f"{MAPS}?%ff=1", "/%c3%28"]:
        answer = http(cluster, "Host: a\r\n", path=path)
        expect(status_of(answer) == 400 and b"UTF-8" in answer, f"{path}: {answer[:200]}")
    # Fields have managers once somebody has applied.
    status, _ = cluster.request("PATCH", f"{MAPS}/by-agent?fieldManager=first", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}},
                                content_type="application/apply-patch+yaml")
    expect(status == 201, f"apply: {status}")
    for i, agent in enumerate([b"\xff\xfe/1.0", b"\xc3\xa9" * 100 + b"/1", b"a\xe2\x80\x8bb/1", b"a\x01b/1", b""]):
        body = f'{{"data":{{"k{i}":"v"}}}}'.encode()
        head = (f"PATCH {MAPS}/by-agent HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {cluster.token()}\r\n"
                f"Content-Type: application/merge-patch+json\r\nContent-Length: {len(body)}\r\nUser-Agent: ").encode()
        answer = cluster.exchange(head + agent + b"\r\n\r\n" + body)
        if b"\x01" in agent:  # a control character in a header is not HTTP
            expect(status_of(answer) == 400, f"{agent}: {answer[:300]}")
            continue
        expect(status_of(answer) == 200, f"{agent}: {answer[:300]}")
        managers = [entry["manager"] for entry in cluster.get(f"{MAPS}/by-agent")[1]["metadata"]["managedFields"]]
        expect(all(len(one.encode()) <= 128 and one.isprintable() and one for one in managers), f"{agent} became {managers}")
    cluster.request("DELETE", f"{MAPS}/by-agent")
    for manager, why in [("a" * 129, "128"), ("a%00b", "printable"), ("a%0ab", "printable"), ("%e2%80%8b", "printable")]:
        status, answer = cluster.request("POST", f"{MAPS}?fieldManager={manager}", {"metadata": {"name": "managed"}})
        expect(status == 422 and "fieldManager" in answer["message"] and why in answer["message"], f"{manager}: {status} {answer}")
    status, _ = cluster.request("POST", f"{MAPS}?fieldManager=%ff", {"metadata": {"name": "managed"}})
    expect(status == 400, f"fieldManager that is not UTF-8: {status}")


@row("a Status without details: kubectl debug ended with a null pointer", "every Status that refuses has details")
def details(cluster):
    for method, path, body in [("GET", "/nowhere", None), ("GET", "/api/v1/nowhere", None), ("GET", f"{MAPS}/nothing", None),
                               ("POST", MAPS, b"{"), ("PATCH", f"{MAPS}/nothing", b"{}"), ("DELETE", "/api/v1/namespaces", None)]:
        status, answer = cluster.request(method, path, body)
        expect(status >= 400 and isinstance(answer.get("details"), dict), f"{method} {path}: {status} {answer}")
    status, answer = cluster.request("GET", MAPS, headers={"Authorization": "Bearer wrong"})
    expect(isinstance(answer.get("details"), dict), f"{status} {answer}")


def exactly(connection, size):
    out = b""
    while len(out) < size:
        part = connection.recv(size - len(out))
        expect(part, "the WebSocket ended")
        out += part
    return out


def frame(connection):
    first, second = exactly(connection, 2)
    size = second & 127
    if size == 126:
        size = struct.unpack(">H", exactly(connection, 2))[0]
    elif size == 127:
        size = struct.unpack(">Q", exactly(connection, 8))[0]
    return first & 15, exactly(connection, size)


@row("a watch that asked for a WebSocket got chunks", "101, one text frame an event, pings and closes answered, the token as subprotocol")
def web_socket_watch(cluster):
    encoded = base64.urlsafe_b64encode(cluster.token().encode()).decode().rstrip("=")
    ways = [f"Authorization: Bearer {cluster.token()}\r\n",
            f"Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.{encoded}, v1\r\n"]
    for head in ways:
        connection, answer = web_socket(cluster, f"{MAPS}?watch=true&resourceVersion=0&timeoutSeconds=30", head)
        expect(answer.startswith(b"HTTP/1.1 101 "), answer)
        if "Protocol" in head:
            expect(b"Sec-WebSocket-Protocol: v1\r\n" in answer, answer)
        cluster.create(MAPS, {"metadata": {"name": "seen"}})
        cluster.request("DELETE", f"{MAPS}/seen")
        wanted = [b'{"type":"ADDED"', b'{"type":"DELETED"']
        while wanted:
            kind, message = frame(connection)
            expect(kind == 1, f"frame of kind {kind}")
            if b'"seen"' in message:
                expect(message.startswith(wanted.pop(0)), message[:100])
        connection.sendall(b"\x89\x82\0\0\0\0hi")
        expect(frame(connection) == (10, b"hi"), "no pong")
        connection.sendall(b"\x88\x82\0\0\0\0\x03\xe8")
        expect(frame(connection)[0] == 8, "no close")
        connection.close()
    _, answer = web_socket(cluster, f"{MAPS}?watch=true", "Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.x\r\n")
    expect(answer.startswith(b"HTTP/1.1 401 "), answer)
    _, answer = web_socket(cluster, f"{MAPS}?watch=true&resourceVersion=x", ways[0])
    expect(answer.startswith(b"HTTP/1.1 400 "), answer)


@row("a WebSocket whose peer sends nonsense", "it ends; the server goes on")
def web_socket_nonsense(cluster):
    head = f"Authorization: Bearer {cluster.token()}\r\n"
    for nonsense in [b"\x81\x02hi", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\x82\xff" + b"\xff" * 8 + b"\0" * 4, b"\x89\xff" + b"\0" * 300]:
        connection, answer = web_socket(cluster, f"{MAPS}?watch=true", head)
        expect(answer.startswith(b"HTTP/1.1 101 "), answer)
        connection.settimeout(10)
        connection.sendall(nonsense)
        while connection.recv(4096):
            pass


@row("strangers begin requests with bodies of 3 MiB and never end them", "401 from the header alone; nothing of the bodies is held, and others are served")
def bodies_of_strangers(cluster):
    before = cluster.rss_mib()
    path = "/api/v1/namespaces/default/configmaps"
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n".encode()
    held = []
    for _ in range(120):
        connection = cluster.connect()
        connection.settimeout(5)
        held.append(connection)
        connection.sendall(head + b"x" * 1000)
        answer = connection.recv(2000)
        expect(answer.startswith(b"HTTP/1.1 401"), str(answer[:200]))
        try:
            connection.sendall(b"x" * 1000000)
        except OSError:
            pass  # it may be closed by now
    expect(cluster.rss_mib() - before < 60, f"{cluster.rss_mib() - before} MiB are held")
    cluster.create(path, {"metadata": {"generateName": "served-"}, "data": {"v": "x" * 500000}})
    for connection in held:
        connection.close()


@row("4,200 connections from one address that say nothing, or finish TLS and ask without a token: 72 of 85 of an administrator's requests failed",
     "each makes room for the next of its address; everybody who says who they are is served, memory stays, and /metrics counts")
def connections_of_strangers(cluster):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 6000:
        raise Skipped(f"this machine lets a process open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (6000 if hard == resource.RLIM_INFINITY else min(hard, 6000), hard))
    before, held = cluster.rss_mib(), []
    known = cluster.connect()  # somebody's from before, who stays
    ask = f"GET /api/v1/namespaces/default HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {cluster.token()}\r\n\r\n".encode()

    def answer(connection):
        connection.sendall(ask)
        return connection.recv(65536)[:12]

    expect(answer(known) == b"HTTP/1.1 200", "the first connection is not served")
    served = 0
    for i in range(4200):
        if i % 8 == 7:
            connection = cluster.connect()
            connection.sendall(b"GET /api HTTP/1.1\r\nHost: a\r\n\r\n")
        else:
            connection = socket.create_connection(("127.0.0.1", cluster.port), timeout=20)
        held.append(connection)
        if i % 50 == 49:
            served += cluster.get("/api/v1/namespaces/default", timeout=10)[0] == 200
    expect(served == 84, f"{served} of 84 of an administrator's requests were served")
    for _ in range(20):
        expect(cluster.get("/api/v1/namespaces/default", timeout=10)[0] == 200, "an administrator is not served while strangers stay")
    grown = cluster.rss_mib() - before
    expect(grown < 100 * MEMORY, f"{grown} MiB are held")
    text = cluster.get("/metrics")[1]
    counts = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("volcano_api_connections")}
    expect(counts['volcano_api_connections{peers="strangers"}'] <= 1100 and counts['volcano_api_connections_ended_total{reason="room"}'] > 3000, str(counts))
    expect(answer(known) == b"HTTP/1.1 200", "somebody who had said who they are was sent away")
    for connection in held:
        connection.close()


if __name__ == "__main__":
    run(Cluster)
