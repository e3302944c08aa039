#!/usr/bin/env bash
# Two schedulers on a stock Kubernetes with KWOK nodes that are full of pods: the leader stands still, a group of pods is made, the leader is
# killed, and the time is printed from the lease's new holder to its first binding, which says what a warm standby is worth. The same of
# controllers (PROGRAM=controllers): from the lease to the group that they make for a job.
# usage: [PROGRAM=scheduler] [NODES=1000] [PODS=10000] bench/cluster/takeover.sh
# Needs a release build of `volcano`, kubectl, python3, openssl, and: tests/stock/build.sh etcd kube-apiserver kube-controller-manager kwok bind-only
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${NODES:=1000}" "${PODS:=10000}" "${PROGRAM:=scheduler}"
case $PROGRAM in scheduler) program=vc-scheduler ;; controllers) program=vc-controller-manager ;;
  *) echo "PROGRAM=$PROGRAM is neither scheduler nor controllers" >&2; exit 2 ;; esac
bin=${VOLCANO_BIN:-$PWD/build/release/bin}
built=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-takeover.XXXXXX")
export STOCK_DIR=$scratch KUBECONFIG=$scratch/kubeconfig
ln -s "$built/bin" "$scratch/bin"
ln -s "$built/stages" "$scratch/stages"
programs=()
finish() {
  for pid in "${programs[@]}"; do kill "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  tests/stock/down.sh > /dev/null
  [ -n "${KEEP:-}" ] || rm -rf "$scratch"
}
trap finish EXIT
PORT=${STOCK_PORT:-27443} ETCD_PORT=${STOCK_ETCD_PORT:-23379} PEER_PORT=${STOCK_PEER_PORT:-23380} FSYNC=0 INFLIGHT=2000 \
  APISERVER_EXTRA="--audit-policy-file=$PWD/tests/stock/audit_writes.yaml --audit-log-path=$scratch/audit.log" \
  tests/stock/up.sh > "$scratch/up.log" 2>&1 || { cat "$scratch/up.log" >&2; exit 1; }
