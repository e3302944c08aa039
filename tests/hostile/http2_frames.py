"""Frames of HTTP/2 by hand, for tests that say what no client says."""
import socket
import struct
import time

from lib import PATIENCE, expect

BEGIN = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value):
    """A literal of HPACK, not packed: its size in seven bits, or 127 and the rest in groups of seven bits."""
    value, size = value.encode(), bytearray()
    if len(value) < 127:
        return bytes([len(value)]) + value
    size.append(127)
    rest = len(value) - 127
    while rest >= 128:
        size.append(rest % 128 + 128)
        rest //= 128
    return bytes(size) + bytes([rest]) + value


def head(cluster, method, path):
    fields = [(":method", method), (":scheme", "https"), (":authority", "a"), (":path", path), ("authorization", f"Bearer {cluster.token()}")]
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def dial(cluster, settings=b""):
    """A connection that has agreed on HTTP/2 and said its settings."""
    context = cluster.tls()
    context.set_alpn_protocols(["h2", "http/1.1"])
    raw = socket.create_connection(("127.0.0.1", cluster.port), timeout=20 * PATIENCE)
    connection = context.wrap_socket(raw, server_hostname="127.0.0.1")
    expect(connection.selected_alpn_protocol() == "h2", f"the server chose {connection.selected_alpn_protocol()}")
    connection.sendall(BEGIN + frame(SETTINGS, 0, 0, settings))
    return connection


def hear(connection, seconds, enough=lambda heard: False):
    """What comes until the server closes, or for so long: (bytes, whether it closed)."""
    heard, end = b"", time.monotonic() + seconds * PATIENCE
    while time.monotonic() < end and not enough(heard):
        connection.settimeout(max(0.01, end - time.monotonic()))
        try:
            part = connection.recv(65536)
        except TimeoutError:
            break
        except OSError:
            return heard, True
        if not part:
            return heard, True
        heard += part
    return heard, False


def say(connection, data):
    """False if the server has closed."""
    try:
        connection.sendall(data)
        return True
    except OSError:
        return False


def frames(heard):
    out = []
    while len(heard) >= 9:
        size = int.from_bytes(heard[:3], "big")
        out.append((heard[3], struct.unpack(">I", heard[5:9])[0], heard[9 : 9 + size]))
        heard = heard[9 + size :]
    return out
