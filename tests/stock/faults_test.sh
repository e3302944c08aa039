#!/usr/bin/env bash
# Faults under load on a stock Kubernetes: 300 KWOK nodes, jobs of 50 pods that nearly fill them, and while pods are made and bound the API
# server is killed, etcd stands still, watches are cut, the scheduler and the controllers are killed, and the webhook is down with both
# failure policies. In the end every pod was made and bound exactly once, no node has more than it can take, no gang is in part.
# Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes. NODES and PODS (of a job) make it larger.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
: "${NODES:=300}" "${PODS:=50}"
need faults etcd kube-apiserver kube-controller-manager kwok
# Pods of jobs go on here: KWOK's stage that ends them is left out.
rm "$scratch/stages"
cp -r "$built/stages" "$scratch/stages"
: > "$scratch/stages/pod/fast/pod-complete.yaml"
start_server INFLIGHT=2000 APISERVER_EXTRA="--audit-policy-file=$PWD/tests/stock/audit_writes.yaml --audit-log-path=$scratch/audit.log"
"$bin/volcano" crd | kubectl apply --server-side -f - > /dev/null
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
kubectl create namespace volcano-system > /dev/null
port=${STOCK_HEALTH_PORT:-28711}
server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')

# The way of our programs to the server, which can be cut.
way=$((port + 9))
forward() { python3 tests/stock/forward.py $way "${server##*:}" > "$scratch/forward.log" 2>&1 & forward=$!; programs+=($!); }
cut_watches() { kill "$forward"; wait "$forward" 2> /dev/null; forward; }
forward
cp "$KUBECONFIG" "$scratch/cut.kubeconfig"
kubectl --kubeconfig "$scratch/cut.kubeconfig" config set-cluster fixture --server "https://127.0.0.1:$way" > /dev/null

hook_port=$((port + 8))
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/key.pem" -out "$scratch/cert.pem" -days 2 -subj /CN=localhost \
  -addext subjectAltName=IP:127.0.0.1 2> /dev/null
configuration() { # configuration PATH KIND NAME GROUP VERSION RESOURCE
  printf -- '---\napiVersion: admissionregistration.k8s.io/v1\nkind: %sWebhookConfiguration\nmetadata: {name: volcano-admission-service%s}\nwebhooks:\n- {name: %s.volcano.sh, admissionReviewVersions: [v1], sideEffects: NoneOnDryRun, failurePolicy: Ignore, timeoutSeconds: 2, clientConfig: {url: "https://127.0.0.1:%s%s"}, rules: [{apiGroups: [%s], apiVersions: [%s], resources: [%s], operations: [CREATE]}]}\n' \
    "$2" "${1//\//-}" "$3" $hook_port "$1" "$4" "$5" "$6"
}
{
  configuration /jobs/mutate Mutating mutatejob batch.volcano.sh v1alpha1 jobs
  configuration /jobs/validate Validating validatejob batch.volcano.sh v1alpha1 jobs
  configuration /pods/validate Validating validatepod '""' v1 pods
} | kubectl apply -f - > /dev/null
policy() { # policy Fail|Ignore: what the server does when the webhook is down
  for one in mutatingwebhookconfiguration/volcano-admission-service-jobs-mutate validatingwebhookconfiguration/volcano-admission-service-{jobs,pods}-validate; do
    kubectl patch "$one" --type json -p "[{op: replace, path: /webhooks/0/failurePolicy, value: $1}]" > /dev/null
  done
}
declare -A pid
start() { # start NAME PROGRAM FLAG...
  run "$1" "$bin/$2" --kubeconfig "$scratch/cut.kubeconfig" "${@:3}"
  pid[$1]=$!
}
elect=(--leader-elect-lease-duration=6s --leader-elect-renew-deadline=4s --leader-elect-retry-period=1s)
start_webhooks() {
  start "$1" vc-webhook-manager --port $hook_port --tls-cert-file "$scratch/cert.pem" --tls-private-key-file "$scratch/key.pem" --ca-cert-file "$scratch/cert.pem" \
    --webhook-url here --enabled-admission /jobs/mutate,/jobs/validate,/pods/validate
}
start_webhooks webhooks
check "the webhook answers" wait_for 30 grep -q answering "$scratch/webhooks.log"
start controllers vc-controller-manager --leader-elect=false --kube-api-qps 2000 --kube-api-burst 2000
# Without leases these do not end when the server is away: what they decided meanwhile must not do harm.
# Few writes a second, so that it can be killed in the middle of them.
start scheduler vc-scheduler --leader-elect=false --enable-metrics --listen-address "127.0.0.1:$port" --kube-api-qps 20 --kube-api-burst 20
check "the queue default opens" wait_for 30 field_is queue default .status.state Open
for ((node = 0; node < NODES; ++node)); do
  printf -- '---\napiVersion: v1\nkind: Node\nmetadata: {name: n%s, annotations: {kwok.x-k8s.io/node: fake}}\nstatus: {capacity: {cpu: "4", memory: 16Gi, pods: "20"}, allocatable: {cpu: "4", memory: 16Gi, pods: "20"}}\n' "$node"
