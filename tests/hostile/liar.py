"""An API server that lies, and our programs that talk to it."""
import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lib import PATIENCE, VOLCANO, expect, wait_for


class Liar:
    """Answers lists with `items` by resource, each watch with `watch(handler, resource)`, writes by `write(handler)` and all by
    `lie(handler)` if they are set. Watches that are to begin with what there is are refused, or answered with `begin(handler, resource)`
    if that is set; what follows is `watch`, where it does not raise."""

    def __init__(self):
        self.items = {"queues": [{"metadata": {"name": "default", "uid": "q", "resourceVersion": "1"}, "spec": {"weight": 1}, "status": {"state": "Open"}}]}
        self.lie, self.watch, self.begin, self.write, self.asked, self.streams = None, None, None, None, [], set()
        liar = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, body, heads=None):
                body = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in (heads or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def begin_stream(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()

            def piece(self, data):
                self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")

            def do(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                liar.asked.append((self.command, self.path, body))
                try:
                    liar.handle(self, body)
                except OSError:
                    pass

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handle(self, handler, body, sane=False):
        if self.lie and not sane:
            return self.lie(handler)
        path = handler.path.split("?")[0]
        resource = path.rsplit("/", 1)[1]
        if handler.command != "GET" and self.write:
            return self.write(handler)
        if handler.command != "GET":
            written = json.loads(body)
            names = [part for part in path.split("/") if part != "status"]
            written["metadata"] = {"name": names[-1], "namespace": "default", "uid": names[-1], "resourceVersion": "2", **written.get("metadata", {})}
            return handler.answer(201, written)
        begins = "sendInitialEvents=true" in handler.path
        if begins and not self.begin:
            cause = {"reason": "FieldValueForbidden", "field": "sendInitialEvents", "message": "forbidden"}
            return handler.answer(422, {"kind": "Status", "status": "Failure", "reason": "Invalid", "code": 422, "details": {"causes": [cause]}})
        if "watch=true" in handler.path:
            handler.begin_stream()
            if begins:
                self.begin(handler, resource)
            end = threading.Event()
            self.streams.add(end)
            if self.watch:
                self.watch(handler, resource)
            end.wait(60 * PATIENCE)
            handler.close_connection = True
            return None
        handler.answer(200, {"kind": "List", "metadata": {"resourceVersion": "1"}, "items": self.items.get(resource, [])})

    def tell_items(self, handler, resource, end=True):
        """What there is, and that this is all: a value for `begin`."""
        for item in self.items.get(resource, []):
            handler.piece(json.dumps({"type": "ADDED", "object": item}).encode() + b"\n")
        metadata = {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}
        if end:
            handler.piece(json.dumps({"type": "BOOKMARK", "object": {"metadata": metadata}}).encode() + b"\n")

    def beginnings(self, resource):
        return len([1 for _, path, _ in self.asked if f"/{resource}?" in path and "sendInitialEvents=true" in path])

    def lists(self, resource):
        return len([1 for method, path, _ in self.asked if method == "GET" and f"/{resource}?" in path and "watch=true" not in path])

    def created(self, resource):
        return [json.loads(body) for method, path, body in list(self.asked) if method == "POST" and f"/{resource}?" in path]

    def drop(self):
        """Ends the watches that are open."""
        while self.streams:
            self.streams.pop().set()

    def close(self):
        self.drop()
        self.server.shutdown()
        self.server.server_close()


class Program:
    """One of our programs, which talks to a liar."""

    def __init__(self, *words, leads=False):
        self.scratch = tempfile.mkdtemp(prefix="volcano-hostile.")
        atexit.register(self.remove)  # of a row that failed
        self.log = os.path.join(self.scratch, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([VOLCANO, *words, f"--leader-elect={str(leads).lower()}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def says(self, text, seconds=20):
        wait_for(seconds, f"the line '{text}'", lambda: self.living() and text in self.said())

    def living(self):
        expect(self.process.poll() is None, f"the program ended with {self.process.poll()}: {self.said()[-500:]}")
        return True

    def rss_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM:"))

    def stop(self):
        self.process.terminate()
        try:
            code = self.process.wait(20 * PATIENCE)
            expect(code == 0, f"it ended with {code}: {self.said()[-500:]}")
        finally:
            self.remove()

    def remove(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)


def job(name, **more):
    container = {"name": "c", "image": "i"}
    task = {"name": "t", "replicas": 1, "template": {"spec": {"containers": [container]}}}
    return {"metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"},
            "spec": {"minAvailable": 1, "queue": "default", "tasks": [task]}, **more}
