#!/usr/bin/env bash
# Two schedulers and two controller managers on a stock kube-apiserver: one of each acts. The leader is killed, or stopped and let go on
# later: the other takes over within the lease, no pod is bound twice, and nothing that a deposed leader decided arrives (the audit log
# of the server shows all bindings). Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need ha etcd kube-apiserver kube-controller-manager kwok
start_server APISERVER_EXTRA="--audit-policy-file=$PWD/tests/stock/audit_writes.yaml --audit-log-path=$scratch/audit.log"
"$bin/volcano" crd | kubectl apply --server-side -f - > /dev/null
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
kubectl create namespace volcano-system > /dev/null
lease=6
elect=(--leader-elect-lease-duration=${lease}s --leader-elect-renew-deadline=4s --leader-elect-retry-period=1s)
declare -A pid
port=${STOCK_HEALTH_PORT:-28611}
config() { # config NAME: prints a kubeconfig of a user of that name, so that the audit log tells them apart
  openssl req -newkey rsa:2048 -nodes -keyout "$scratch/$1.key" -out "$scratch/$1.csr" -subj "/O=system:masters/CN=$1" 2> /dev/null
  openssl x509 -req -in "$scratch/$1.csr" -CA "$scratch/pki/ca.crt" -CAkey "$scratch/pki/ca.key" -CAcreateserial -days 2 -out "$scratch/$1.crt" 2> /dev/null
  cp "$KUBECONFIG" "$scratch/$1.kubeconfig"
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-credentials "$1" --client-certificate="$scratch/$1.crt" --client-key="$scratch/$1.key" > /dev/null
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-context --current --user "$1" > /dev/null
  echo "$scratch/$1.kubeconfig"
}
start() { # start NAME PROGRAM PORT
  run "$1" "$bin/$2" --kubeconfig "$(config "$1")" "${elect[@]}" --enable-healthz --healthz-address "127.0.0.1:$3"
  pid[$1]=$!
}
start scheduler-1 vc-scheduler "$port"
start controllers-1 vc-controller-manager $((port + 1))
ready() { curl -fs "http://127.0.0.1:$1/readyz"; }
check "a scheduler is ready" wait_for 20 ready "$port"
check "controllers are ready" wait_for 20 ready $((port + 1))
start scheduler-2 vc-scheduler $((port + 2))
start controllers-2 vc-controller-manager $((port + 3))
check "a scheduler that stands by is ready" wait_for 20 ready $((port + 2))
check "and so are controllers" wait_for 20 ready $((port + 3))
for node in n1 n2 n3 n4; do
  printf -- '---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, annotations: {kwok.x-k8s.io/node: fake}}\nstatus: {capacity: {cpu: "64", memory: 64Gi, pods: "500"}, allocatable: {cpu: "64", memory: 64Gi, pods: "500"}}\n' $node
done | kubectl apply -f - > /dev/null
check "the queue default opens" wait_for 30 field_is queue default .status.state Open
job() { # job NAME PODS
  cat << YAML
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $1, namespace: default}
spec:
  minAvailable: $2
  schedulerName: volcano
  queue: default
  tasks:
  - {name: w, replicas: $2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx, resources: {requests: {cpu: 100m}}}]}}}
YAML
}
# Pods of jobs complete at once here; what counts is that each was bound.
bound() { [ "$(kubectl get pods -l "volcano.sh/job-name=$1" -o 'jsonpath={range .items[?(@.spec.nodeName)]}x{end}' | wc -c)" -ge "$2" ] || [ "$(kubectl get vcjob "$1" -o 'jsonpath={.status.state.phase}')" = Completed ]; }
holder() { kubectl -n volcano-system get lease "$1" -o 'jsonpath={.spec.holderIdentity}'; }
kubectl apply -f <(job before 20) > /dev/null
check "a job runs" wait_for 30 bound before 20

first=$(holder volcano) begun=$(date +%s%N)
kill -9 "${pid[scheduler-1]}"
wait "${pid[scheduler-1]}" 2> /dev/null
kubectl apply -f <(job killed 20) > /dev/null
check "when the scheduler is killed the other takes over" wait_for 30 bound killed 20
took=$((($(date +%s%N) - begun) / 1000000))
other() { [ -n "$(holder "$1")" ] && [ "$(holder "$1")" != "$2" ]; }
check "the lease is another's" other volcano "$first"
echo "  takeover of the scheduler, kill to the last of 20 binds: $took ms (lease $lease s)"
first=$(holder vc-controller-manager)
kill -9 "${pid[controllers-1]}"
wait "${pid[controllers-1]}" 2> /dev/null
kubectl apply -f <(job controllers-killed 5) > /dev/null
check "when the controllers are killed the others take over" wait_for 30 bound controllers-killed 5
check "and hold their lease" other vc-controller-manager "$first"

