# One that reaches an Ingress as browsers and attackers do. Prints the failed facts, one a line.
# usage: ingress_peer.py HOST PORT      (HOST as the rule names it; the peer connects to 127.0.0.1)
import json, os, socket, sys, time
from notebook_browser import Browser

host, port = sys.argv[1], int(sys.argv[2])
server = f"http://127.0.0.1:{port}"
failed = []


def fact(what, is_so, saw=""):
    if not is_so: failed.append(f"{what}: {saw}")


def ask(path, headers=None, method="GET", body=None):
    answer = Browser().request(server + path, method, {"Host": host, **(headers or {})}, body)
    answer.text = answer.read().decode(errors="replace") if path != "/ticks" else ""
    return answer


def raw(text, seconds=20):
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as peer:
        peer.sendall(text)
        out = b""
        while piece := peer.recv(65536): out += piece
        return out


said = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil", "X-Forwarded-User": "root", "Forwarded": "for=6.6.6.6", "X-Real-IP": "6.6.6.6",
        "Cookie": "volcano-page-1=secret; mine=1; __Host-Http-volcano-notebook-1=secret", "Connection": "X-Hop", "X-Hop": "1", "Authorization": "Bearer mine"}
seen = {}
for name, value in json.loads(ask("/headers", said).text): seen.setdefault(name.lower(), []).append(value)
fact("where a request comes from", seen["x-forwarded-for"] == ["127.0.0.1"] and seen["x-real-ip"] == ["127.0.0.1"] and seen["x-forwarded-proto"] == ["http"] and seen["x-forwarded-host"] == [host], seen)
fact("the host to stay", seen["host"] == [host], seen)
fact("nothing else that the peer says of it", "forwarded" not in seen and "x-forwarded-user" not in seen, seen)
fact("cookies of the page to stay here", seen["cookie"] == ["mine=1"], seen)
fact("headers of one connection to stay there", "x-hop" not in seen, seen)
fact("a password to arrive", seen["authorization"] == ["Bearer mine"], seen)
fact("no cookies for the page", [c.split("=")[0] for c in ask("/cookies").headers.get_all("Set-Cookie")] == ["_xsrf"])
fact("a redirect", ask("/moved").headers["Location"] == "/lab?x=1")
fact("a body", ask("/", method="POST", body=b"x" * 1_000_000).text == "1000000")
browser = Browser()
browser.request = lambda url, method="GET", headers=None, body=None, of=browser.request: of(url, method, {"Host": host, **(headers or {})}, body)
fact("a WebSocket", browser.web_socket(server + "/ws", None) == (101, b"echo hello"))
fact("a stream as it is made", ask("/ticks").read(15) == b"tick\ntick\ntick\n")
head = ask("/headers", method="HEAD")
fact("a HEAD", head.status == 501 and head.text == "", head.status)  # this server has none
fact("a huge answer header is refused", ask("/huge").status == 502)
fact("a body above the bound", raw(f"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\n".encode()).startswith(b"HTTP/1.1 413"))
fact("a header above the bound", raw(f"GET / HTTP/1.1\r\nHost: {host}\r\nX: {'y' * 100_000}\r\nConnection: close\r\n\r\n".encode()).startswith(b"HTTP/1.1 431"))
fact("two hosts", raw(f"GET / HTTP/1.1\r\nHost: {host}\r\nHost: other\r\nConnection: close\r\n\r\n".encode()).startswith(b"HTTP/1.1 400"))
fact("two lengths", raw(f"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode()).startswith(b"HTTP/1.1 400"))
fact("a request for nobody's host has no body read", raw(b"POST / HTTP/1.1\r\nHost: nobody\r\nContent-Length: 9999\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 404"))

# A peer that reads a large answer slowly gets all of it, and the router keeps little of it meanwhile.
pid = int(os.environ["CLUSTER_PID"])
resident = lambda: int(next(line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS")).split()[1])
before = resident()
with socket.create_connection(("127.0.0.1", port), timeout=20) as slow:
    slow.sendall(f"GET /large HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    first = slow.recv(100)
    end = time.monotonic() + 2  # a fast pod has all of it on its way by then
    most = 0
    while time.monotonic() < end: most = max(most, resident())
    size = len(first)
    while piece := slow.recv(1 << 20): size += len(piece)
fact("a large answer is whole", size > 200_000_000, size)
fact("little of it is kept", most - before < 60_000, most - before)

for line in failed: print(line)
sys.exit(1 if failed else 0)
