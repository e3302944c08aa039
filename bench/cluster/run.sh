#!/usr/bin/env bash
# Jobs, or pods without one, on a stock Kubernetes with KWOK nodes: time from the first pod to the last bind, CPU and memory
# of each program, requests by verb and resource, and a client that creates and binds as many pods in the same run.
# usage: [NODES=1000] [JOBS=20] [PODS=100] bench/cluster/run.sh       # with the programs' own limits; QPS=N sets them
#        BARE=10000 [NODES=1000] bench/cluster/run.sh       # that many pods that belong to no job
#        MIXED=1 JOBS=120 BARE=10000 bench/cluster/run.sh   # both kinds in one run
#        BACKLOG=1 BARE=10000 bench/cluster/run.sh          # their groups are there before the scheduler is: how fast it binds
#        RESTART=1 ... bench/cluster/run.sh                 # and then the scheduler is started again among them
# Needs a release build of `volcano`, kubectl, python3, and: tests/stock/build.sh etcd kube-apiserver kube-controller-manager kwok bind-only
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${NODES:=1000}" "${JOBS:=20}" "${PODS:=100}" "${QPS:=}" "${BARE:=0}" "${BACKLOG:=}" "${MIXED:=}"
[ "$BARE" -eq 0 ] || [ -n "$MIXED" ] || JOBS=0
[ -z "$BACKLOG" ] || [ "$BARE" -gt 0 ] || { echo "BACKLOG is of BARE pods" >&2; exit 2; }
total=$((JOBS * PODS + BARE))
bin=${VOLCANO_BIN:-$PWD/build/release/bin}
built=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
for program in etcd kube-apiserver kube-controller-manager kwok bind-only; do
  [ -x "$built/bin/$program" ] || { echo "$program is not built; run tests/stock/build.sh" >&2; exit 1; }
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-cluster.XXXXXX")
export STOCK_DIR=$scratch KUBECONFIG=$scratch/kubeconfig
ln -s "$built/bin" "$scratch/bin"
ln -s "$built/stages" "$scratch/stages"
programs=()
finish() {
  for pid in "${programs[@]}"; do kill "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  tests/stock/down.sh
  [ -n "${KEEP:-}" ] || rm -rf "$scratch"
}
trap finish EXIT

PORT=${STOCK_PORT:-27443} ETCD_PORT=${STOCK_ETCD_PORT:-23379} PEER_PORT=${STOCK_PEER_PORT:-23380} FSYNC=0 INFLIGHT=2000 \
  APISERVER_EXTRA="--audit-policy-file=$PWD/bench/cluster/audit.yaml --audit-log-path=$scratch/audit.log" \
  tests/stock/up.sh > "$scratch/up.log" 2>&1 || { cat "$scratch/up.log" >&2; exit 1; }
"$bin/volcano" crd | kubectl apply --server-side -f - > /dev/null
# A CRD of a moment ago has no conditions yet, which kubectl takes for an error.
for _ in 1 2 3 4 5; do kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1 && break; sleep 1; done
kubectl create namespace volcano-system > /dev/null

echo "== create-then-bind: $total pods, $NODES nodes; load average $(cut -d' ' -f1 /proc/loadavg)"
"$scratch/bin/bind-only" -kubeconfig "$KUBECONFIG" -pids "$scratch/pids" -nodes "$NODES" -pods "$total" -cleanup | tee "$scratch/bare.log"

limits=()  # of the programs' own: none but their defaults
[ -z "$QPS" ] || limits=(--kube-api-qps "$QPS" --kube-api-burst "$QPS")
run() { # run NAME PROGRAM...: in the background, until the end
  local name=$1
  shift
  "$@" > "$scratch/$name.log" 2>&1 &
  programs+=($!)
  echo "$! $name" >> "$scratch/ours"
}
start_scheduler() { # start_scheduler NAME
  run "$1" "$bin/vc-scheduler" --kubeconfig "$KUBECONFIG" "${limits[@]}" ${SCHEDULER_FLAGS:-}
}
run vc-controller-manager "$bin/vc-controller-manager" --kubeconfig "$KUBECONFIG" "${limits[@]}" ${CONTROLLER_FLAGS:-}
start_scheduler vc-scheduler
for _ in $(seq 300); do
  [ "$(kubectl get queue default -o 'jsonpath={.status.state}' 2> /dev/null)" = Open ] && break
  sleep 0.1
done

