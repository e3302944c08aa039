"""A store that has no room, and checks signatures with Amazon's own library. usage: full_store.py PORT"""
import hashlib
import http.server
import sys

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

FULL = b"<Error><Code>XMinioStorageFull</Code><Message>there is no room</Message></Error>"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(200, b"")

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = AWSRequest(method=self.command, url=f"http://{self.headers['Host']}{self.path}", data=body)
        for name in ("Host", "X-Amz-Date", "X-Amz-Content-SHA256"):
            request.headers[name] = self.headers[name]
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        signer = S3SigV4Auth(Credentials("me", "word"), "s3", "us-east-1")
        signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        fits = signature in self.headers["Authorization"] and self.headers["X-Amz-Content-SHA256"] == hashlib.sha256(body).hexdigest()
        print("the signature fits" if fits else f"the signature does not fit: {self.path}", flush=True)
        self.answer(507, FULL)

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
