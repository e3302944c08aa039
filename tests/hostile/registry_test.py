#!/usr/bin/env python3
"""Registries that lie, hang, and pass one image off as another: a server of our own that pods pull from."""
import hashlib
import http.server
import io
import json
import os
import socketserver
import sys
import tarfile
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from image_files import CAN_RUN, HAS_TOOLS, entry, shell_root
from lib import Cluster, Skipped, end, expect, row, run, wait_for

PODS = "/api/v1/namespaces/default/pods"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def layer(*entries):
    """A tar of (TarInfo, bytes) pairs."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for info, content in entries:
            info.size = len(content or b"")
            archive.addfile(info, io.BytesIO(content or b""))
    return out.getvalue()


class Registry:
    """`manifests` by repository, `blobs` by digest; `lies` answers for a repository if it returns True."""

    def __init__(self):
        self.manifests, self.blobs, self.lies, self.shell = {}, {}, {}, layer(*shell_root())
        registry = self

        class Answers(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def say(self, code, body=b"", **heads):
                self.send_response(code)
                for name, value in {"Content_Length": str(len(body)), **heads}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do_GET(self):
                try:
                    registry.answer(self, self.path.split("/"))
                except OSError:
                    self.close_connection = True

            do_HEAD = do_GET

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            request_queue_size = 64

        self.server = Server(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, to, words):
        if len(words) < 5:
            return to.say(200, b"{}")
        repository, kind, what = words[2], words[3], words[4]
        if repository in self.lies and self.lies[repository](to, kind):
            return None
        if kind == "manifests" and repository in self.manifests:
            body, media = self.manifests[repository]
            return to.say(200, body, Content_Type=media)
        return to.say(200, self.blobs[what]) if what in self.blobs else to.say(404)

    def keep(self, content, media):
        self.blobs[digest(content)] = content
        return {"mediaType": media, "digest": digest(content), "size": len(content)}

    def add(self, repository, *layers, ids=None, config=None):
        config = config if config is not None else json.dumps({
            "architecture": "amd64", "os": "linux", "config": {"Cmd": ["/bin/sh", "-c", "echo ran"]},
            "rootfs": {"type": "layers", "diff_ids": ids or [digest(one) for one in layers]}}).encode()
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": self.keep(config, "application/vnd.oci.image.config.v1+json"),
                    "layers": [self.keep(one, "application/vnd.oci.image.layer.v1.tar") for one in layers]}
        self.manifests[repository] = json.dumps(manifest).encode(), MANIFEST

    def name(self, repository):
        return f"127.0.0.1:{self.server.server_address[1]}/{repository}:v1"


def start():
    if not CAN_RUN or not HAS_TOOLS:
        raise Skipped("containers need root, runc, conmon and ip, and pulls skopeo and umoci")
    return Cluster("--node-name", "n1", "--runtime", "runc")


def put(cluster, name, image, policy="Always"):
    cluster.create(PODS, {"metadata": {"name": name}, "spec": {
        "nodeName": "n1", "restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": image, "imagePullPolicy": policy}]}})


def outcome(cluster, name):
    """Succeeded, or why it waits; None as long as neither is known."""
    status = cluster.get(f"{PODS}/{name}")[1]["status"]
    if status.get("phase") in ("Succeeded", "Failed"):
        return status["phase"]
    waits = [one["state"].get("waiting", {}) for one in status.get("containerStatuses", [])]
    return next((one["message"] for one in waits if one.get("reason") in ("ErrImagePull", "ImagePullBackOff")), None)


def result(cluster, name):
    return wait_for(60, f"an end of {name}", lambda: outcome(cluster, name))


@row("a registry that hangs, asked by a dozen pods whose image is here already: no pod of the node started or ended for 15 minutes",
     "pods with other images run at once")
def a_registry_that_hangs(cluster):
    registry = Registry()
    registry.add("hangs", registry.shell)
    registry.add("other", layer((entry("etc", tarfile.DIRTYPE), None), *shell_root()))
    for name in ("hangs", "other"):
        put(cluster, name, registry.name(name))
        expect(result(cluster, name) == "Succeeded", str(outcome(cluster, name)))
    over, asked = threading.Event(), threading.Semaphore(0)
    def hangs(_, kind):
        if kind == "manifests":
            asked.release()
            over.wait()
        return False
    registry.lies["hangs"] = hangs
    for number in range(12):
        put(cluster, f"waits{number}", registry.name("hangs"))
    for _ in range(3):
        expect(asked.acquire(timeout=20), "the registry was not asked")
    put(cluster, "here", registry.name("other"), "IfNotPresent")
    wait_for(10, "the end of a pod whose image is here", lambda: outcome(cluster, "here") == "Succeeded")
    over.set()
    for number in range(12):
        expect(result(cluster, f"waits{number}") == "Succeeded", f"waits{number}: {outcome(cluster, f'waits{number}')}")


@row("pods are deleted while a registry sends their images byte by byte: their pulls went on for a quarter of an hour", "they end within seconds, and room is there for others")
def a_pod_that_goes_while_it_pulls(cluster):
    registry, over = Registry(), threading.Event()
    registry.add("slow", registry.shell)
    registry.add("quick", registry.shell)
    def trickles(to, kind):
        if kind != "blobs":
            return False
        to.send_response(200)
        to.send_header("Content-Length", str(1 << 30))
        to.end_headers()
        while not over.wait(0.1):
            to.wfile.write(b"x")
        return True
    registry.lies["slow"] = trickles
    work = lambda: [name for name in os.listdir(cluster.data + "/node/images") if name.startswith("work-")]
    for number in range(6):
        put(cluster, f"slow{number}", registry.name("slow"))
    wait_for(20, "three pulls", lambda: len(work()) == 3)
    for number in range(6):
        cluster.request("DELETE", f"{PODS}/slow{number}" + ("?gracePeriodSeconds=0" if number % 2 else ""))
    wait_for(10, "the end of the pulls", lambda: not work())
    put(cluster, "quick", registry.name("quick"))
    expect(result(cluster, "quick") == "Succeeded", outcome(cluster, "quick"))
    over.set()


@row("an image without the last of the layers that its configuration names: it stood for the true image of that configuration",
     "it is refused, and the true one is whole")
def an_image_that_passes_for_another(cluster):
    registry = Registry()
    second = layer((entry("etc", tarfile.DIRTYPE), None), (entry("etc/second"), b"here"))
    ids = [digest(registry.shell), digest(second)]
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Cmd": ["/bin/sh", "-c", "read line < /etc/second || [ -n \"$line\" ]"]},
                         "rootfs": {"type": "layers", "diff_ids": ids}}).encode()
    registry.add("partial", registry.shell, config=config)
    registry.add("whole", registry.shell, second, config=config)
    put(cluster, "partial", registry.name("partial"))
    expect("the image has 1 layers, and its configuration names 2" in result(cluster, "partial"), outcome(cluster, "partial"))
    put(cluster, "whole", registry.name("whole"))
    expect(result(cluster, "whole") == "Succeeded", outcome(cluster, "whole"))


@row("manifests of 100 MB, of wrong types, an index of itself, layers and redirects that lie, tars that lead out",
     "the pod waits and says why, naming the image; nothing is written outside")
def lies(cluster):
    registry, outside = Registry(), tempfile.mkdtemp(prefix="volcano-hostile.")
    shell, index = registry.shell, {"schemaVersion": 2, "mediaType": INDEX, "manifests": [
        {"mediaType": INDEX, "digest": "sha256:" + "a" * 64, "size": 2, "platform": {"architecture": "amd64", "os": "linux"}}]}
    registry.manifests.update({
        "huge": (b'{"x":"' + b"x" * (100 << 20) + b'"}', MANIFEST), "list": (b"[]", MANIFEST), "deep": (b"[" * 1000000, MANIFEST),
        "none": (b'{"schemaVersion":2,"mediaType":"%s","layers":null}' % MANIFEST.encode(), MANIFEST), "bytes": (b"\xff\xfe", MANIFEST),
        "itself": (json.dumps(index).encode(), INDEX)})
    registry.add("more", shell, layer((entry("x"), b"y")), ids=[digest(shell)])
    registry.add("huge-config", shell, config=b'{"x":"' + b"x" * (100 << 20) + b'"}')
    registry.add("env", shell, config=b'{"os":"linux","architecture":"amd64","config":{"Env":"x"},"rootfs":{"diff_ids":["%s"]}}' % digest(shell).encode())
    for name in ("short", "circle", "file"):
        registry.add(name, layer((entry("etc/" + name), b""), *shell_root()))
    registry.lies["short"] = lambda to, kind: kind == "blobs" and (to.say(200, b"x" * 1000) or True)
    registry.lies["circle"] = lambda to, kind: kind == "blobs" and (to.say(307, Location=to.path) or True)
    registry.lies["file"] = lambda to, kind: kind == "blobs" and (to.say(307, Location="file:///etc/shadow") or True)
    for head in ("Bearer", 'Bearer realm="ftp://x/y"', "x" * 60000):
        registry.lies[f"auth{len(head)}"] = lambda to, _, head=head: to.say(401, b"{}", WWW_Authenticate=head) or True
    refused = list(registry.manifests) + [name for name in registry.lies if name.startswith("auth")]
    registry.add("up", shell, layer((entry("../" * 20 + outside + "/up"), b"x")))
    registry.add("through", shell, layer((entry("s", tarfile.SYMTYPE, outside), None), (entry("s/through"), b"x")))
    registry.add("hard", shell, layer((entry("h", tarfile.LNKTYPE, "/etc/shadow"), None)))
    registry.add("whiteout", shell, layer((entry("bin/.wh..."), b"")))
    for name in refused + ["up", "through", "hard", "whiteout"]:
        put(cluster, name, registry.name(name))
        said = result(cluster, name)
        if name in refused:
            expect(f'"{registry.name(name)}"' in said, f"{name}: {said}")
        cluster.request("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
    expect(os.listdir(outside) == [], f"written outside: {os.listdir(outside)}")
    os.rmdir(outside)
    left = [name for name in os.listdir(cluster.data + "/node/images") if name.startswith("work-")]
    expect(not left, f"left in the store: {left}")


if __name__ == "__main__":
    run(start)