"$bin/volcano" crd | kubectl apply --server-side -f - > /dev/null
# A CRD of a moment ago has no conditions yet, which kubectl takes for an error.
for _ in 1 2 3 4 5; do kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1 && break; sleep 1; done
kubectl create namespace volcano-system > /dev/null
"$scratch/bin/bind-only" -kubeconfig "$KUBECONFIG" -pids "$scratch/pids" -nodes "$NODES" -pods "$PODS" -cleanup=false > "$scratch/bare.log"
start() { # start NAME PORT: a scheduler or controllers as a user of its own, whom the audit log names
  openssl req -newkey rsa:2048 -nodes -keyout "$scratch/$1.key" -out "$scratch/$1.csr" -subj "/O=system:masters/CN=$1" 2> /dev/null
  openssl x509 -req -in "$scratch/$1.csr" -CA "$scratch/pki/ca.crt" -CAkey "$scratch/pki/ca.key" -CAcreateserial -days 2 -out "$scratch/$1.crt" 2> /dev/null
  cp "$KUBECONFIG" "$scratch/$1.kubeconfig"
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-credentials "$1" --client-certificate="$scratch/$1.crt" --client-key="$scratch/$1.key" > /dev/null
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-context --current --user "$1" > /dev/null
  "$bin/$program" --kubeconfig "$scratch/$1.kubeconfig" --leader-elect-lease-duration 20s --leader-elect-renew-deadline 15s --leader-elect-retry-period 1s \
    --enable-healthz --healthz-address "127.0.0.1:$2" > "$scratch/$1.log" 2>&1 &
  programs+=($!)
}
ready() { for _ in $(seq 1200); do curl -fs "http://127.0.0.1:$1/readyz" > /dev/null && return; sleep 0.1; done; echo "no $PROGRAM ready on port $1" >&2; exit 1; }
group() { # group NAME: ten pods that wait
  printf 'apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: %s}\nspec: {minMember: 10, queue: default}\nstatus: {phase: Inqueue}\n' "$1"
  for pod in 0 1 2 3 4 5 6 7 8 9; do
    printf -- '---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s-%s, annotations: {scheduling.k8s.io/group-name: %s}}\nspec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: 1m}}}]}\n' "$1" $pod "$1"
  done
}
job() { # job NAME: one pod
  printf 'apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s, namespace: default}\nspec: {minAvailable: 1, schedulerName: volcano, queue: default, tasks: [{name: w, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}\n' "$1"
}
first_deed() { # first_deed USER: seconds from when USER took the lease to its first binding, or group
  python3 - "$scratch/audit.log" "$1" "$PROGRAM" << 'PY'
import datetime, json, sys
is_of_scheduler = sys.argv[3] == "scheduler"
lease = deed = made = None
for line in open(sys.argv[1]):
    event = json.loads(line)
    if event["responseStatus"]["code"] >= 300:
        continue
    at = datetime.datetime.fromisoformat(event["stageTimestamp"].replace("Z", "+00:00")).timestamp()
    target = event["objectRef"]
    is_new = event["verb"] == "create" and not target.get("subresource") and target.get("name", "").startswith("taken-over")
    if is_new and target["resource"] == ("pods" if is_of_scheduler else "jobs"):
        made = max(made or at, at)
    if event["user"]["username"] != sys.argv[2]:
        continue
    if target["resource"] == "leases":
        lease = min(lease or at, at)
    if target.get("subresource") == "binding" if is_of_scheduler else is_new and target["resource"] == "podgroups":
        deed = min(deed or at, at)
if not (lease and deed and made):
    sys.exit("no lease, no deed or no work in the audit log")
if made > lease:
    sys.exit("the work was made %.3f s after the lease was taken: a longer --leader-elect-lease-duration is needed" % (made - lease))
print("%.3f" % (deed - lease))
PY
}
work() { if [ "$PROGRAM" = scheduler ]; then group "$1"; else job "$1"; fi; }
is_done() { if [ "$PROGRAM" = scheduler ]; then [ "$(kubectl get pod "$1-9" -o 'jsonpath={.spec.nodeName}')" ]; else kubectl get podgroups -o name | grep -q "/$1-"; fi; }
done_with() { for _ in $(seq 600); do is_done "$1" && return; sleep 0.1; done; echo "nobody cared for $1" >&2; exit 1; }
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
at_rest() { # at_rest PID: waits until it needs next to nothing for three seconds: what it watches is there, and dealt with
  local before=-9 now
  for _ in $(seq 200); do
    now=$(ticks "$1")
    [ $((now - before)) -gt 6 ] || return 0
    before=$now
    sleep 3
  done
  echo "$PROGRAM never rests" >&2
  exit 1
}
port=${STOCK_HEALTH_PORT:-28911}
start first "$port"
ready "$port"
start second $((port + 1))
ready $((port + 1))
# The queue that a scheduler makes.
[ "$PROGRAM" = scheduler ] ||
  printf 'apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: default}\nspec: {weight: 1}\n' | kubectl apply -f - > /dev/null
work warm | kubectl apply -f - > /dev/null
done_with warm
for one in "${programs[@]:0:2}"; do at_rest "$one"; done
kill -STOP "${programs[0]}"
work taken-over | kubectl create -f - > /dev/null
kill -9 "${programs[0]}"
wait "${programs[0]}" 2> /dev/null || true
done_with taken-over
took=$(first_deed second)
there=$(kubectl get --raw '/api/v1/pods?resourceVersion=0' | grep -o '"nodeName":"' | wc -l)
what="a scheduler that stood by binds"
[ "$PROGRAM" = scheduler ] || what="controllers that stood by make a group"
echo "nodes $NODES, pods bound $there: $what $took s after having the lease"
