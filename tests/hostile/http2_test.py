#!/usr/bin/env python3
"""HTTP/2 by hand: floods of resets, of parts of a header and of settings, clients that do not read, frames that are none."""
import struct
import time

from http2_frames import CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RESET, SETTINGS, WINDOW, dial, frame, frames, head, hear, say, text
from lib import MEMORY, PATIENCE, Cluster, expect, row, run


@row("a request in frames made by hand", "it is answered as over HTTP/1.1")
def frames_by_hand(cluster):
    with dial(cluster) as connection:
        connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, 1, head(cluster, "GET", "/api/v1/namespaces/default")))
        heard, _ = hear(connection, 10, lambda h: any(kind == DATA and stream == 1 and body for kind, stream, body in frames(h)))
        body = b"".join(body for kind, stream, body in frames(heard) if kind == DATA and stream == 1)
        expect(b'"kind":"Namespace"' in body.replace(b" ", b""), body[:300])


@row("a client begins requests and takes each back at once, without end", "its connection ends; others are answered at once; memory stays")
def requests_taken_back(cluster):
    before = cluster.rss_mib()
    for _ in range(5):
        with dial(cluster) as connection:
            request, stream, closed = head(cluster, "GET", "/api/v1/namespaces"), 1, False
            for _ in range(200):
                part = b""
                for _ in range(100):
                    part += frame(HEADERS, END_HEADERS | END_STREAM, stream, request) + frame(RESET, 0, stream, struct.pack(">I", 8))
                    stream += 2
                if not say(connection, part):
                    closed = True
                    break
            expect(closed or hear(connection, 5)[1], "20,000 requests were taken back and the connection stayed")
            began = time.monotonic()
            expect(cluster.get("/readyz")[0] == 200 and time.monotonic() - began < 2 * PATIENCE, "another client had to wait")
    grown = cluster.rss_mib() - before
    expect(grown < 60 * MEMORY, f"memory grew by {grown} MiB")


@row("a header in parts that never end", "the connection ends; memory stays")
def headers_without_end(cluster):
    before = cluster.rss_mib()
    with dial(cluster) as connection:
        say(connection, frame(HEADERS, END_STREAM, 1, head(cluster, "GET", "/api")))
        part = frame(CONTINUATION, 0, 1, (b"\0" + text("x-more") + text("y" * 100)) * 100)
        alive = all(say(connection, part) for _ in range(3000))
        expect(not alive or hear(connection, 5)[1], "30 MB of a header were taken")
    grown = cluster.rss_mib() - before
    expect(grown < 40 * MEMORY, f"memory grew by {grown} MiB")


@row("floods of pings, of settings and of empty frames", "the connection ends or answers; nothing piles up")
def floods_of_small_frames(cluster):
    before = cluster.rss_mib()
    for flood in [frame(PING, 0, 0, b"12345678"), frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1000)), frame(WINDOW, 0, 0, struct.pack(">I", 1))]:
        with dial(cluster) as connection:
            connection.settimeout(3 * PATIENCE)
            for _ in range(300):
                if not say(connection, flood * 1000):
                    break
    grown = cluster.rss_mib() - before
    expect(grown < 40 * MEMORY, f"memory grew by {grown} MiB")


@row("clients ask for long lists and have no room for answers", "memory has a limit, and others are answered at once")
def answers_that_nobody_takes(cluster):
    path = "/api/v1/namespaces/default/configmaps"
    for i in range(20):
        cluster.create(path, {"metadata": {"name": f"big-{i}"}, "data": {"k": "x" * 200_000}})
    before = cluster.rss_mib()
    held = []
    for _ in range(10):
        connection = dial(cluster, struct.pack(">HI", 4, 0))  # no room on any stream
        request = head(cluster, "GET", path)
        connection.sendall(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, request) for i in range(100)))
        held.append(connection)
    time.sleep(2)
    began = time.monotonic()
    status, _ = cluster.get("/api/v1/namespaces/default")
    expect(status == 200 and time.monotonic() - began < 2 * PATIENCE, f"another client got {status} after {time.monotonic() - began:.1f} s")
    grown = cluster.rss_mib() - before
    for connection in held:
        connection.close()
    for i in range(20):
        cluster.request("DELETE", f"{path}/big-{i}")
    expect(grown < 700 * MEMORY, f"memory grew by {grown} MiB")


@row("frames that are none: wrong sizes, streams that cannot be, bodies before heads", "the connection ends; the server goes on")
def frames_that_are_none(cluster):
    good = head(cluster, "GET", "/api")
    for nonsense in [b"\xff" * 200, frame(DATA, 0, 1, b"body"), frame(HEADERS, END_HEADERS, 2, good), frame(HEADERS, END_HEADERS, 0, good),
                     frame(SETTINGS, 0, 0, b"123"), frame(PING, 0, 0, b"1"), frame(WINDOW, 0, 0, struct.pack(">I", 0)), frame(CONTINUATION, 0, 1, good),
                     frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff\xff\xff"), frame(HEADERS, 0, 1, good) + frame(PING, 0, 0, b"12345678"),
                     (1 << 20).to_bytes(3, "big") + bytes([DATA, 0]) + struct.pack(">I", 1) + b"x" * 20_000]:
        with dial(cluster) as connection:
            say(connection, nonsense)
            expect(hear(connection, 5)[1], f"the connection stayed after {nonsense[:40]}")


@row("requests that can be read in two ways, and words of HTTP/1.1", "they are refused, and no other is answered in their place")
def requests_of_two_minds(cluster):
    for extra in [b"\0" + text("transfer-encoding") + text("chunked"), b"\0" + text("connection") + text("close"), b"\0" + text("host") + text("other"),
                  b"\0" + text(":path") + text("/version"), b"\0" + text("Upper") + text("x"), b"\0" + text("content-length") + text("5")]:
        with dial(cluster) as connection:
            connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, 1, head(cluster, "GET", "/version") + extra))
            heard, _ = hear(connection, 1, lambda h: any(kind == RESET for kind, _, _ in frames(h)))
            expect(b"gitVersion" not in heard, f"answered with {extra}")


if __name__ == "__main__":
    run(lambda: Cluster("--runtime", "process", "--host-rootfs"))