# The leader stands still with decisions on its way, its lease ends, the other decides, and it goes on.
start scheduler-3 vc-scheduler $((port + 4))
check "a third scheduler stands by" wait_for 20 ready $((port + 4))
first=$(holder volcano)
kubectl apply -f <(for i in 1 2 3 4; do job "stopped-$i" 25; done) > /dev/null
for _ in $(seq 100); do grep -q '"name":"stopped-' "$scratch/audit.log" 2> /dev/null && break; sleep 0.05; done
kill -STOP "${pid[scheduler-2]}"
check "when the scheduler stands still the other takes over" wait_for 30 other volcano "$first"
taken=$(date +%s)
all_bound() { for i in 1 2 3 4; do bound "stopped-$i" 25 || return 1; done; }
check "and binds what was left" wait_for 30 all_bound
kubectl apply -f <(job pending 20) > /dev/null # what it goes on to is there to be decided, too
kill -CONT "${pid[scheduler-2]}"
gone() { ! kill -0 "${pid[scheduler-2]}" 2> /dev/null || grep -q '^State:.Z' "/proc/${pid[scheduler-2]}/status"; }
check "the one that stood still ends when it goes on" wait_for 10 gone
check "and says why" grep -q 'leaderelection lost' "$scratch/scheduler-2.log"
check "what came meanwhile is bound" wait_for 30 bound pending 20

cat > "$scratch/audit.py" << 'PY'
# usage: audit.py LOG: bindings that succeeded, and how many pods had two; audit.py LOG USER SECONDS: writes of USER after that time
# which are not of leases; audit.py LOG PREFIX: pods of that prefix that were made, and how many twice; audit.py LOG USER first:
# milliseconds from its first write of a lease to its first other one.
import datetime, json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
def count(keys):
    print(len(keys), len(keys) - len(set(keys)))
def is_ok(event):
    return event["responseStatus"]["code"] < 300
if len(sys.argv) == 2:
    count([e["objectRef"]["namespace"] + "/" + e["objectRef"]["name"] for e in events if e["objectRef"].get("subresource") == "binding" and is_ok(e)])
elif len(sys.argv) == 3:
    made = [e for e in events if e["verb"] == "create" and e["objectRef"]["resource"] == "pods" and "subresource" not in e["objectRef"] and is_ok(e)]
    count([e["objectRef"]["name"] for e in made if e["objectRef"].get("name", "").startswith(sys.argv[2])])
else:
    def seconds(event):
        return datetime.datetime.fromisoformat(event["requestReceivedTimestamp"].replace("Z", "+00:00")).timestamp()
    if sys.argv[3] == "first":
        own = [e for e in events if e["user"]["username"] == sys.argv[2] and is_ok(e)]
        lease, other = (min(seconds(e) for e in own if (e["objectRef"]["resource"] == "leases") == leases) for leases in (True, False))
        print(round((other - lease) * 1000))
    else:
        print(sum(1 for e in events if e["user"]["username"] == sys.argv[2] and seconds(e) > float(sys.argv[3]) and e["objectRef"]["resource"] != "leases"))
PY
bindings=$(python3 "$scratch/audit.py" "$scratch/audit.log")
is() { [ "$1" = "$2" ] || { echo "$1 is not $2"; false; }; }
echo "  bindings and double ones: $bindings"
check "no pod was bound twice" is "$bindings" "165 0"
check "the deposed one had written before" sh -c "[ \$(python3 '$scratch/audit.py' '$scratch/audit.log' scheduler-2 0) -gt 0 ]"
check "and nothing after its lease had ended" is "$(python3 "$scratch/audit.py" "$scratch/audit.log" scheduler-2 "$taken")" 0

# The same of controllers: they go on with a job that came meanwhile, once.
start controllers-3 vc-controller-manager $((port + 5))
check "third controllers stand by" wait_for 20 ready $((port + 5))
first=$(holder vc-controller-manager)
kill -STOP "${pid[controllers-2]}"
kubectl apply -f <(job while-stopped 10) > /dev/null
check "when the controllers stand still the others take over" wait_for 30 bound while-stopped 10
taken=$(date +%s)
kill -CONT "${pid[controllers-2]}"
gone_too() { ! kill -0 "${pid[controllers-2]}" 2> /dev/null || grep -q '^State:.Z' "/proc/${pid[controllers-2]}/status"; }
check "those that stood still end when they go on" wait_for 10 gone_too
check "and have written nothing since" is "$(python3 "$scratch/audit.py" "$scratch/audit.log" controllers-2 "$taken")" 0
took=$(python3 "$scratch/audit.py" "$scratch/audit.log" controllers-3 first)
check "those that took over had written nothing before" test "$took" -ge 0
echo "  takeover of the controllers, lease taken to first write: $took ms"
check "no pod was made twice" is "$(python3 "$scratch/audit.py" "$scratch/audit.log" while-stopped-w-)" "10 0"

# A lease that is refused is told, and taken once it is not.
kubectl create serviceaccount poor > /dev/null
cp "$KUBECONFIG" "$scratch/poor.kubeconfig"
kubectl --kubeconfig "$scratch/poor.kubeconfig" config set-credentials poor --token="$(kubectl create token poor)" > /dev/null
kubectl --kubeconfig "$scratch/poor.kubeconfig" config set-context --current --user poor > /dev/null
run poor "$bin/vc-scheduler" --kubeconfig "$scratch/poor.kubeconfig" "${elect[@]}"
check "a lease that is refused is named with the account" wait_for 10 grep -q 'lease volcano-system/volcano: .*system:serviceaccount:default:poor.*leases' "$scratch/poor.log"
exit $failed
