"""dask-kubernetes as it is, against the cluster of $KUBECONFIG: its operator beside it, and a KubeCluster that computes.

usage: dask_client.py --definitions      prints the definitions of the package, for kubectl
"""
import json
import os
import pathlib
import sys

import dask_kubernetes
import yaml


def check(name, ok, more=""):
    print("\n" + f"ok clients: dask {name}" if ok else "\n" + f"FAIL clients: dask {name}: {more}", flush=True)


def without_references(value):
    """The package's definitions refer to schemas of Kubernetes, which a program of its makers fills in: any object, here."""
    if isinstance(value, dict):
        if "$ref" in value:
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {key: without_references(one) for key, one in value.items()}
    return [without_references(one) for one in value] if isinstance(value, list) else value


def definitions():
    folder = pathlib.Path(dask_kubernetes.__file__).parent / "operator" / "customresources"
    for kind in ("daskcluster", "daskworkergroup", "daskjob", "daskautoscaler"):
        print("---\n" + json.dumps(without_references(yaml.safe_load((folder / f"{kind}.yaml").read_text()))))


def main():
    from dask.distributed import Client
    from dask_kubernetes.operator import KubeCluster, make_cluster_spec

    path = os.path.dirname(sys.executable) + ":" + os.environ["PATH"]
    spec = make_cluster_spec(name="sums", image="dask", n_workers=2, env={"PATH": path, "HOME": "/tmp"})
    for part in ("scheduler", "worker"):  # programs of these names are in images only; the package has one with words
        container = spec["spec"][part]["spec"]["containers"][0]
        container["args"] = ["dask", part, *container["args"][1:]]
    with KubeCluster(custom_cluster_spec=spec, namespace="default", resource_timeout=90) as cluster:
        check("has a scheduler that is reached by port-forward", cluster.scheduler_address.startswith("tcp://"), cluster.scheduler_address)
        with Client(cluster, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            total = client.submit(sum, client.map(lambda number: number * number, range(100))).result(timeout=60)
            check("computes on two workers", total == 328350, total)
            cluster.scale(3)
            client.wait_for_workers(3, timeout=60)
            check("scales", len(client.scheduler_info(n_workers=-1)["workers"]) == 3)
    check("closes its cluster", True)


if __name__ == "__main__":
    definitions() if sys.argv[1:] == ["--definitions"] else main()