done | kubectl create -f - > /dev/null
nodes_ready() { [ "$(kubectl get nodes -o 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{.spec.taints[*].key} {end}' | grep -o '\bTrue\b' | wc -l)" = "$NODES" ]; }
check "$NODES nodes are ready" wait_for 120 nodes_ready

job() { # job NAME PODS CPU
  printf -- '---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s, namespace: default}\nspec:\n  minAvailable: %s\n  schedulerName: volcano\n  queue: default\n  tasks:\n  - {name: w, replicas: %s, template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx, resources: {requests: {cpu: "%s"}}}]}}}\n' "$1" "$2" "$2" "$3"
}
jobs() { for ((one = $1; one <= $2; ++one)); do job "load-$one" "$PODS" 1; done; }
bound() { kubectl get --raw '/api/v1/namespaces/default/pods?resourceVersion=0' | grep -o '"nodeName":"' | wc -l; }
more_than() { [ "$(bound)" -gt "$1" ]; }
at_least() { [ "$(bound)" -ge "$1" ]; }
# What can never start as a whole, because it is larger than the cluster, begins first.
job too-large $((NODES * 4 + 1)) 1 > "$scratch/large.yaml"

# 1: the scheduler is killed in the middle of binds.
jobs 1 4 | kubectl apply -f - > /dev/null
wait_for 60 more_than 20
kill -9 "${pid[scheduler]}"
wait "${pid[scheduler]}" 2> /dev/null
at_kill=$(bound)
in_the_middle() { echo "$at_kill"; [ "$at_kill" -gt 0 ] && [ "$at_kill" -lt $((4 * PODS)) ]; }
check "scheduler killed in the middle of its binds" in_the_middle
start scheduler-2 vc-scheduler --leader-elect=false
check "scheduler killed at $at_kill of $((4 * PODS)) binds: another binds the rest" wait_for 120 at_least $((4 * PODS))

