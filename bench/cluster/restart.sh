#!/usr/bin/env bash
# A scheduler that is started again beside a full cluster: time, CPU and memory until its first decision, and memory at rest. The
# server is ours, since a stock one and etcd of this size want a machine of their own; STOCK=1 takes a stock one all the same.
# usage: [NODES=5000] [GROUPS_MADE=87000] [PODS=150000] bench/cluster/restart.sh
#        STOCK=1 GROUPS_MADE=10000 PODS=50000 bench/cluster/restart.sh
# Needs a release build of `volcano` and cluster_fill, and kubectl; with STOCK=1 also: tests/stock/build.sh etcd kube-apiserver
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${NODES:=5000}" "${GROUPS_MADE:=87000}" "${PODS:=150000}" "${PORT:=26475}"
bin=${VOLCANO_BIN:-$PWD/build/release/bin}
for program in volcano cluster_fill; do
  [ -x "$bin/$program" ] || { echo "$bin/$program is not built" >&2; exit 1; }
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-restart.XXXXXX")
export KUBECONFIG=$scratch/data/kubeconfig
programs=()
finish() {
  for pid in "${programs[@]}"; do kill "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  [ -z "${STOCK:-}" ] || tests/stock/down.sh > /dev/null
  [ -n "${KEEP:-}" ] || rm -rf "$scratch"
}
trap finish EXIT
cpu() { # cpu PID: seconds used so far
  awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.2f", ($12 + $13) / hz }' "/proc/$1/stat"
}
memory() { awk -v what="^$2:" '$0 ~ what { printf "%.0f", $2 / 1024 }' "/proc/$1/status"; }

our_server() {
  "$bin/volcano" up --components=apiserver --data "$scratch/data" --port "$PORT" > "$scratch/up.log" 2>&1 &
  server=$!
  programs+=("$server")
  for _ in $(seq 100); do kubectl get --raw /readyz > /dev/null 2>&1 && break; sleep 0.1; done
}
stock_server() { # nobody looks after its nodes, which have no taints for that, and the account of pods is made by hand
  ln -s "${STOCK_DIR:-$HOME/.cache/stock-kubernetes}/bin" "$scratch/bin"
  export STOCK_DIR=$scratch KUBECONFIG=$scratch/kubeconfig
  PORT=${STOCK_PORT:-27443} ETCD_PORT=${STOCK_ETCD_PORT:-23379} PEER_PORT=${STOCK_PEER_PORT:-23380} FSYNC=0 INFLIGHT=2000 KCM=0 KWOK=0 \
    APISERVER_EXTRA=--disable-admission-plugins=TaintNodesByCondition \
    tests/stock/up.sh > "$scratch/up.log" 2>&1 || { cat "$scratch/up.log" >&2; exit 1; }
  server=$(awk '$2 == "kube-apiserver" { print $1 }' "$scratch/pids")
  "$bin/volcano" crd | kubectl apply --server-side -f - > /dev/null
  for _ in 1 2 3 4 5; do kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1 && break; sleep 1; done
  kubectl create namespace volcano-system > /dev/null
  kubectl create serviceaccount default > /dev/null
}
if [ -n "${STOCK:-}" ]; then stock_server; else our_server; fi
for queue in root default; do # as scheduler and controllers leave them
  printf 'apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: %s}\nspec: {weight: 1, reclaimable: true}\n' $queue | kubectl create -f - > /dev/null
  kubectl patch queue $queue --subresource=status --type=merge -p '{"status":{"state":"Open"}}' > /dev/null
done
"$bin/cluster_fill" "$KUBECONFIG" "$NODES" "$GROUPS_MADE" "$PODS"
one_waits() { # one_waits NAME: a group of one pod that has room
  kubectl create -f - > /dev/null << YAML
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: $1, namespace: default}
spec: {minMember: 1, queue: default}
status: {phase: Inqueue}
---
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: default, annotations: {scheduling.k8s.io/group-name: $1}}
spec:
  schedulerName: volcano
  containers: [{name: c, image: "nginx:latest", resources: {requests: {cpu: 1m}}}]
YAML
}
start() { # start NAME: a scheduler, until that pod has a node
  begun=$(date +%s.%N)
  "$bin/vc-scheduler" --kubeconfig "$KUBECONFIG" --kube-api-qps 5000 --kube-api-burst 5000 ${SCHEDULER_FLAGS:-} > "$scratch/scheduler.log" 2>&1 &
  scheduler=$!
  programs+=("$scheduler")
  for _ in $(seq 600); do
    [ -n "$(kubectl get pod "$1" -o 'jsonpath={.spec.nodeName}')" ] && return
    kill -0 "$scheduler" 2> /dev/null || { tail -n 3 "$scratch/scheduler.log" >&2; exit 1; }
  done
}
server_cpu() { cpu "$server"; }

# The scheduler before the one that is measured leaves the statuses of groups as a scheduler leaves them.
one_waits first
start first
quiet=0 before=0
while [ $quiet -lt 5 ]; do # what groups are is written seconds after they began to be so
  if [ "$(echo "$(server_cpu) - $before > 0.2" | bc)" = 1 ]; then quiet=0; else quiet=$((quiet + 1)); fi
  before=$(server_cpu)
  sleep 1
done
kill "$scheduler"
wait "$scheduler" || true

one_waits second
server_before=$(server_cpu)
start second
took=$(echo "$(date +%s.%N) - $begun" | bc)
echo "vc-scheduler beside $NODES nodes, $GROUPS_MADE groups, $PODS pods; load average $(cut -d' ' -f1 /proc/loadavg)"
printf '  first decision seen after  %6.1f s\n' "$took"
echo "  CPU until then             $(cpu "$scheduler") s; the API server's $(echo "$(server_cpu) - $server_before" | bc) s"
sleep 10
echo "  memory                     $(memory "$scheduler" VmHWM) MB at most, $(memory "$scheduler" VmRSS) MB at rest"