cpu() { # cpu PID: seconds used so far
  awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.2f", ($12 + $13) / hz }' "/proc/$1/stat"
}
everyone() { cat "$scratch/pids" "$scratch/ours"; }
stop_scheduler() {
  kill "${programs[1]}"
  wait "${programs[1]}" 2> /dev/null || true
}
# restart: stops the scheduler, makes a pod, starts the scheduler again, and prints when it decides and what that costs.
restart() {
  local pid begun
  stop_scheduler
  kubectl create -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Pod
metadata: {name: after-restart, namespace: default}
spec:
  schedulerName: volcano
  containers: [{name: c, image: "nginx:latest", resources: {requests: {cpu: 1m}}}]
YAML
  sleep 2 # its group is made meanwhile
  begun=$(date +%s.%N)
  start_scheduler vc-scheduler-again
  pid=${programs[-1]}
  for _ in $(seq 1200); do
    [ -n "$(kubectl get pod after-restart -o 'jsonpath={.spec.nodeName}')" ] && break
    sleep 0.1
  done
  echo "restart of vc-scheduler among $(bound) pods: first decision seen after $(echo "$(date +%s.%N) - $begun" | bc) s, $(cpu "$pid") CPU s"
  sleep 5
  awk '/^Vm(HWM|RSS)/ { printf "  %s %.1f MB\n", $1, $2 / 1024 }' "/proc/$pid/status"
}
declare -A before
groups_told() { grep -c '"verb":"create".*"resource":"podgroups"' "$scratch/audit.log" || true; }
# backlog: the scheduler is away until every pod has its group.
backlog() {
  stop_scheduler
  "$scratch/bin/bind-only" -kubeconfig "$KUBECONFIG" -pids "$scratch/pids" -nodes "$NODES" -pods "$BARE" -scheduler volcano > "$scratch/made.log"
  for _ in $(seq 600); do
    [ "$(groups_told)" -ge "$BARE" ] && break
    sleep 1
  done
  sleep 5 # the controllers' last writes
  sed -i '/ vc-scheduler$/d' "$scratch/ours"
}
[ -z "$BACKLOG" ] || backlog
while read -r pid name; do before[$name]=$(cpu "$pid"); done < <(everyone)
for ((job = 0; job < JOBS; ++job)); do
  cat << YAML
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: load-$job, namespace: default}
spec:
  minAvailable: $PODS
  schedulerName: volcano
  queue: default
  tasks:
  - name: worker
    replicas: $PODS
    template:
      spec:
        restartPolicy: Never
        containers: [{name: main, image: "nginx:latest", resources: {requests: {cpu: 100m, memory: 128Mi}}}]
YAML
done > "$scratch/jobs.yaml"
# Seen from the audit log: to list all pods each second would be a load of its own.
binds_told() { grep -c '"subresource":"binding"' "$scratch/audit.log" || true; }
bound() { kubectl get --raw '/api/v1/pods?resourceVersion=0' | grep -o '"nodeName":"' | wc -l; }
begun() { kubectl get --raw '/api/v1/pods?resourceVersion=0&fieldSelector=status.phase%21%3DPending' | grep -o '"nodeName":"' | wc -l; } # pods that run, or have run
binds_before=$(binds_told)
begin=$(date +%s.%N)
if [ -n "$BACKLOG" ]; then
  start_scheduler vc-scheduler
  programs[1]=${programs[-1]}
  before[vc-scheduler]=0
else
  [ "$JOBS" -eq 0 ] || kubectl apply -f "$scratch/jobs.yaml" > /dev/null &
  [ "$BARE" -eq 0 ] || "$scratch/bin/bind-only" -kubeconfig "$KUBECONFIG" -pids "$scratch/pids" -nodes "$NODES" -pods "$BARE" -scheduler volcano > "$scratch/made.log"
  wait $!
fi
for _ in $(seq 600); do
  [ $(($(binds_told) - binds_before)) -ge "$total" ] && [ "$(bound)" -ge "$total" ] && break
  for pid in "${programs[@]}"; do
    kill -0 "$pid" 2> /dev/null || { echo "a program has ended:" >&2; tail -n 3 "$scratch"/vc-*.log >&2; exit 1; }
  done
  sleep 1
done
# What is written last are events and, of pods that run, the phases of their groups: until all have begun (ten minutes at most)
# and five seconds bring none (two minutes at most).
for _ in $(seq 120); do
  [ "$(begun)" -ge "$total" ] && break
  sleep 5
done
written=-1
for _ in $(seq 24); do
  now=$(grep -cE '"resource":"(events|podgroups)"' "$scratch/audit.log" || true)
  [ "$now" = "$written" ] && break
  written=$now
  sleep 5
done

what="$JOBS jobs of $PODS pods"
[ "$BARE" -eq 0 ] || what="$BARE pods without a job${MIXED:+ and $what}"
[ -z "$BACKLOG" ] || what+=" that wait for a scheduler"
echo "== volcano: $what, $NODES nodes; load average $(cut -d' ' -f1 /proc/loadavg)"
python3 bench/cluster/report.py "$scratch/audit.log" "$begin" "$total" "$scratch/bare.log" vc-controller-manager vc-scheduler
echo "CPU seconds and peak memory from the first job on:"
while read -r pid name; do
  printf '  %-24s %7.2f s %8.1f MB\n' "$name" "$(echo "$(cpu "$pid") - ${before[$name]}" | bc)" \
    "$(awk '/^VmHWM/ { print $2 / 1024 }' "/proc/$pid/status")"
done < <(everyone)
echo "events by reason:"
kubectl get --raw '/api/v1/events?resourceVersion=0' | python3 -c '
import collections, json, sys
counts = collections.Counter()
for event in json.load(sys.stdin)["items"]:
    counts[event["source"].get("component", "-"), event["involvedObject"]["kind"], event["reason"]] += 1
for (component, kind, reason), count in counts.most_common(12):
    print(f"  {component:<24} {kind:<12} {reason:<24} {count:>6}")'
[ -z "${RESTART:-}" ] || restart
cat << 'TEXT'
== for comparison, as measured on two cores with 1,000 nodes and 20 jobs of 100 pods
  Volcano                    39 s from the first pod to the last bind (pods made in 7 s); scheduler 23 CPU s, controllers 11, API server 76
  create-then-bind           3.5 s + 2.8 s
TEXT
