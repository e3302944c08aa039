#!/usr/bin/env python3
"""Bodies in CBOR that claim more than they hold, nest without end, repeat or break off; and readers of it that do not read."""
import os
import struct
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib
from lib import Cluster, expect, row, run

MAPS = "/api/v1/namespaces/default/configmaps"
CBOR = "application/cbor"
BODY = 3 << 20  # the largest that is received
BAD = [b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80"]


def text(data, major=2):
    size = len(data)
    return (bytes([major << 5 | size]) if size < 24 else bytes([major << 5 | 26]) + struct.pack(">I", size)) + data


def members(**all_of):
    return bytes([0xa0 | len(all_of)]) + b"".join(text(name.encode()) + value for name, value in all_of.items())


def config_map(name, data):
    return members(metadata=members(name=text(name)), data=data)


def refused(c, body, what, codes=(400,)):
    status, answer = c.request("POST", MAPS, body, content_type=CBOR)
    expect(status in codes, f"{what}: {status} {str(answer)[:200]}")


def grows_little(c, what, bodies, most):
    """All of the bodies at once, each refused, take less than `most` MiB while they are looked at."""
    before = peak = c.rss_mib("RssAnon")
    wrong = []

    def send(body):
        try:
            refused(c, body, what, (400, 429))
        except lib.Failed as why:
            wrong.append(why)

    threads = [threading.Thread(target=send, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    while living := [thread for thread in threads if thread.is_alive()]:
        peak = max(peak, c.rss_mib("RssAnon"))
        living[0].join(0.01)
    if wrong:
        raise wrong[0]
    expect(peak - before < most * lib.MEMORY, f"{what}: memory grew by {peak - before} MiB")


@row("lists, maps and strings that claim 2^62 items or bytes", "400 at once; nothing is kept free for them")
def huge_claims(c):
    bodies = []
    for major in (2, 3, 4, 5):
        for claim in (1 << 31, 1 << 32, 1 << 62, (1 << 64) - 1):
            bodies.append(bytes([major << 5 | 27]) + struct.pack(">Q", claim))
    # Each level claims as many items as there are bytes.
    bodies.append((b"\x9a" + struct.pack(">I", 1 << 20)) * 1000)
    bodies.append((b"\x9a" + struct.pack(">I", BODY - 10000)) * 900 + b"\xf6" * (BODY - 6000))
    for body in bodies:
        refused(c, body, f"{body[:9].hex()}")
    grows_little(c, "claims", bodies * 4, most=150)


@row("values nested a million times: lists, maps, open ones, tags", "400, and the stack holds")
def deep_nesting(c):
    for piece in (b"\x81", b"\x9f", b"\xa1\x41a", b"\xbf\x41a", b"\xd9\xd9\xf7", b"\xd6", b"\x81\xa1\x41a\xd7"):
        refused(c, piece * (BODY // len(piece) - 1), f"{piece.hex()} without an end")
    status, answer = c.request("POST", MAPS, b"\xd9\xd9\xf7" * 100000 + config_map(b"tags", b"\xa0"), content_type=CBOR)
    expect(status == 201, f"tags that mean nothing: {status} {str(answer)[:200]}")
    refused(c, members(metadata=members(name=text(b"deep")), data=b"\x81" * 999 + b"\x80"), "1,001 levels", (400, 422))


@row("three million empty lists, maps or strings in one body", "400: an object could not have as many; memory stays")
def many_values(c):
    for value in (b"\x80", b"\xa0", b"\x40", b"\xf6", b"\x9f\xff", b"\xbf\xff", b"\x5f\xff"):
        body = b"\x9f" + value * ((BODY - 2) // len(value)) + b"\xff"
        refused(c, body, f"{value.hex()} many times", (400, 422))
    grows_little(c, "many values", [b"\x9f" + b"\xa0" * (BODY - 2) + b"\xff"] * 8, most=500)
    names = b"".join(text(b"%07d" % i) + b"\x40" for i in range(100000))
    status, answer = c.request("POST", MAPS, config_map(b"names", b"\xbf" + names + b"\xff"), content_type=CBOR)
    expect(status in (201, 413, 422), f"100,000 members: {status} {str(answer)[:200]}")
    refused(c, config_map(b"same", b"\xbf" + (text(b"0000000") + b"\x40") * 100000 + b"\xff"), "one name 100,000 times")
    c.request("DELETE", MAPS)


@row("bodies cut at every byte, and with bytes behind their end", "400, and nothing is stored")
def cut_bodies(c):
    good = b"\xd9\xd9\xf7" + config_map(b"whole", members(k=text(b"v"), t=b"\xc1\x1a\x51\x4b\x67\xb0", b=b"\xd6\x43\x00\xff\x10"))
    for cut in range(1, len(good)):
        refused(c, good[:cut], f"cut at {cut}")
    refused(c, good + b"\x00", "a byte too many")
    status, answer = c.request("POST", MAPS, good, content_type=CBOR)
    expect(status == 201 and answer["data"] == {"k": "v", "t": "2013-03-21T20:04:00Z", "b": "AP8Q"}, f"whole: {status} {str(answer)[:300]}")
    c.request("DELETE", f"{MAPS}/whole")


@row("texts, byte strings and names that are not UTF-8, numbers that JSON has not", "400, and nothing is stored")
def bad_values(c):
    for bad in BAD:
        for major in (2, 3):
            refused(c, config_map(b"bad", members(k=text(b"x" + bad, major))), f"{major} {bad}")
            refused(c, config_map(b"bad", b"\xa1" + text(bad, major) + b"\x40"), f"name {major} {bad}")
            refused(c, config_map(b"bad", members(k=bytes([major << 5 | 31]) + text(b"x", major) + text(bad, major) + b"\xff")), f"pieces {major} {bad}")
        status, answer = c.request("PATCH", f"{MAPS}/p?fieldManager=f", config_map(b"p", members(k=text(bad))), content_type="application/apply-patch+cbor")
        expect(status == 400, f"apply with {bad}: {status} {str(answer)[:200]}")
    for value in ("f97c00", "f97e00", "fb7ff0000000000000", "1bffffffffffffffff", "3bffffffffffffffff", "c249010000000000000000", "f7", "f0", "f8ff"):
        refused(c, config_map(b"bad", members(k=bytes.fromhex(value))), value)
    expect(c.get(MAPS)[1]["items"] == [] or all(m["metadata"]["name"] not in ("bad", "p") for m in c.get(MAPS)[1]["items"]), "something was stored")


@row("lists and watches in CBOR that nobody reads", "what is made for one reader is little; memory stays")
def readers_that_do_not_read(c):
    for i in range(40):
        c.create(MAPS, {"metadata": {"name": f"fat-{i}"}, "data": {"k": "x" * 50000}})
    before = c.rss_mib("RssAnon")
    connections = []
    for i in range(100):
        connection = c.connect()
        path = f"{MAPS}?watch=true" if i % 2 else "/api/v1/configmaps?watch=true"
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nAccept: application/cbor-seq\r\nAuthorization: Bearer {c.token()}\r\n\r\n".encode())
        connection.recv(64)
        connections.append(connection)
    for i in range(100):
        c.request("PUT", f"{MAPS}/fat-0", {"metadata": {"name": "fat-0"}, "data": {"k": str(i % 10) * 100000}})
    grown = c.rss_mib("RssAnon") - before
    expect(grown < 250 * lib.MEMORY, f"100 watches cost {grown} MiB for 10 MiB of events")
    for connection in connections:
        connection.close()
    c.request("DELETE", MAPS)


run(lambda: Cluster("--components=apiserver"))
