#!/usr/bin/env python3
"""Device plugins that mean no good: gRPC by hand over the sockets of the node agent."""
import os
import socket
import struct
import threading
import time

from http2_frames import ACK, BEGIN, DATA, END_HEADERS, END_STREAM, HEADERS, SETTINGS, WINDOW, frame, text
from lib import MEMORY, PATIENCE, Cluster, expect, row, run, wait_for

RESOURCE = "example.com/thing"
PODS = "/api/v1/namespaces/default/pods"


def start():
    cluster = Cluster("--runtime", "process", "--host-rootfs", "--nvidia-driver-root", "none")
    wait_for(10, "a node", lambda: cluster.get("/api/v1/nodes")[1]["items"])
    return cluster


def folder(cluster):
    return os.path.join(cluster.data, "device-plugins")


def field(number, value):
    value, size = value.encode() if isinstance(value, str) else value, bytearray()
    rest = len(value)
    while rest > 127:
        size.append(rest & 127 | 128)
        rest >>= 7
    return bytes([number << 3 | 2]) + bytes(size) + bytes([rest]) + value


def message(value):
    return b"\0" + struct.pack(">I", len(value)) + value


def device(name, healthy=True):
    return field(1, field(1, name) + field(2, "Healthy" if healthy else "Unhealthy"))


def fields(*pairs):
    return b"".join(b"\0" + text(name) + text(value) for name, value in pairs)


class Peer:
    """A connection of which the first stream matters."""

    def __init__(self, connection):
        self.connection, self.heard, self.body, self.done = connection, b"", b"", False
        self.room = {0: 65535, 1: 65535}

    def read(self):
        """Takes the next frame."""
        while len(self.heard) < 9 or len(self.heard) < 9 + int.from_bytes(self.heard[:3], "big"):
            part = self.connection.recv(65536)
            if not part:
                raise OSError("closed")
            self.heard += part
        end = 9 + int.from_bytes(self.heard[:3], "big")
        kind, flags, stream, payload = self.heard[3], self.heard[4], struct.unpack(">I", self.heard[5:9])[0], self.heard[9:end]
        self.heard = self.heard[end:]
        if kind == SETTINGS and flags & ACK == 0:
            self.connection.sendall(frame(SETTINGS, ACK, 0))
        if kind == WINDOW:
            self.room[stream] += struct.unpack(">I", payload)[0]
        if kind == DATA:
            self.body += payload
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            self.done = True

    def send(self, data):
        while data:
            while min(self.room.values()) <= 0:
                self.read()
            part = data[: min(16384, *self.room.values())]
            self.connection.sendall(frame(DATA, 0, 1, part))
            self.room = {stream: room - len(part) for stream, room in self.room.items()}
            data = data[len(part) :]


def register(cluster, name, resource=RESOURCE):
    """True once the agent has answered."""
    with dial(cluster) as connection:
        request = field(1, "v1beta1") + field(2, name) + field(3, resource)
        head = fields((":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/v1beta1.Registration/Register"),
                      ("content-type", "application/grpc"), ("te", "trailers"))
        connection.sendall(BEGIN + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, head) + frame(DATA, END_STREAM, 1, message(request)))
        peer = Peer(connection)
        while not peer.done:
            peer.read()


def dial(cluster):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10 * PATIENCE)
    connection.connect(os.path.join(folder(cluster), "kubelet.sock"))
    return connection


class Plugin:
    """Lists devices by `lists(peer)`, and answers whatever else it is asked by `answers(peer)`."""

    def __init__(self, cluster, name, lists, answers=None):
        self.lists, self.answers, self.listener = lists, answers, socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(folder(cluster), name))
        self.listener.listen(100)
        threading.Thread(target=self.serve, daemon=True).start()
        register(cluster, name)

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.call, args=(connection,), daemon=True).start()

    def call(self, connection):
        try:
            size = len(BEGIN)
            while size > 0:
                size -= len(connection.recv(size))
            connection.sendall(frame(SETTINGS, 0, 0))
            peer = Peer(connection)
            while not peer.done:
                peer.read()
            connection.sendall(frame(HEADERS, END_HEADERS, 1, fields((":status", "200"), ("content-type", "application/grpc"))))
            if peer.body == message(b""):  # only ListAndWatch asks for nothing
                self.lists(peer)
            else:
                self.answers(peer)
        except OSError:
            pass  # the agent has enough
        finally:
            connection.close()

    def close(self):
        self.listener.close()


def node(cluster):
    return cluster.get("/api/v1/nodes")[1]["items"][0]


