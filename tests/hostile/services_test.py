#!/usr/bin/env python3
"""Services: one tenant's thousands of ports and endpoints beside everybody else's. Needs root and runc, as containers do."""
import json
import socket
import subprocess
import threading
import time

import lib
from image_files import CAN_RUN
from lib import Cluster, Skipped, expect, row, run, wait_for


def namespace(cluster, name):
    cluster.create("/api/v1/namespaces", {"metadata": {"name": name}})
    return f"/api/v1/namespaces/{name}/services", f"/apis/discovery.k8s.io/v1/namespaces/{name}/endpointslices"


def slice_of(service, ports, addresses):
    return {"metadata": {"name": f"{service}-x", "labels": {"kubernetes.io/service-name": service}}, "addressType": "IPv4",
            "ports": ports, "endpoints": [{"addresses": [address]} for address in addresses]}


def big(cluster, ns, ports, endpoints):
    """A service of many ports, each with many endpoints."""
    services, slices = namespace(cluster, ns)
    listed = [{"name": f"p{i}", "port": 1000 + i} for i in range(ports)]
    cluster.create(slices, slice_of("big", listed, [f"198.18.0.{i + 1}" for i in range(endpoints)]))
    cluster.create(services, {"metadata": {"name": "big"}, "spec": {"ports": listed}})
    return slices


def make_reachable(cluster):
    """A machine without a default route has none to the addresses of services either, and what has no route is not looked at."""
    if subprocess.run(["ip", "route", "get", "10.96.0.1"], capture_output=True).returncode != 0:
        links = subprocess.run(["ip", "-j", "link"], capture_output=True, text=True, check=True).stdout
        bridge = next(link["ifname"] for link in json.loads(links) if link["ifname"].startswith("vcbr"))
        subprocess.run(["ip", "route", "add", "10.96.0.0/12", "dev", bridge], check=True)


class Echo:
    """A server on this machine, which says its name to whoever connects."""

    def __init__(self, word):
        self.socket = socket.create_server(("0.0.0.0", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, args=(word.encode(),), daemon=True).start()

    def serve(self, word):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            connection.sendall(word)
            connection.close()


def answers(cluster, ns, limit):
    """A service made now, in a namespace of its own, leads to its endpoint within `limit` seconds."""
    echo = Echo(ns)
    services, slices = namespace(cluster, ns)
    began = time.monotonic()
    cluster.create(slices, slice_of("s", [{"port": echo.port}], ["127.0.0.1"]))  # stands for this machine
    address = cluster.create(services, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})["spec"]["clusterIP"]

    def answered():
        try:
            with socket.create_connection((address, 80), timeout=1) as connection:
                return connection.recv(100) == ns.encode()
        except OSError:
            return False
    wait_for(limit, f"an answer of the service of namespace {ns}", answered)
    echo.socket.close()
    return time.monotonic() - began


def play(ports, endpoints, event):
    if not CAN_RUN:
        raise Skipped("no containers here")
    cluster = Cluster("--host-rootfs")
    try:
        node = wait_for(20, "a node", lambda: cluster.get("/api/v1/nodes")[1]["items"])[0]["metadata"]["name"]
        pods = "/api/v1/namespaces/default/pods"  # the bridge comes with the first of them
        cluster.create(pods, {"metadata": {"name": "first"}, "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [
            {"name": "c", "image": "i", "command": ["sleep", "1000"]}]}})
        wait_for(30, "a pod", lambda: cluster.get(f"{pods}/first")[1]["status"].get("phase") == "Running")
        make_reachable(cluster)
        answers(cluster, "before", 10)
        slices = big(cluster, "tenant", ports, endpoints)
        took = [answers(cluster, "beside", 10)]
        text = cluster.get("/metrics")[1]
        left_out = [float(line.split(" ")[1]) for line in text.splitlines() if line.startswith("volcano_node_service_targets_left_out")]
        expect(left_out and (left_out[0] > 0) == event, f"left out: {left_out}")
        for i in range(3):  # the tenant's endpoints come and go
            body = slice_of("big", [{"name": f"p{i}", "port": 1000 + i} for i in range(ports)], [f"198.18.0.{k + 1}" for k in range(endpoints - 1 - i)])
            status, answer = cluster.request("PUT", f"{slices}/big-x", body)
            expect(status == 200, f"{status} {str(answer)[:200]}")
            took.append(answers(cluster, f"later-{i}", 10))
        told = [e["message"] for e in cluster.get("/api/v1/namespaces/tenant/events")[1]["items"] if e["reason"] == "TooManyTargets"]
        expect(bool(told) == event, f"events: {told}")
        expect("rules of services:" not in cluster.output(), cluster.output()[-500:])
        print(f"  {ports} ports times {endpoints}: others' services answered within {', '.join(f'{one:.1f}' for one in took)} s")
        cluster.check_healthy()
        cluster.stop()
    finally:
        cluster.remove()


@row("a tenant's service has 6,000 ports over 8 pods: everybody's services stood still for a minute", "others' services work within seconds; too many targets are told and counted")
def thousands_of_ports():
    play(6000, 8, True)


@row("a tenant's service has 7,000 ports over 25 pods: everybody's services stood still for ever", "the same; each port leads to some of its endpoints, and an event says to how many")
def ports_times_endpoints():
    play(7000, 25, True)


@row("a service of 50 ports over 100 pods", "all of its endpoints are reached, and nothing is told")
def services_that_are_usual():
    play(50, 100, False)


if __name__ == "__main__":
    run()
