#!/usr/bin/env python3
"""Shows the files of a volume in a browser: folders as lists, files to download. It takes the environment of the file browser that the
controller of viewers starts: FB_PORT, FB_BASEURL; the volume is the working folder."""
import html
import http.server
import os
import shutil
import urllib.parse

BASE = "/" + os.environ.get("FB_BASEURL", "/").strip("/")
ROOT = os.path.realpath(os.environ.get("FB_ROOT", os.getcwd()))


class Viewer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = urllib.parse.unquote(self.path.split("?")[0])
        below = path[len(BASE):] if BASE == "/" or path.startswith(BASE + "/") or path == BASE else None
        if below is None: return self.answer(404, "text/plain", b"not below the prefix\n")
        place = os.path.realpath(os.path.join(ROOT, below.strip("/")))
        # A link of the volume must not lead out of it.
        if place != ROOT and not place.startswith(ROOT.rstrip("/") + "/"): return self.answer(403, "text/plain", b"outside of the volume\n")
        try:
            self.folder(place, below) if os.path.isdir(place) else self.file(place)
        except OSError as error:
            self.answer(404, "text/plain", (error.strerror or "cannot be read").encode() + b"\n")

    def folder(self, place, below):
        rows = []
        for entry in sorted(os.scandir(place), key=lambda one: (not one.is_dir(), one.name)):
            name = entry.name + ("/" if entry.is_dir() else "")
            size = "" if entry.is_dir() else f"{entry.stat(follow_symlinks=False).st_size:,}"
            link = urllib.parse.quote(f"{BASE.rstrip('/')}/{below.strip('/')}/{name}".replace("//", "/"), errors="surrogateescape")
            rows.append(f'<tr><td><a href="{link}">{html.escape(name.encode(errors="replace").decode())}</a></td><td>{size}</td></tr>')
        title = html.escape("/" + below.strip("/"))
        self.answer(200, "text/html; charset=utf-8", f'<!doctype html><html lang="en"><title>{title}</title><h1>{title}</h1><table>{"".join(rows)}</table>'.encode())

    def file(self, place):
        if not os.path.isfile(place): raise OSError(None, "not a file")
        with open(place, "rb") as file:
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Disposition", "attachment; filename*=UTF-8''" + urllib.parse.quote(os.path.basename(place), errors="surrogateescape"))
            self.send_header("Content-Length", str(os.fstat(file.fileno()).st_size))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            shutil.copyfileobj(file, self.wfile)

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", "default-src 'none'")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("", int(os.environ.get("FB_PORT", "8080"))), Viewer).serve_forever()
