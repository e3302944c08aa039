#!/usr/bin/env bash
# What is wrong around our programs, on a stock kube-apiserver: each is named in a message, nothing crashes, and once it is right they go
# on without a restart. Rubbish in the Secret of certificates is in certificates_test.sh. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need "bad input" etcd kube-apiserver
start_server KWOK=0 KCM=0
server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
kubectl create namespace volcano-system > /dev/null
port=${STOCK_HEALTH_PORT:-28811}
config() { # config NAME CA SERVER: a kubeconfig with a file for its token
  cp "$scratch/pki/admin.token" "$scratch/$1.token"
  cat > "$scratch/$1.kubeconfig" << YAML
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$3", certificate-authority: $2}}]
users: [{name: u, user: {tokenFile: $scratch/$1.token}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
YAML
}
ready() { curl -fs "http://127.0.0.1:$1/readyz"; }
why() { curl -s "http://127.0.0.1:$1/readyz"; }
says() { why "$1" | grep "$2" > /dev/null; }
start() { # start NAME PROGRAM PORT FLAG...
  run "$1" "$bin/$2" --kubeconfig "$scratch/$1.kubeconfig" --enable-healthz --healthz-address "127.0.0.1:$3" "${@:4}"
}
alive() { kill -0 "$1"; }
not_ready_alive() { ! ready "$1" && alive "$2"; }

# A CA that has not signed the server.
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/other.key" -out "$scratch/other.crt" -days 2 -subj /CN=other 2> /dev/null
config wrong-ca "$scratch/other.crt" "$server"
start wrong-ca vc-scheduler "$port"
check "a wrong CA is named" wait_for 10 grep -qi 'certificate' "$scratch/wrong-ca.log"
check "with the server" grep -q "$(sed 's#https://##' <<< "$server")" "$scratch/wrong-ca.log"
strange=${programs[-1]}

# A server that is not there yet, then one without our CRDs, then a token that does not count any more.
config later "$scratch/pki/ca.crt" "https://127.0.0.1:$((port + 9))"
config controllers "$scratch/pki/ca.crt" "https://127.0.0.1:$((port + 9))"
start later vc-scheduler $((port + 1)) --leader-elect=false
scheduler=${programs[-1]}
start controllers vc-controller-manager $((port + 2)) --leader-elect=false
controllers=${programs[-1]}
check "a server that cannot be reached is named" wait_for 10 grep -q "127.0.0.1:$((port + 9))" "$scratch/later.log"
check "by the controllers, too" wait_for 10 grep -q "127.0.0.1:$((port + 9))" "$scratch/controllers.log"
check "and the scheduler is not ready" sh -c "! curl -fs http://127.0.0.1:$((port + 1))/readyz"
run forward python3 tests/stock/forward.py $((port + 9)) "${server##*:}"
forward=${programs[-1]}
check "once it is there, missing CRDs are named" wait_for 20 grep -q 'podgroups.* cannot be listed' "$scratch/later.log"
check "where the scheduler is asked, too" wait_for 10 says $((port + 1)) 'cannot be listed'
check "with what to do" wait_for 10 grep -q 'volcano crd' "$scratch/later.log"
"$bin/volcano" crd | kubectl apply --server-side -f - > /dev/null
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
check "once they are there it is ready" wait_for 60 ready $((port + 1))
check "and so are the controllers" wait_for 60 ready $((port + 2))
check "the scheduler with the wrong CA is not ready, and lives" not_ready_alive "$port" "$strange"
echo rubbish > "$scratch/other.crt"
check "a CA file with rubbish is named, and what was known stays" wait_for 20 grep -q "$server cannot be read again.*CA certificate" "$scratch/wrong-ca.log"
cp "$scratch/pki/ca.crt" "$scratch/other.crt"
check "once the CA file is mended it is ready" wait_for 60 ready "$port"
check "without a restart" alive "$strange"
job() { printf 'apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s}\nspec: {minAvailable: 1, schedulerName: volcano, tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}\n' "$1"; }
has_group() { kubectl get podgroups -o name | grep "/$1-" > /dev/null; }
kubectl apply -f <(job before) > /dev/null
check "a job gets its group" wait_for 20 has_group before
echo expired > "$scratch/controllers.token"
kill "$forward" # the next connection has to show the token
run forward python3 tests/stock/forward.py $((port + 9)) "${server##*:}"
# A token file is read again after a minute: until then jobs still get their groups with the old one.
tried=0
is_named() { tried=$((tried + 1)); kubectl apply -f <(job "try-$tried") > /dev/null; elapse 1 a job each second is enough; grep -qi 'unauthorized' "$scratch/controllers.log"; }
# A write that fails is tried again later and later: a change of the job asks for one now.
goes_on() { kubectl annotate job.batch.volcano.sh/after poke=$RANDOM --overwrite > /dev/null; elapse 1 a change each second is enough; has_group after; }
check "a token that does not count is named" wait_for 90 is_named
kubectl apply -f <(job after) > /dev/null
cp "$scratch/pki/admin.token" "$scratch/controllers.token"
check "with a new one they go on" wait_for 120 goes_on
not_ended() { [ "$(kubectl get jobs.batch.volcano.sh -o 'jsonpath={.items[?(@.status.state.phase=="Terminated")].metadata.name}')" = "" ]; }
check "and no job was ended for it" not_ended
check "without a restart" alive "$controllers"
check "and so does the scheduler" alive "$scheduler"

# A server older than the oldest that is supported, which is upgraded later.
cat > "$scratch/old.py" << 'PY'
import http.server, json, sys
class Old(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        known = self.path == "/version"
        minor = open(sys.argv[2]).read().strip()
        body = json.dumps({"major": "1", "minor": minor, "gitVersion": f"v1.{minor}.3"} if known else {"kind": "Status", "code": 404, "reason": "NotFound"}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_PUT = do_GET
    def log_message(self, *words): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Old).serve_forever()
PY
echo 27 > "$scratch/minor"
run old-server python3 "$scratch/old.py" $((port + 12)) "$scratch/minor"
wait_for 60 curl -fs "http://127.0.0.1:$((port + 12))/version"
run old "$bin/vc-scheduler" --master "http://127.0.0.1:$((port + 12))" --leader-elect=false
old=${programs[-1]}
check "a server that is too old is named" wait_for 60 grep -q 'the server is Kubernetes v1.27.3; 1.30 is the oldest that is supported' "$scratch/old.log"
"$bin/volcano" preflight --master "http://127.0.0.1:$((port + 12))" > "$scratch/old-preflight.log" 2>&1
check "by preflight, too" grep -q '^problem the server is Kubernetes v1.27.3' "$scratch/old-preflight.log"
echo 34 > "$scratch/minor"
check "once it is upgraded, that is told" wait_for 60 grep -q 'the server is Kubernetes v1.34.3 now' "$scratch/old.log"
check "without a restart" alive "$old"
kill "$old"

# Credentials of a program, which expire.
cat > "$scratch/login" << TEXT
#!/bin/bash
echo x >> $scratch/logins
printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "%s", "expirationTimestamp": "%s"}}' \\
  "\$(cat $scratch/pki/admin.token)" "\$(date -u -d '+25 seconds' +%Y-%m-%dT%H:%M:%SZ)"
TEXT
chmod +x "$scratch/login"
config exec "$scratch/pki/ca.crt" "$server"
sed -i "s#{tokenFile: .*}}#{exec: {apiVersion: client.authentication.k8s.io/v1, command: $scratch/login, interactiveMode: Never}}}#" "$scratch/exec.kubeconfig"
start exec vc-scheduler $((port + 5)) --leader-elect=false
check "with credentials of a program it is ready" wait_for 60 ready $((port + 5))
asked_again() { [ "$(wc -l < "$scratch/logins")" -ge 2 ]; }
check "before they expire the program is asked again" wait_for 60 asked_again
kill "${programs[-1]}"

# A lease that is refused.
kubectl create serviceaccount poor -n volcano-system > /dev/null
config poor "$scratch/pki/ca.crt" "$server"
kubectl create token poor -n volcano-system > "$scratch/poor.token"
start poor vc-controller-manager $((port + 6)) --leader-elect-retry-period 1s
check "a lease that is refused is named with the account" wait_for 60 grep -q 'lease volcano-system/vc-controller-manager: .*system:serviceaccount:volcano-system:poor.*leases' "$scratch/poor.log"
check "and it is not ready" not_ready_alive $((port + 6)) "${programs[-1]}"
kubectl create clusterrolebinding poor --clusterrole cluster-admin --serviceaccount volcano-system:poor > /dev/null
check "once the account may, it leads" wait_for 60 ready $((port + 6))
check "without a restart" alive "${programs[-1]}"
kill "${programs[-1]}"

# A second installation: Volcano's chart gives each its leases in its own namespace, so its pods are what is seen of it.
kubectl create namespace second > /dev/null
kubectl create serviceaccount default -n second > /dev/null
pod() { # pod NAME APP FLAG...: one that runs
  local flags
  flags=$(printf ', "%s"' "${@:3}")
  kubectl apply -f - > /dev/null << YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: second, labels: {app: $2}}
spec: {containers: [{name: c, image: i, args: ["--logtostderr"$flags]}]}
YAML
  kubectl patch pod "$1" -n second --subresource status --type merge -p '{"status": {"phase": "Running"}}' > /dev/null
}
pod other-name volcano-scheduler --scheduler-name=fast --leader-elect=false
pod same-lease volcano-scheduler --leader-elect-resource-namespace=volcano-system
pod second-scheduler volcano-scheduler --leader-elect-resource-namespace=second --enable-healthz=true
pod lease-in-the-way volcano-scheduler --scheduler-name=slow --leader-elect-resource-namespace=volcano-system
pod second-controllers volcano-controller --leader-elect=false --scheduler-name=slow
config twice "$scratch/pki/ca.crt" "$server"
start twice vc-scheduler $((port + 7))
said='pod second/second-scheduler is of a second installation in namespace second: it has lease second/volcano, this one lease volcano-system/volcano.*scheduler volcano. Uninstall'
check "a second installation is named by the scheduler" wait_for 60 grep -q "$said" "$scratch/twice.log"
no_others() { ! grep -E 'other-name|same-lease' "$1"; }
check "and one that has its lease and cares for other pods" wait_for 60 grep -q 'pod second/lease-in-the-way is of another installation that has lease volcano-system/volcano, too, .*nobody cares for the pods of scheduler volcano while' "$scratch/twice.log"
check "and no pods that do no harm" no_others "$scratch/twice.log"
config twice-controllers "$scratch/pki/ca.crt" "$server"
start twice-controllers vc-controller-manager $((port + 8))
twice_controllers=${programs[-1]}
check "and by the controllers" wait_for 60 grep -q 'pod second/second-controllers .*: it has no lease, this one lease volcano-system/vc-controller-manager, .* both work on all Jobs and Queues' "$scratch/twice-controllers.log"
kubectl create deployment volcano-scheduler -n second --image i > /dev/null
"$bin/volcano" preflight --kubeconfig "$KUBECONFIG" > "$scratch/second-preflight.log" 2>&1
check "and by preflight" grep -q '^problem Deployment second/volcano-scheduler in namespace second cares for the pods of scheduler volcano' "$scratch/second-preflight.log"
kubectl create deployment volcano-controller -n second --image i -- vc-controller-manager --scheduler-name=slow > /dev/null
"$bin/volcano" preflight --kubeconfig "$KUBECONFIG" > "$scratch/second-preflight.log" 2>&1
check "and so are controllers for another scheduler" grep -q '^problem Deployment second/volcano-controller in namespace second cares for the pods of scheduler slow, and works on all Jobs and Queues' "$scratch/second-preflight.log"
kubectl delete pod -n second --all --grace-period 0 --force > /dev/null 2>&1
check "once it is gone, that is told" wait_for 90 grep -q 'no second installation cares' "$scratch/twice.log"

