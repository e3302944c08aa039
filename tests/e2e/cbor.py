#!/usr/bin/env python3
"""CBOR of the Kubernetes API beside that of the program, written for tests alone.

usage: cbor.py encode < JSON > CBOR           texts become text strings, which the program writes otherwise
       cbor.py decode < CBOR > JSON           each value of a sequence on a line of its own"""
import json
import struct
import sys

SELF_DESCRIBED = b"\xd9\xd9\xf7"


def head(major, value):
    for info, (limit, form) in enumerate(((24, None), (1 << 8, ">B"), (1 << 16, ">H"), (1 << 32, ">I"), (1 << 64, ">Q"))):
        if value < limit:
            return bytes([major << 5 | (value if form is None else 23 + info)]) + (struct.pack(form, value) if form else b"")
    raise ValueError(f"{value} is too large")


def encode(value):
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", False: b"\xf4", True: b"\xf5"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(encode(item) for item in value)
    return head(5, len(value)) + b"".join(encode(key) + encode(item) for key, item in value.items())


def decode(data, at=0):
    """The value at a place, and the place behind it."""
    major, info = data[at] >> 5, data[at] & 31
    at += 1
    number = info
    if 24 <= info <= 27:
        size = 1 << info - 24
        number = int.from_bytes(data[at:at + size], "big")
        at += size
    if major == 6:
        return decode(data, at)
    if major < 2:
        return (number if major == 0 else -1 - number), at
    if major in (2, 3):
        return data[at:at + number].decode(), at + number
    if major == 7:
        forms = {25: ">e", 26: ">f", 27: ">d"}
        if info in forms:
            return struct.unpack(forms[info], data[at - (1 << info - 24):at])[0], at
        return {20: False, 21: True, 22: None}[info], at
    items = []
    for _ in range(number * (major - 3)):
        item, at = decode(data, at)
        items.append(item)
    return (items if major == 4 else dict(zip(items[::2], items[1::2]))), at


def main():
    if sys.argv[1:] == ["encode"]:
        sys.stdout.buffer.write(encode(json.load(sys.stdin)))
        return
    data, at = sys.stdin.buffer.read(), 0
    while at < len(data):
        assert data[at:].startswith(SELF_DESCRIBED), data[at:at + 20]
        value, at = decode(data, at)
        print(json.dumps(value))


if __name__ == "__main__":
    main()
