# A notebook's server for tests: pages, streams, an echo over WebSockets, and everything that a hostile one tries.
# usage: notebook_server.py PORT PREFIX
import base64, hashlib, http.server, json, sys, time

prefix = sys.argv[2]
PAGE = "<!doctype html><title>notebook</title><h1>notebook of %s</h1>" % prefix


class Notebook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path[len(prefix):] if self.path.startswith(prefix) else ""
        if self.headers.get("Upgrade", "").lower() == "websocket": return self.web_socket()
        if path == "/headers": return self.answer(json.dumps([[k, v] for k, v in self.headers.items()]), "application/json")
        if path == "/moved": return self.redirect(prefix + "/lab?x=1")
        if path == "/elsewhere": return self.redirect("https://elsewhere.example/")
        if path == "/cookies":
            names = ["volcano-page-1", "__Host-Http-volcano-page-1", "__Host-Http-volcano-notebook-1", "_xsrf"]
            return self.answer("cookies", "text/plain", [("Set-Cookie", name + "=x; Path=/; Secure; HttpOnly") for name in names])
        if path == "/hostwide":
            return self.answer("hostwide", "text/plain", [("Strict-Transport-Security", "max-age=9"), ("Clear-Site-Data", '"*"'), ("Alt-Svc", 'h2=":1"'), ("Access-Control-Allow-Origin", "*")])
        if path == "/huge": return self.answer("huge", "text/plain", [("X-Huge", "x" * 600_000)])
        if path == "/never": time.sleep(3600)
        if path == "/large": return self.answer("y" * 200_000_000, "text/plain")
        if path == "/ticks":
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            while True:
                self.wfile.write(b"tick\n")
                time.sleep(0.1)
        self.answer(PAGE if path.startswith("/") else "outside of the prefix: " + self.path, "text/html")

    def do_POST(self):
        self.answer(str(len(self.rfile.read(int(self.headers["Content-Length"])))), "text/plain")

    def redirect(self, place):
        self.send_response(302)
        self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, body, kind, headers=()):
        self.send_response(200)
        for name, value in headers: self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def web_socket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        while len(head := self.rfile.read(2)) == 2 and head[0] & 15 != 8:  # short masked messages
            mask, body = self.rfile.read(4), self.rfile.read(head[1] & 127)
            text = b"echo " + bytes(b ^ mask[i % 4] for i, b in enumerate(body))
            self.wfile.write(bytes([0x81, len(text)]) + text)
        self.close_connection = True

    def log_message(self, *words): pass


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Notebook).serve_forever()
