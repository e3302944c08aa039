#!/usr/bin/env python3
"""Servers behind an HTTP proxy: one that leads there, ones that refuse, and those that are not supported."""
import os
import re
import socket
import subprocess
import threading

import lib
from lib import Cluster, expect, row, run

VCCTL = os.path.join(os.path.dirname(lib.VOLCANO), "vcctl")


class Proxy:
    """Answers CONNECT; leads on where `answer` begins with 200."""

    def __init__(self, answer="200 OK"):
        self.answer, self.heard = answer, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.lead, args=[client], daemon=True).start()

    def lead(self, client):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            got = client.recv(1)
            if not got:
                return
            head += got
        self.heard.append(head.decode())
        client.sendall(f"HTTP/1.1 {self.answer}\r\n\r\n".encode())
        if not self.answer.startswith("200"):
            client.close()
            return
        host, port = head.split(b" ")[1].decode().rsplit(":", 1)
        server = socket.create_connection((host, int(port)))
        threading.Thread(target=self.pump, args=[client, server], daemon=True).start()
        self.pump(server, client)

    @staticmethod
    def pump(source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def lists_jobs(kubeconfig, **variables):
    done = subprocess.run([VCCTL, "job", "list", "--kubeconfig", kubeconfig], capture_output=True, text=True, timeout=60,
                          env=os.environ | variables)
    return done.returncode, done.stdout + done.stderr


@row("proxy-url of a kubeconfig was passed over without a word", "requests go through the proxy, or it is said why not")
def proxies():
    cluster = Cluster("--runtime", "process")
    good, bad = Proxy(), Proxy("407 Proxy Authentication Required")
    try:
        text = open(cluster.kubeconfig).read()

        def through(url, server=None):
            path = f"{cluster.scratch}/through"
            with open(path, "w") as file:
                changed = re.sub(r"^( *)server: .*$", lambda found: f"{found[0]}\n{found[1]}proxy-url: {url}" if url else found[0], text, flags=re.M)
                file.write(re.sub(r"server: .*", f"server: {server}", changed) if server else changed)
            return path
        code, out = lists_jobs(through(f"http://ann:b@127.0.0.1:{good.port}"))
        expect(code == 0, out)
        expect(good.heard and good.heard[0].startswith(f"CONNECT 127.0.0.1:{cluster.port} HTTP/1.1\r\n")
               and "Proxy-Authorization: Basic YW5uOmI=\r\n" in good.heard[0], f"{good.heard}")
        code, out = lists_jobs(through(f"http://127.0.0.1:{bad.port}"))
        expect(code != 0 and 'the proxy refuses: "407 Proxy Authentication Required"' in out, f"{code} {out}")
        code, out = lists_jobs(through("socks5://ann:secret@127.0.0.1:1"))
        expect(code != 0 and f'{cluster.scratch}/through: cluster "volcano": proxy-url: socks5:// is not supported' in out and "secret" not in out, f"{code} {out}")
        # Of the environment: this machine is reached directly, others are not.
        code, out = lists_jobs(cluster.kubeconfig, HTTPS_PROXY=f"127.0.0.1:{bad.port}")
        expect(code == 0, out)
        far = through("", "https://far.example:6443")
        code, out = lists_jobs(far, HTTPS_PROXY=f"127.0.0.1:{bad.port}")
        expect(code != 0 and 'far.example:6443: the proxy refuses: "407' in out, f"{code} {out}")
        code, out = lists_jobs(far, https_proxy="socks5://127.0.0.1:1")
        expect(code != 0 and "HTTPS_PROXY: socks5:// is not supported" in out, f"{code} {out}")
        code, out = lists_jobs(far, HTTPS_PROXY=f"127.0.0.1:{bad.port}", NO_PROXY="example")
        expect(code != 0 and "proxy" not in out, f"{code} {out}")
        cluster.stop()
    finally:
        good.listener.close()
        bad.listener.close()
        cluster.remove()


if __name__ == "__main__":
    run()
