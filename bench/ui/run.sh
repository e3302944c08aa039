#!/usr/bin/env bash
# What the page costs browser and server, with many jobs and nodes. Needs Node.js, Chromium and kubectl.
# usage: bench/ui/run.sh [JOBS [NODES]]      default 10000 2000
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export JOBS=${1:-10000} NODES=${2:-2000} SECONDS_OPEN=20
export CHROMIUM=${CHROMIUM:-/usr/lib/chromium/chromium-headless-shell}
scratch=$(mktemp -d)
build/release/bin/volcano up --data "$scratch/data" --kubeconfig "$scratch/kubeconfig" --port 0 --components apiserver > "$scratch/up.log" 2>&1 &
server=$!
trap 'kill $server 2> /dev/null; wait $server 2> /dev/null; rm -rf "$scratch"' EXIT
export KUBECONFIG=$scratch/kubeconfig
until grep -q "ui link" "$scratch/up.log"; do kill -0 $server; sleep 0.1; done
python3 - << 'PYTHON' > "$scratch/objects.json"
import json, os
items = []
for i in range(int(os.environ["NODES"])):
    items.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{i}", "labels": {"topology.kubernetes.io/rack": f"rack-{i // 40}"}}})
for i in range(int(os.environ["JOBS"])):
    container = {"name": "main", "image": "example/train:1", "command": ["python3", "train.py"], "resources": {"requests": {"cpu": "4", "memory": "16Gi"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    items.append({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": f"job-{i}", "namespace": "default"},
                  "spec": {"minAvailable": 4, "queue": f"q-{i % 20}", "tasks": [{"name": "worker", "replicas": 4, "template": template}]}})
for q in range(20):
    items.insert(0, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": f"q-{q}"}, "spec": {"weight": 1}})
for item in items:
    print(json.dumps(item))
PYTHON
server_url=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
python3 bench/ui/fill.py "$server_url" "$scratch/data/keys/token" "$scratch/objects.json"
kubectl get queues -o name | wc -l | sed 's/^/queues                     /'
cpu() { awk '{print ($14 + $15) / 100}' /proc/$server/stat; }
node bench/ui/measure.mjs "$(build/release/bin/volcano ui link 2> /dev/null)" &
browser=$!
sleep 12
before=$(cpu)
sleep 10
after=$(cpu)
wait $browser
awk -v a="$before" -v b="$after" 'BEGIN { printf "server, one page open       %.2f %% of a core   (goal 0.5)\n", (b - a) * 10 }'
bytes() { for file in "$@"; do gzip -9nc "$file"; done | wc -c; }
later=src/ui/bundle/later.js # loaded when a tab of it is opened
echo "bundle                     $(($(bytes src/ui/bundle/*) - $(bytes $later))) bytes compressed   (goal 61440)"
echo "bundle of later tabs       $(bytes $later) bytes compressed"
