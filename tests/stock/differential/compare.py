#!/usr/bin/env python3
"""Sends the same requests to our API server and to a stock one, and compares the answers field by field.

usage: compare.py OURS.kubeconfig STOCK.kubeconfig [WORDS]      only requests whose name contains WORDS (and what all need)
Prints "ok GROUP: N requests" for each group of requests, or "FAIL REQUEST: FIELD: ours ... stock ..." for each difference that
differences.txt does not explain.
"""
import base64
import collections
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import asks

# What no two servers have in common.
ANY_KEYS = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "clusterIP", "token", "expirationTimestamp", "lastTransitionTime",
            "storageVersionHash", "controller-uid", "batch.kubernetes.io/controller-uid", "continue", "remainingItemCount", "serverAddressByClientCIDRs"}
ANY_TEXT = [(re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
            (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
            (re.compile(r"(resource version: |resourceVersion: |current: )\d+"), r"\1N"),
            (re.compile(r"\bWrong_[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "GENERATED")]

Answer = collections.namedtuple("Answer", "status kind warnings body")


class Server:
    def __init__(self, kubeconfig):
        view = json.loads(subprocess.run(["kubectl", "config", "view", "--raw", "--flatten", "-o", "json", "--kubeconfig", kubeconfig], check=True, capture_output=True).stdout)
        cluster, user = view["clusters"][0]["cluster"], view["users"][0]["user"]
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile() as pem:
            pem.write(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
            pem.flush()
            self.context.load_cert_chain(pem.name)
        self.host = cluster["server"].removeprefix("https://")
        self.connection = None

    def fetch(self, ask):
        """The answer as it came."""
        body = ask.raw if ask.raw is not None else None if ask.body is None else json.dumps(ask.body).encode()
        headers = {"Accept": ask.accept, "User-Agent": "compare/1"}
        if body is not None:
            headers["Content-Type"] = ask.content
        for patience in (1, 0):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPSConnection(self.host, context=self.context, timeout=20)
                self.connection.request(ask.method, ask.path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except (http.client.HTTPException, OSError):
                self.connection = None
                if not patience:
                    raise
        return Answer(answer.status, answer.getheader("Content-Type", "").replace(" ", ""), answer.headers.get_all("Warning", []), text)

    def ask(self, ask):
        """The answer without what no two servers have in common."""
        answer = self.fetch(ask)
        facts = {"status": answer.status, "type": answer.kind, "warnings": answer.warnings}
        try:
            facts["body"] = plain(json.loads(answer.body))
        except ValueError:
            facts["body"] = plain(answer.body.decode("utf-8", "replace"))
        return facts


def plain(value, key=""):
    if key in ANY_KEYS and value not in (None, ""):
        return "ANY"
    if key == "clusterIPs":
        return ["ANY" for _ in value]
    if key == "verbs":
        return sorted(value)
    if key == "resources" and all(isinstance(one, dict) and "singularName" in one for one in value):
        return {one["name"]: plain(one) for one in value}
    if key == "cells":
        return [("AGE" if isinstance(one, str) and re.fullmatch(r"(\d+[smhd])+|<unknown>", one) else plain(one)) for one in value]
    if isinstance(value, dict):
        return {k: plain(v, k) for k, v in value.items() if k != "."}  # in managedFields: that the parent is owned, too
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, str):
        for pattern, name in ANY_TEXT:
            value = pattern.sub(name, value)
    return value


def differences(ours, stock, path=""):
    if isinstance(ours, dict) and isinstance(stock, dict):
        for key in sorted(set(ours) | set(stock)):
            yield from differences(ours.get(key, "(none)"), stock.get(key, "(none)"), path + "." + key)
    elif isinstance(ours, list) and isinstance(stock, list) and len(ours) == len(stock):
        for i, (left, right) in enumerate(zip(ours, stock)):
            yield from differences(left, right, f"{path}[{i}]")
    elif ours != stock or isinstance(ours, bool) != isinstance(stock, bool):
        yield path.lstrip("."), ours, stock


def found_differences(ours, stock):
    """Of two answers. Where the codes differ, they are the one difference: "status OURS STOCK"."""
    if ours["status"] != stock["status"]:
        return [(f"status {ours['status']} {stock['status']}", ours["body"], stock["body"])]
    return differences(ours, stock)


def explained():
    """Lines of differences.txt: REQUEST (a regular expression) | FIELD (another) | where it is explained."""
    rows = []
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "differences.txt")) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                request, field, why = (word.strip() for word in line.split(" | "))
                rows.append([re.compile(request), re.compile(field), why, 0])
    return rows


def main():
    ours, stock = Server(sys.argv[1]), Server(sys.argv[2])
    words = sys.argv[3] if len(sys.argv) > 3 else ""
    rows = explained()
    needed = {one.name for one in asks.first()}
    groups, failed = collections.Counter(), 0
    for ask in asks.all_asks():
        if words not in ask.name and ask.name not in needed:
            continue
        left, right = ours.ask(ask), stock.ask(ask)
        group = ask.name.split(":")[0] if ":" in ask.name else "requests"
        groups[group] += 1
        for field, mine, theirs in found_differences(left, right):
            known = next((row for row in rows if row[0].fullmatch(ask.name) and row[1].fullmatch(field)), None)
            if known:
                known[3] += 1
                continue
            failed += 1
            print(f"FAIL {ask.name}: {field}: ours {json.dumps(mine)[:600]} stock {json.dumps(theirs)[:600]}")
        if ask.name == "definition of widgets":
            until = time.monotonic() + 20
            serves = asks.Ask("", "GET", "/apis/example.com/v1/widgets")
            while stock.ask(serves)["status"] != 200 and time.monotonic() < until:
                time.sleep(0.1)
    for group, count in groups.items():
        print(f"ok {group}: {count} requests")
    if not words:
        for row in rows:
            if not row[3]:
                print(f"FAIL differences.txt: nothing differs any more as \"{row[0].pattern} | {row[1].pattern}\" says")
                failed += 1
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
