#!/usr/bin/env bash
# What one machine does: start-up, idle memory, `kubectl apply` to the first process, and the API server's figures.
# usage: bench/machine.sh        needs a release build with the target apiserver_bench, and kubectl
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
volcano=$PWD/build/release/bin/volcano
bench=$PWD/build/release/bin/apiserver_bench
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-bench.XXXXXX")
export KUBECONFIG=$scratch/kubeconfig
cluster=""
trap '[ -n "$cluster" ] && kill "$cluster" 2> /dev/null && wait "$cluster" 2> /dev/null; rm -rf "$scratch"' EXIT

now_ms() { echo $(($(date +%s%N) / 1000000)); }
resident_mb() { awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$cluster/status"; }

begin=$(now_ms)
"$volcano" up --data "$scratch/data" --kubeconfig "$KUBECONFIG" --port 0 --host-rootfs --runtime process > "$scratch/up.log" 2>&1 &
cluster=$!
until grep -q 'Stop it with' "$scratch/up.log"; do
  kill -0 "$cluster" 2> /dev/null || { cat "$scratch/up.log" >&2; exit 1; }
  sleep 0.01
done
echo "start-up with an empty folder: $(($(now_ms) - begin)) ms"
sleep 3
echo "idle memory: $(resident_mb) MB"

# The process itself writes the time at which it runs; kubectl's own start-up is part of what a user waits for.
cat > "$scratch/job.yaml" << JOB
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: first}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks:
  - name: one
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - {name: main, image: host, command: [sh, -c, "date +%s%N > $scratch/first"]}
JOB
begin=$(now_ms)
kubectl apply -f "$scratch/job.yaml" > /dev/null
applied=$(now_ms)
for _ in $(seq 500); do
  [ -s "$scratch/first" ] && break
  sleep 0.01
done
if [ -s "$scratch/first" ]; then
  first=$(($(cat "$scratch/first") / 1000000))
  echo "kubectl apply to first process: $((first - begin)) ms, of which kubectl took $((applied - begin)) ms"
else
  echo "kubectl apply to first process: it did not run within 5 s"
fi
"$bench" "$KUBECONFIG"
echo "memory after that: $(resident_mb) MB"
