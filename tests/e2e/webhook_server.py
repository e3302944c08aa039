#!/usr/bin/env python3
"""A webhook over HTTPS whose path says how it answers, for tests. It prints its port, and notes each request in a file.

usage: webhook_server.py CERTIFICATE KEY LOG
"""
import base64
import http.server
import json
import ssl
import sys
import time

CERTIFICATE, KEY, LOG = sys.argv[1:4]


def patch(*operations):
    return {"allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


def label(name):
    """Adds a label, as a webhook that marks what it saw."""
    def answer(request):
        labels = (request["object"]["metadata"].get("labels") or {}) | {name: "yes"}
        return patch({"op": "add", "path": "/metadata/labels", "value": labels})
    return answer


ANSWERS = {
    "/allow": lambda request: {"allowed": True},
    "/deny": lambda request: {"allowed": False, "status": {"code": 403, "reason": "Forbidden", "message": "not on my watch"}},
    "/teapot": lambda request: {"allowed": False, "status": {"code": 418, "message": "no tea"}},
    "/warn": lambda request: {"allowed": True, "warnings": ["mind the gap", "and the \"door\""], "auditAnnotations": {"seen": "yes"}},
    "/first": label("first"),
    "/second": label("second"),
    "/break": lambda request: patch({"op": "add", "path": "/data", "value": {"k": {"no": "text"}}}),
    "/nowhere": lambda request: patch({"op": "remove", "path": "/spec/nothing/here"}),
    "/namespace": lambda request: patch({"op": "replace", "path": "/metadata/namespace", "value": "kube-system"}),
    "/wrong-uid": lambda request: {"allowed": True, "uid": "another"},
    "/many-warnings": lambda request: {"allowed": True, "warnings": ["w" * 5000] * 10000},
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, body, status=200, length=None, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        path = self.path.split("?")[0]
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(json.dumps({"path": path, "review": review}) + "\n")
        if path in FAULTS:
            return FAULTS[path](self, review)
        request = review["request"]
        response = {"uid": request["uid"]} | ANSWERS[path](request)
        self.send(json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}).encode())


def converted(item, wanted):
    """v1 says spec.size as text, v2 spec.count as a number."""
    item = json.loads(json.dumps(item))
    spec = item.get("spec") or {}
    if wanted.endswith("/v2") and "size" in spec:
        spec["count"] = int(spec.pop("size"))
    elif wanted.endswith("/v1") and "count" in spec:
        spec["size"] = str(spec.pop("count"))
    item["apiVersion"] = wanted
    item["metadata"].setdefault("annotations", {})["converted"] = "yes"
    return item


def convert(spoil=lambda response: None):
    def answer(handler, review):
        request = review["request"]
        response = {"uid": request["uid"], "result": {"status": "Success"},
                    "convertedObjects": [converted(item, request["desiredAPIVersion"]) for item in request["objects"]]}
        spoil(response)
        handler.send(json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}).encode())
    return answer


def hang(handler, review):
    time.sleep(60)


def drip(handler, review):
    handler.send(b"{", length=1000)
    for _ in range(600):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


def huge(handler, review):
    handler.send(b"", length=1 << 30)
    for _ in range(1 << 14):
        handler.wfile.write(b" " * (1 << 16))


def deep(handler, review):
    handler.send(b"[" * 200000)


FAULTS = {
    "/hang": hang,
    "/drip": drip,
    "/huge": huge,
    "/deep": deep,
    "/text": lambda handler, review: handler.send(b"<html>hello</html>"),
    "/empty": lambda handler, review: handler.send(b""),
    "/error": lambda handler, review: handler.send(b"it is broken", status=500),
    "/redirect": lambda handler, review: handler.send(b"", status=307, headers=[("Location", "/allow")]),
    "/convert": convert(),
    "/convert-fail": convert(lambda r: r.update(result={"status": "Failure", "message": "cannot count"})),
    "/convert-few": convert(lambda r: r["convertedObjects"].pop()),
    "/convert-uid": convert(lambda r: r.update(uid="another")),
    "/convert-name": convert(lambda r: r["convertedObjects"][0]["metadata"].update(name="another")),
    "/convert-version": convert(lambda r: r["convertedObjects"][0].update(apiVersion="example.com/v9")),
    "/convert-meta": convert(lambda r: r["convertedObjects"][0].update(metadata=[])),
    "/convert-labels": convert(lambda r: r["convertedObjects"][0]["metadata"].update(labels={"a": 7})),
    "/cut": lambda handler, review: handler.send(b"{", length=1000) or handler.connection.close(),
}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