# A configuration that goes away, is rubbish, and comes back.
config follower "$scratch/pki/ca.crt" "$server"
printf 'actions: "enqueue, allocate"\ntiers:\n- plugins: [{name: gang}, {name: predicates}]\n' > "$scratch/scheduler.conf"
start follower vc-scheduler $((port + 3)) --scheduler-conf "$scratch/scheduler.conf" --leader-elect=false --enable-metrics --listen-address "127.0.0.1:$((port + 4))"
follower=${programs[-1]}
check "a scheduler with a configuration is ready" wait_for 20 ready $((port + 3))
mv "$scratch/scheduler.conf" "$scratch/away.conf"
check "a configuration that has gone is named, and stays in force" wait_for 10 grep -q "configuration $scratch/scheduler.conf: .*; the previous one stays" "$scratch/follower.log"
echo 'actions: "fly"' > "$scratch/scheduler.conf"
check "rubbish is named" wait_for 10 grep -q 'fly' "$scratch/follower.log"
sed 's/allocate/allocate, backfill/' "$scratch/away.conf" > "$scratch/scheduler.conf"
kill -HUP "$follower"
in_force() { curl -fs "http://127.0.0.1:$((port + 4))/debug/config" | grep backfill > /dev/null; }
check "a good one is taken at SIGHUP" wait_for 10 in_force
check "and it lives" alive "$follower"

