# A browser for tests of notebooks: cookies by host (not by port), redirects, and the headers that say which page asks.
import http.client, http.cookies, os, ssl, urllib.parse


class Browser:
    def __init__(self):
        self.cookies = {}  # name -> (value, path); browsers share them between the ports of a host
        self.context = ssl._create_unverified_context()

    def request(self, url, method="GET", headers=None, body=None):
        place = urllib.parse.urlsplit(url)
        kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
        args = {"context": self.context} if place.scheme == "https" else {}
        connection = kind(place.hostname, place.port, timeout=20, **args)
        sent = dict(headers or {})
        kept = "; ".join(f"{name}={value}" for name, (value, path) in self.cookies.items() if place.path.startswith(path))
        if kept: sent.setdefault("Cookie", kept)
        connection.request(method, place.path + ("?" + place.query if place.query else ""), body=body, headers=sent)
        answer = connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie") or []:
            pair, *attributes = [part.strip() for part in line.split(";")]
            name, value = pair.split("=", 1)
            path = next((a[5:] for a in attributes if a.lower().startswith("path=")), "/")
            self.cookies[name] = (value, path)
        answer.url = url
        return answer

    # A person opens an address, and is led on.
    def visit(self, url, site="none"):
        for _ in range(10):
            answer = self.request(url, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Accept": "text/html"})
            if answer.status not in (301, 302, 303, 307, 308): break
            url, site = urllib.parse.urljoin(url, answer.headers["Location"]), "same-site"
            if "elsewhere" in url: break
        answer.text = answer.read().decode()
        return answer

    # A page of `origin` asks.
    def fetch(self, url, origin, method="GET", body=None, mode="cors"):
        own = "://".join(urllib.parse.urlsplit(url)[:2]) == origin
        headers = {"Sec-Fetch-Site": "same-origin" if own else "same-site", "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": "empty", "Referer": origin + "/"}
        if method != "GET" or not own: headers["Origin"] = origin
        answer = self.request(url, method, headers, body)
        answer.text = answer.read().decode(errors="replace")
        return answer

    # The status of a WebSocket's opening, and what an echo says.
    def web_socket(self, url, origin):
        answer = self.request(url, headers={"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **({"Origin": origin} if origin else {})})
        if answer.status != 101: return answer.status, b""
        sock = answer.fp.raw._sock
        mask, text = os.urandom(4), b"hello"
        sock.sendall(bytes([0x81, 0x80 | len(text)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(text)))
        reader = answer.fp
        head = reader.read(2)
        return 101, reader.read(head[1])