def waits(peer):
    while True:
        peer.read()


@row("32 connections to kubelet.sock that nobody uses kept every plugin from registering", "those that say nothing make room")
def connections_that_say_nothing(cluster):
    held = [dial(cluster) for _ in range(200)]
    register(cluster, "nobody.sock")
    for connection in held:
        connection.close()


@row("a plugin whose device falls ill and recovers thousands of times a second: 200 writes of the Node a second",
     "the Node is written a few times a second, and says how it ends")
def a_device_that_flaps(cluster):
    stop = threading.Event()
    def flap(peer):
        while not stop.is_set():
            peer.send((message(device("a")) + message(device("a", False))) * 200)
        peer.send(message(device("a") + device("b")))
        waits(peer)
    plugin = Plugin(cluster, "flaps.sock", flap)
    wait_for(10, "the resource", lambda: RESOURCE in node(cluster)["status"]["capacity"])
    before, began = int(node(cluster)["metadata"]["resourceVersion"]), time.monotonic()
    time.sleep(3)
    writes = (int(node(cluster)["metadata"]["resourceVersion"]) - before) / (time.monotonic() - began)
    stop.set()
    expect(writes < 20, f"{writes:.0f} writes a second")
    wait_for(10, "the last list", lambda: node(cluster)["status"]["allocatable"][RESOURCE] == "2")
    plugin.close()


@row("a plugin that lists the same devices without end: a core was busy with it", "a small part of one, and the end of it is seen")
def lists_without_end(cluster):
    stop = threading.Event()
    def floods(peer):
        while not stop.is_set():
            peer.send(message(device("a")) * 1000)
        peer.send(message(device("a") + device("b")))
        waits(peer)
    plugin = Plugin(cluster, "floods.sock", floods)
    wait_for(10, "the resource", lambda: node(cluster)["status"]["allocatable"].get(RESOURCE) == "1")
    before, began = cluster.cpu_seconds(), time.monotonic()
    time.sleep(4)
    share = (cluster.cpu_seconds() - before) / (time.monotonic() - began)
    stop.set()
    expect(share < 0.2 * MEMORY, f"{share:.2f} of a core")
    wait_for(20, "the last list", lambda: node(cluster)["status"]["allocatable"][RESOURCE] == "2")
    plugin.close()


@row("a plugin that registers thousands of times, under more names than there may be", "the log has a line for each name, and the next plugin registers")
def registers_without_end(cluster):
    at = len(cluster.output())
    for _ in range(300):
        register(cluster, "nobody.sock", "example.com/again")
    lines = cluster.output()[at:].count("offers example.com/again")
    expect(lines <= 2, f"{lines} lines in the log")
    for number in range(100):
        register(cluster, "nobody.sock", f"example.com/n{number}")
    plugin = Plugin(cluster, "late.sock", lambda peer: (peer.send(message(device("a"))), waits(peer)))
    register(cluster, "late.sock", "example.com/late")
    wait_for(10, "the late resource", lambda: node(cluster)["status"]["allocatable"].get("example.com/late") == "1")
    wait_for(10, "the first name's end", lambda: "example.com/n0" not in node(cluster)["status"]["capacity"])
    plugin.close()


@row("a plugin that answers Allocate with messages without end, or one of 4 GB", "the pod is refused at once, and says why")
def answers_without_end(cluster):
    def lists(peer):
        peer.send(message(device("a") + device("b")))
        waits(peer)
    def empties(peer):
        while True:
            peer.send(message(b"") * 3000)
    def giant(peer):
        peer.send(b"\0\xff\xff\xff\xff")
        while True:
            peer.send(b"x" * 16384)
    before = cluster.rss_mib()
    for name, answers, why in [("empties", empties, "more than 1 message"), ("giant", giant, "4294967295 bytes")]:
        plugin = Plugin(cluster, f"{name}.sock", lists, answers)
        wait_for(10, "the devices", lambda: node(cluster)["status"]["allocatable"].get(RESOURCE) == "2")
        cluster.create(PODS, {"metadata": {"name": name}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "i", "command": ["true"], "resources": {"limits": {RESOURCE: "1"}}}]}})
        status = wait_for(10, "the end of the pod", lambda: (lambda s: s if s.get("phase") == "Failed" else None)(
            cluster.get(f"{PODS}/{name}")[1]["status"]))
        expect(why in status["message"], status["message"])
        cluster.request("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        plugin.close()
    expect(cluster.rss_mib() - before < 60 * MEMORY, f"{cluster.rss_mib() - before} MiB are held")


if __name__ == "__main__":
    run(start)