# The ConfigMaps that the controllers read: they go away while they are in use, and come back with something else in them.
kill "$controllers" "$twice_controllers"
wait "$controllers" "$twice_controllers" 2> /dev/null
config maps "$scratch/pki/ca.crt" "$server"
node() { printf -- '---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {%s}}\nstatus: {capacity: {cpu: "4", memory: 8Gi, pods: "50"}, allocatable: {cpu: "4", memory: 8Gi, pods: "50"}}\n' "$1" "$2" | kubectl apply -f - > /dev/null; }
in_system() { kubectl -n volcano-system "$@"; }
map() { # map NAME KEY TEXT
  in_system create configmap "$1" --from-literal "$2=$3" > /dev/null
}
discovery() { map volcano-controller-configmap volcano-controller.conf "networkTopologyDiscovery: [{source: label, enabled: true, config: {networkTopologyTypes: {$1: [{nodeLabel: $1}, {nodeLabel: kubernetes.io/hostname}]}}}]"; }
shards() { map volcano-sharding-configmap sharding.yaml "schedulerConfigs: [{name: $1}]"; }
node n1 "rack: r1, row: a, kubernetes.io/hostname: n1"
discovery rack
shards first
start maps vc-controller-manager $((port + 10)) --leader-elect=false --controllers '*' --shard-sync-period 5s
maps=${programs[-1]}
hyper_node() { kubectl get hypernodes -l "$1" -o name | grep .; }
shard_has() { kubectl get nodeshard "$1" -o 'jsonpath={.spec.nodesDesired}' | grep "$2"; }
check "HyperNodes are found as a ConfigMap says" wait_for 60 hyper_node rack=r1
check "nodes are shared out as another says" wait_for 60 shard_has first n1
in_system delete configmap volcano-controller-configmap volcano-sharding-configmap > /dev/null
told() { in_system get events -o 'jsonpath={range .items[*]}{.involvedObject.name}: {.message}{"\n"}{end}' | grep "^$1: ConfigMap volcano-system/$1 is gone"; }
check "that the one for HyperNodes has gone is told" wait_for 60 told volcano-controller-configmap
check "and that the one for shards has" wait_for 60 told volcano-sharding-configmap
node n2 "rack: r2, row: b, kubernetes.io/hostname: n2"
check "shards are made as before" wait_for 60 shard_has first n2
check "HyperNodes stay" hyper_node rack=r1
discovery row
shards second
check "once they are back, HyperNodes are found as the new one says" wait_for 60 hyper_node row=b
check "and nodes are shared out as the new one says" wait_for 60 shard_has second n2
check "without a restart" alive "$maps"
exit $failed
