# What the tests of several copies of a program share: a server with an audit log, users that it tells apart, copies that elect a leader, nodes
# and jobs, and what the log says. Each sources this after lib.sh and `need`; NAME=value of start_server go before it as an array `server`.
start_server "${server[@]}" APISERVER_EXTRA="--audit-policy-file=$PWD/tests/stock/audit_writes.yaml --audit-log-path=$scratch/audit.log"
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
start() { # start NAME PROGRAM PORT [FLAG...]
  run "$1" "$bin/$2" --kubeconfig "$(config "$1")" "${elect[@]}" --enable-healthz --healthz-address "127.0.0.1:$3" "${@:4}"
  pid[$1]=$!
}
ready() { curl -fs "http://127.0.0.1:$1/readyz"; }
for node in n1 n2 n3 n4; do
  printf -- '---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, annotations: {kwok.x-k8s.io/node: fake}}\nstatus: {capacity: {cpu: "64", memory: 64Gi, pods: "500"}, allocatable: {cpu: "64", memory: 64Gi, pods: "500"}}\n' $node
done | kubectl apply -f - > /dev/null
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
other() { [ -n "$(holder "$1")" ] && [ "$(holder "$1")" != "$2" ]; }
gone() { ! kill -0 "${pid[$1]}" 2> /dev/null || grep -q '^State:.Z' "/proc/${pid[$1]}/status"; }
is() { [ "$1" = "$2" ] || { echo "$1 is not $2"; false; }; }
holder() { kubectl -n volcano-system get lease "$1" -o 'jsonpath={.spec.holderIdentity}'; }
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
