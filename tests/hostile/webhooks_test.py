#!/usr/bin/env python3
"""Webhooks of strangers that hang, lie, drip, send too much, or are somebody else: each has its message, and nobody else waits."""
import base64
import json
import os
import subprocess
import sys
import threading
import time

from lib import ROOT, Cluster, expect, row, run

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MAPS = "/api/v1/namespaces/default/configmaps"


class Hooked(Cluster):
    """A cluster, and beside it the webhook's server of the end-to-end tests."""

    def __init__(self):
        super().__init__()
        at = lambda name: os.path.join(self.scratch, name)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=hooks",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", at("tls.key"), "-out", at("tls.crt")], check=True, capture_output=True)
        self.server = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/e2e/webhook_server.py"), at("tls.crt"), at("tls.key"), at("asked.log")],
                                       stdout=subprocess.PIPE, text=True)
        self.hook_port = int(self.server.stdout.readline())
        with open(at("tls.crt"), "rb") as certificate:
            self.bundle = base64.b64encode(certificate.read()).decode()
        self.count = 0

    def remove(self):
        self.server.kill()
        self.server.wait()
        super().remove()

    def hook(self, path, kind="Validating", timeout=2, **client):
        """One webhook about ConfigMaps in place of any other; the path of its configuration."""
        self.count += 1
        at = f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}webhookconfigurations"
        name = f"h{self.count}"
        config = {"url": f"https://127.0.0.1:{self.hook_port}{path}", "caBundle": self.bundle} | client
        status, answer = self.request("POST", at, {
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration", "metadata": {"name": name},
            "webhooks": [{"name": f"{name}.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": timeout,
                          "clientConfig": config, "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}]})
        expect(status == 201, f"{status} {str(answer)[:300]}")
        return f"{at}/{name}"

    def drop(self, path):
        expect(self.request("DELETE", path)[0] == 200, "the configuration does not go")

    def make(self):
        return self.request("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "m-"}})


def answers(cluster):
    expect(cluster.alive(), "the program has ended")
    begun = time.monotonic()
    expect(cluster.get("/api/v1/namespaces/default")[0] == 200, "others are not served")
    expect(time.monotonic() - begun < 5, "nobody else was answered")


def fails(cluster, path, text, kind="Validating", **client):
    at = cluster.hook(path, kind, **client)
    begun = time.monotonic()
    status, answer = cluster.make()
    took = time.monotonic() - begun
    expect(status == 500 and f'failed calling webhook "h{cluster.count}.example.com": ' in answer["message"] and text in answer["message"],
           f"{path}: {status} {str(answer)[:500]}")
    expect(len(answer["message"]) < 20000, f"{path}: a message of {len(answer['message'])} bytes")
    cluster.drop(at)
    answers(cluster)
    return took


@row("a webhook that never answers", "500 after its time, and others are served meanwhile")
def hangs(cluster):
    at = cluster.hook("/hang")
    results = []
    threads = [threading.Thread(target=lambda: results.append(cluster.make())) for _ in range(40)]
    for thread in threads:
        thread.start()
    answers(cluster)
    for thread in threads:
        thread.join()
    expect(len(results) == 40 and all(status == 500 and "context deadline exceeded" in answer["message"] for status, answer in results), str(results)[:600])
    cluster.drop(at)
    expect(cluster.make()[0] == 201, "nothing can be made any more")


@row("an answer that comes byte by byte", "500 after the webhook's time")
def drips(cluster):
    took = fails(cluster, "/drip", "context deadline exceeded")
    expect(took < 20, f"it took {took:.0f} s")


@row("an answer of 1 GiB", "500, and memory stays")
def huge(cluster):
    before = cluster.rss_mib("RssAnon")
    fails(cluster, "/huge", "failed to call webhook", timeout=20)
    expect(cluster.rss_mib("RssAnon") < before + 64, f"{before} MiB became {cluster.rss_mib('RssAnon')}")


@row("answers that are none: text, nothing, 200,000 brackets, half an answer", "500 that says what was wrong with them")
def nonsense(cluster):
    for path in ("/text", "/empty", "/deep"):
        fails(cluster, path, "failed to call webhook: couldn't get version/kind; json parse error: ")
    fails(cluster, "/cut", "failed to call webhook: Post ")


@row("a webhook that fails or sends elsewhere", "500; it is not followed")
def errors(cluster):
    fails(cluster, "/error", 'failed to call webhook: an error on the server ("it is broken") has prevented the request from succeeding')
    fails(cluster, "/redirect", "failed to call webhook: the server responded with the status code 307")


@row("a webhook that answers another question", "500 that names both uids")
def another_uid(cluster):
    fails(cluster, "/wrong-uid", "received invalid webhook response: expected response.uid=")


@row("a certificate that nobody vouches for, and a CA that is none", "500")
def certificates(cluster):
    with open(os.path.join(cluster.data, "keys/ca.crt"), "rb") as other:
        fails(cluster, "/allow", "failed to call webhook", caBundle=base64.b64encode(other.read()).decode())
    fails(cluster, "/allow", "failed to call webhook", caBundle="Cg==")
    fails(cluster, "/allow", "failed to call webhook", url=f"https://localhost:{cluster.hook_port}/allow")


@row("patches that break the object, or move it", "refused, and nothing is stored")
def patches(cluster):
    before = len(cluster.get(MAPS)[1]["items"])
    for path in ("/break", "/nowhere", "/namespace"):
        at = cluster.hook(path, "Mutating")
        status, answer = cluster.make()
        expect(status in (400, 422, 500), f"{path}: {status} {str(answer)[:300]}")
        cluster.drop(at)
    expect(len(cluster.get(MAPS)[1]["items"]) == before, "something was stored")
    answers(cluster)


@row("ten thousand warnings of 5,000 bytes", "no more than a client can read")
def warnings(cluster):
    at = cluster.hook("/many-warnings", timeout=20)
    status, answer = cluster.make()
    expect(status in (201, 500), f"{status} {str(answer)[:300]}")
    cluster.drop(at)
    answers(cluster)


@row("a hundred webhooks at a hundred addresses that do not answer", "each fails in its time; threads and connections are given back")
def many(cluster):
    at = [cluster.hook("/allow", url=f"https://127.0.0.{i + 2}:1/") for i in range(100)]
    status, answer = cluster.make()
    expect(status == 500, f"{status} {str(answer)[:300]}")
    for path in at:
        cluster.drop(path)
    expect(cluster.make()[0] == 201, "nothing can be made any more")
    expect(len(cluster.threads()) < 200, f"{len(cluster.threads())} threads")
    answers(cluster)


if __name__ == "__main__":
    run(Hooked)
