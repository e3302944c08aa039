#!/usr/bin/env python3
"""Runs a command at a terminal of 80 columns and prints what a person sees there.

usage: seen.py [--for SECONDS] COMMAND...    the exit code is the command's; 98: a line is wider than the terminal
With --for the command gets Ctrl-C after that time, and the last page that it drew is what is seen.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

COLUMNS = 80


def main():
    words = sys.argv[1:]
    limit = 120.0
    draws = words[0] == "--for"
    if draws:
        limit, words = float(words[1]), words[2:]
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.environ.pop("COLUMNS", None)
        time.sleep(0.1)  # the parent sets the size
        os.execvp(words[0], words)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    text, end = b"", time.monotonic() + limit
    while True:
        left = end - time.monotonic()
        if left <= 0:
            os.kill(child, signal.SIGINT)
            break
        if not select.select([terminal], [], [], left)[0]:
            continue
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seen = text.decode(errors="replace").replace("\r\n", "\n")
    seen = seen.split("\x1b[H\x1b[J")[-1] if draws else seen
    coloured = "\x1b[" in seen
    seen = re.sub(r"\x1b\[[0-9;]*m", "", seen)
    sys.stdout.write(seen)
    wide = [line for line in seen.split("\n") if len(line) > COLUMNS]
    if wide:
        print(f"wider than {COLUMNS} columns: {wide[0]!r}")
        sys.exit(98)
    if os.environ.get("WANT_COLOURS") and not coloured:
        print("no colours")
        sys.exit(97)
    sys.exit(0 if draws else status)


main()
