"""Prints a large cluster, a JSON text a line. usage: objects.py JOBS NODES"""
import json
import sys

jobs, nodes = map(int, sys.argv[1:])
items = []
for i in range(nodes):
    items.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{i}", "labels": {"topology.kubernetes.io/rack": f"rack-{i // 40}"}}})
for i in range(jobs):
    container = {"name": "main", "image": "example/train:1", "command": ["python3", "train.py"], "resources": {"requests": {"cpu": "4", "memory": "16Gi"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    items.append({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": f"job-{i}", "namespace": "default"},
                  "spec": {"minAvailable": 4, "queue": f"q-{i % 20}", "tasks": [{"name": "worker", "replicas": 4, "template": template}]}})
for q in range(20):
    items.insert(0, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": f"q-{q}"}, "spec": {"weight": 1}})
for item in items:
    print(json.dumps(item))