# 2: the API server is killed and started again.
jobs 5 8 | kubectl apply -f - > /dev/null
wait_for 60 more_than $((4 * PODS + 20))
api=$(awk '$2 == "kube-apiserver" { print $1 }' "$scratch/pids")
mapfile -d '' -t command < "/proc/$api/cmdline"
kill -9 "$api"
free() { [ -z "$(ss -Hltn "sport = :${server##*:}")" ]; } # an ending process holds its port until its last thread is gone
wait_for 30 free
setsid "${command[@]}" >> "$scratch/log/kube-apiserver.log" 2>&1 < /dev/null &
sed -i "s/^$api kube-apiserver/$! kube-apiserver/" "$scratch/pids"
disown $! # down.sh ends it, not this test's own end
check "API server killed and started again: the rest is bound" wait_for 180 at_least $((8 * PODS))

# 3: etcd stands still for some time, so that writes hang and may have happened.
jobs 9 12 | kubectl apply -f - > /dev/null
wait_for 60 more_than $((8 * PODS + 20))
etcd=$(awk '$2 == "etcd" { print $1 }' "$scratch/pids")
kill -STOP "$etcd"
elapse 12 the length of the fault
kill -CONT "$etcd"
check "etcd stood still: the rest is bound" wait_for 180 at_least $((12 * PODS))

# 4: all connections are cut, again and again, while pods are made and bound.
jobs 13 16 | kubectl apply -f - > /dev/null
cuts=0
until [ $cuts -ge 6 ]; do cut_watches; cuts=$((cuts + 1)); wait_for 1 more_than $((12 * PODS + cuts * PODS / 2)); done
check "connections cut $cuts times: the rest is bound" wait_for 120 at_least $((16 * PODS))

# 5: the controllers are killed while they make pods.
jobs 17 18 | kubectl apply -f - > /dev/null
made() { [ "$(kubectl get pods -l volcano.sh/job-name=load-17 -o name | wc -l)" -gt 0 ]; }
wait_for 60 made
kill -9 "${pid[controllers]}"
wait "${pid[controllers]}" 2> /dev/null
start controllers-2 vc-controller-manager --leader-elect=false --kube-api-qps 2000 --kube-api-burst 2000
check "controllers killed: others make the rest" wait_for 120 at_least $((18 * PODS))

# 6: the webhook is down. With Fail nothing is made, and goes on when it is back; with Ignore it is made without being judged.
policy Fail
kill -9 "${pid[webhooks]}"
wait "${pid[webhooks]}" 2> /dev/null
refused() { [[ $(jobs 19 19 | kubectl apply -f - 2>&1) == *'failed calling webhook "mutatejob.volcano.sh"'* ]]; }
check "webhook down, Fail: a job is refused" wait_for 20 refused
policy Ignore
jobs 19 19 | kubectl apply -f - > /dev/null
check "webhook down, Ignore: a job is made and bound" wait_for 60 at_least $((19 * PODS))
policy Fail
# The pods of a job that is there already are refused, too, until the webhook is back.
kubectl patch validatingwebhookconfiguration volcano-admission-service-jobs-validate --type json -p '[{op: replace, path: /webhooks/0/failurePolicy, value: Ignore}]' > /dev/null
kubectl patch mutatingwebhookconfiguration volcano-admission-service-jobs-mutate --type json -p '[{op: replace, path: /webhooks/0/failurePolicy, value: Ignore}]' > /dev/null
only_job() { jobs 20 20 | kubectl apply -f -; }
check "webhook of pods down, Fail: a job is made" wait_for 20 only_job
held() { kubectl get events --field-selector involvedObject.name=load-20 -o 'jsonpath={.items[*].message}' | grep 'failed calling webhook' > /dev/null; }
check "and its event says what its pods wait for" wait_for 60 held
start_webhooks webhooks-2
check "once the webhook is back they are made and bound" wait_for 180 at_least $((20 * PODS))
kubectl apply -f "$scratch/large.yaml" > /dev/null
waits() { [ "$(kubectl get podgroups -o 'jsonpath={range .items[?(@.spec.minMember=='$((NODES * 4 + 1))')]}{.status.phase}{end}')" = "$1" ]; }
check "a gang larger than the cluster waits" wait_for 60 waits Pending

# The end: what the objects say, and what the audit log says.
kubectl get pods -o json > "$scratch/pods.json"
cat > "$scratch/judge.py" << 'PY'
# usage: judge.py PODS AUDIT CPU_OF_A_NODE: one line, and exit code 1 if something is wrong
import collections, json, sys
pods = json.load(open(sys.argv[1]))["items"]
wrong, per_node, per_job = [], collections.Counter(), collections.Counter()
for pod in pods:
    job, node = pod["metadata"]["labels"]["volcano.sh/job-name"], pod["spec"].get("nodeName")
    per_job[job] += 1
    if node is None:
        wrong.append(f"{pod['metadata']['name']} is not bound")
    else:
        per_node[node] += int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
wrong += [f"node {node} has {used} of {sys.argv[3]}" for node, used in per_node.items() if used > int(sys.argv[3])]
made, bound, refused, deleted = collections.Counter(), collections.Counter(), 0, 0
for line in open(sys.argv[2]):
    event = json.loads(line)
    target, code = event["objectRef"], event["responseStatus"]["code"]
    if target.get("resource") != "pods" or target.get("namespace") != "default":
        continue
    if target.get("subresource") == "binding":
        if code < 300:
            bound[target["name"]] += 1
        else:
            refused += 1
    elif event["verb"] == "create" and code < 300 and "subresource" not in target:
        made[target.get("name") or event.get("responseObject", {}).get("metadata", {}).get("name", "?")] += 1
    elif event["verb"] == "delete" and code < 300:
        deleted += 1
wrong += [f"{name} was bound {count} times" for name, count in bound.items() if count > 1]
wrong += [f"{name} was made {count} times" for name, count in made.items() if count > 1 and name != "?"]
wrong += [f"{deleted} pods were deleted"] if deleted else []
wrong += [f"job {job} has {count} pods" for job, count in per_job.items() if count != int(sys.argv[4])]
print(f"{len(pods)} pods of {len(per_job)} jobs on {len(per_node)} nodes; bindings in the audit log {sum(bound.values())}, refused {refused}; " + ("; ".join(wrong[:5]) or "nothing wrong"))
sys.exit(1 if wrong else 0)
PY
judged=$(python3 "$scratch/judge.py" "$scratch/pods.json" "$scratch/audit.log" 4 "$PODS") && code=0 || code=1
echo "  $judged"
sound() { echo "$judged"; [ $code = 0 ]; }
check "every pod was made and bound once, no node has too much, no gang is in part" sound
count_is() { [ "$(kubectl get pods -o name | wc -l)" = "$1" ]; }
check "nothing is lost, and nothing too much" count_is $((20 * PODS))
running() { [ "$(kubectl get vcjob -o 'jsonpath={range .items[?(@.status.state.phase=="Running")]}x{end}' | wc -c)" = 20 ]; }
check "all jobs run" wait_for 60 running
live() { for one in scheduler-2 controllers-2 webhooks-2; do kill -0 "${pid[$one]}" || { echo "$one has ended"; return 1; }; done; }
check "the programs that were not killed live" live
exit $failed
