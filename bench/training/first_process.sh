#!/usr/bin/env bash
# From the request for a PyTorchJob to its first process, on `volcano up`: operator, gang, scheduler, node agent, container.
# usage: bench/training/first_process.sh [TIMES]        needs root, a release build, kubectl, curl
# The process itself writes when it runs. Each job is gone before the next one begins. The figures move with what else the machine does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
times=${1:-9}
volcano=$PWD/build/release/bin/volcano
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-bench.XXXXXX")
export KUBECONFIG=$scratch/kubeconfig
cluster=""
trap '[ -n "$cluster" ] && kill "$cluster" 2> /dev/null && wait "$cluster" 2> /dev/null; rm -rf "$scratch"' EXIT
now_ms() { echo $(($(date +%s%N) / 1000000)); }

# An image of this machine's sh, date and sleep with their libraries.
for program in sh date sleep; do
  file=$(readlink -f "$(command -v "$program")")
  install -D "$file" "$scratch/root/bin/$program"
  ldd "$file" | grep -o '/[^ ]*' | while read -r library; do [ -e "$scratch/root$library" ] || install -D "$library" "$scratch/root$library"; done
done
mkdir -p "$scratch"/root/{proc,sys,dev,etc,tmp}
tar -C "$scratch/root" -cf "$scratch/image.tar" .

"$volcano" up --data "$scratch/data" --kubeconfig "$KUBECONFIG" --port 0 > "$scratch/up.log" 2>&1 &
cluster=$!
until kubectl get --raw /readyz > /dev/null 2>&1; do
  kill -0 "$cluster" 2> /dev/null || { cat "$scratch/up.log" >&2; exit 1; }
  sleep 0.05
done
"$volcano" image import --data "$scratch/data" train:local "$scratch/image.tar" > /dev/null
server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')

write_job() { # write_job NAME
  cat > "$scratch/job.json" << JOB
{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "$1"}, "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1, "restartPolicy": "Never", "template":
 {"spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "pytorch", "image": "train:local", "imagePullPolicy": "IfNotPresent", "command": ["sh", "-c", "date +%s%N"]}]}}}}}}
JOB
}
by_request() {
  curl -sf -o /dev/null --cacert "$scratch/data/keys/ca.crt" -H "Authorization: Bearer $(cat "$scratch/data/keys/token")" -H 'Content-Type: application/json' \
    --data "@$scratch/job.json" "$server/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
}
by_kubectl() { kubectl apply -f "$scratch/job.json" > /dev/null; }
measure() { # measure HOW NAME: milliseconds to the first process, and to the end of the asking program
  local begin asked
  write_job "$2"
  begin=$(now_ms)
  "$1"
  asked=$(now_ms)
  kubectl wait --for=condition=Succeeded --timeout=60s "pytorchjob/$2" > /dev/null
  echo $(($(kubectl logs "$2-worker-0") / 1000000 - begin)) $((asked - begin))
  kubectl delete pytorchjob "$2" > /dev/null
  kubectl wait --for=delete --timeout=60s "pod/$2-worker-0" > /dev/null 2>&1 || true
}
series() { # series HOW WHAT
  local i
  measure "$1" "warm-up" > /dev/null
  for i in $(seq "$times"); do measure "$1" "first-$i"; done | sort -n > "$scratch/times"
  awk -v what="$2" '{ first[NR] = $1; asked[NR] = $2; sum += $2 }
    END { m = int((NR + 1) / 2); printf "training: %s to first process: median %d ms of %d (%d to %d), the asking program took %d ms\n", what, first[m], NR, first[1], first[NR], sum / NR }' "$scratch/times"
}
sleep 2 # what starts with the cluster comes to rest
series by_request "request"
series by_kubectl "kubectl apply"
