# A stream of the page as browsers open it: what it carries is printed until the server ends it.
# usage: page_stream.py PAGE JAR PATH      (PAGE: http://127.0.0.1:8877, JAR: curl's file of cookies, PATH: of the API)
import base64, os, socket, sys, urllib.parse

page, jar, path = sys.argv[1:]
rows = [line.removeprefix("#HttpOnly_").split("\t") for line in open(jar) if line.count("\t") == 6]
cookie = "; ".join(f"{row[5]}={row[6].strip()}" for row in rows)
host, port = page.removeprefix("http://").split(":")
stream = socket.create_connection((host, int(port)), timeout=30)
stream.sendall(
    f"GET /ui/stream?{urllib.parse.urlencode({'path': path, 'accept': 'application/json'})} HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {page}\r\n"
    f"Cookie: {cookie}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n".encode())
answer = stream.makefile("rb")
status = answer.readline()
if b" 101 " not in status: sys.exit(status.decode())
while answer.readline() not in (b"\r\n", b""): pass
while len(head := answer.read(2)) == 2:
    size = head[1] & 127
    if size > 125: size = int.from_bytes(answer.read(2 if size == 126 else 8), "big")
    body = answer.read(size)
    if head[0] & 15 == 8: break
    if head[0] & 15 < 3: print(body.decode(), end="", flush=True)
