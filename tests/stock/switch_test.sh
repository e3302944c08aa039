#!/usr/bin/env bash
# docs/operations/from-volcano.md, step by step on a stock kube-apiserver: a cluster with objects as Volcano 1.16 stores them is looked at,
# decided on beside the scheduler that runs, taken over with its running jobs untouched, and given back. Kubelets are played by this
# test. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need switch etcd kube-apiserver kube-controller-manager
start_server KWOK=0 KCM_EXTRA="--controllers=*,-node-lifecycle-controller" APISERVER_EXTRA="--audit-policy-file=$PWD/tests/stock/audit_writes.yaml --audit-log-path=$scratch/audit.log"
# Definitions as Volcano 1.16 has them (docs/spec/api.md), made from ours by what is known to differ: a flow's patch has the defaults of a
# Job's spec and requires what that requires, nothing has our descriptions, and another tool has written them.
kubectl create --dry-run=client -o json -f <("$bin/volcano" crd) > "$scratch/ours.json"
python3 - "$scratch/ours.json" > "$scratch/theirs.json" << 'PY'
import json, sys
text, at, definitions = open(sys.argv[1]).read(), 0, []
while at < len(text.rstrip()):
    one, at = json.JSONDecoder().raw_decode(text, at)
    at += len(text[at:]) - len(text[at:].lstrip())
    definitions += one["items"] if one["kind"] == "List" else [one]
definitions = [one for one in definitions if one["spec"]["group"].endswith(".volcano.sh")]
def properties(name):
    found = next(one for one in definitions if one["metadata"]["name"] == name)
    return found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
def plain(schema):
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: plain(value) for key, value in schema.items() if key != "description" or isinstance(value, dict)}
patch = properties("jobflows.flow.volcano.sh")["properties"]["flows"]["items"]["properties"]["patch"]["properties"]
assert patch["jobSpec"] != properties("jobs.batch.volcano.sh")
patch["jobSpec"] = properties("jobs.batch.volcano.sh")
for one in definitions:
    one["metadata"]["annotations"] = {"controller-gen.kubebuilder.io/version": "v0.17.0", "helm.sh/resource-policy": "keep"}
    for version in one["spec"]["versions"]:
        version["schema"] = plain(version["schema"])
json.dump({"apiVersion": "v1", "kind": "List", "items": definitions}, sys.stdout)
PY
check "definitions as Volcano has them" kubectl create -f "$scratch/theirs.json"
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
kubectl create namespace volcano-system > /dev/null
kubectl create namespace empty > /dev/null
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
status() { kubectl "${@:3}" patch "$1" "$2" --subresource=status --type merge -p "{\"status\": $(cat)}" > /dev/null; }
for node in n1 n2; do
  printf 'apiVersion: v1\nkind: Node\nmetadata: {name: %s}\n' $node | kubectl apply -f - > /dev/null
  echo '{"capacity": {"cpu": "8", "memory": "8Gi", "pods": "50"}, "allocatable": {"cpu": "8", "memory": "8Gi", "pods": "50"}, "conditions": [{"type": "Ready", "status": "True"}]}' | status node $node
  kubectl taint node $node node.kubernetes.io/not-ready- > /dev/null 2>&1
done

# --- What Volcano has left: queues, leases, a configuration, a job that runs with three plugins, and one that has ended.
kubectl apply -f - > /dev/null << YAML
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: root}
spec: {weight: 1, reclaimable: false}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: default}
spec: {weight: 1, reclaimable: true, parent: root}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate, backfill"
    tiers:
    - plugins:
      - {name: priority}
      - {name: gang, enablePreemptable: false}
      - {name: conformance}
    - plugins:
      - {name: overcommit, arguments: {overcommit-facter: 1.5}}
      - {name: drf, enablePreemptable: false}
      - {name: predicates}
      - {name: proportion}
      - {name: nodeorder}
      - {name: binpack}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: default, annotations: {team: vision}, labels: {kind: training}}
spec:
  minAvailable: 2
  schedulerName: volcano
  queue: default
  maxRetry: 3
  plugins: {env: [], svc: [], ssh: []}
  policies: [{event: PodEvicted, action: RestartJob}]
  tasks:
  - name: master
    replicas: 1
    minAvailable: 1
    maxRetry: 3
    policies: [{event: TaskCompleted, action: CompleteJob}]
    template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx, resources: {requests: {cpu: "1"}}}]}}
  - name: worker
    replicas: 1
    minAvailable: 1
    maxRetry: 3
    template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx, resources: {requests: {cpu: "1"}}}]}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: ended, namespace: default}
spec:
  minAvailable: 1
  schedulerName: volcano
  queue: default
  maxRetry: 3
  tasks: [{name: t, replicas: 1, minAvailable: 1, maxRetry: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx}]}}}]
YAML
kubectl apply -f - > /dev/null << YAML
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: step, namespace: default}
spec: {minAvailable: 1, schedulerName: volcano, queue: none, tasks: [{name: t, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx}]}}}]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: patched, namespace: default}
spec: {jobRetainPolicy: retain, flows: [{name: absent, patch: {jobSpec: {minAvailable: 1, tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c, image: nginx}]}}}]}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: leaf}
spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: "n[12]"}}}]}
YAML
echo '{"state": "Open", "running": 1, "reservation": {}, "allocated": {"cpu": "2", "memory": "0"}}' | status queue default
echo '{"state": "Open", "reservation": {}, "allocated": {"cpu": "2", "memory": "0"}}' | status queue root
uid=$(kubectl get vcjob train -o 'jsonpath={.metadata.uid}')
owner="{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: train, uid: $uid, controller: true, blockOwnerDeletion: true}"
pod() { # pod TASK: as Volcano's job controller makes it, with what its plugins add
  cat << YAML
---
apiVersion: v1
kind: Pod
metadata:
  name: train-$1-0
  namespace: default
  ownerReferences: [$owner]
  annotations: {scheduling.k8s.io/group-name: train-$uid, volcano.sh/job-name: train, volcano.sh/job-retry-count: "0", volcano.sh/job-version: "0",
    volcano.sh/queue-name: default, volcano.sh/task-index: "0", volcano.sh/task-spec: $1, volcano.sh/template-uid: train-$1}
  labels: {volcano.sh/job-name: train, volcano.sh/job-namespace: default, volcano.sh/queue-name: default, volcano.sh/task-index: "0", volcano.sh/task-spec: $1}
spec:
  restartPolicy: Never
  schedulerName: volcano
  hostname: train-$1-0
  subdomain: train
  nodeName: n1
  containers:
  - name: c
    image: nginx
    resources: {requests: {cpu: "1"}}
    env:
    - {name: VK_TASK_INDEX, value: "0"}
    - {name: VC_TASK_INDEX, value: "0"}
    - {name: VC_MASTER_HOSTS, valueFrom: {configMapKeyRef: {name: train-svc, key: VC_MASTER_HOSTS}}}
    volumeMounts: [{name: train-svc, mountPath: /etc/volcano}, {name: train-ssh, mountPath: /root/.ssh}]
  volumes:
  - {name: train-svc, configMap: {name: train-svc}}
  - {name: train-ssh, secret: {secretName: train-ssh, defaultMode: 384}}
YAML
}
kubectl apply -f - > /dev/null << YAML
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: train-$uid, namespace: default, ownerReferences: [$owner], annotations: {team: vision}, labels: {kind: training}}
spec:
  minMember: 2
  minTaskMember: {master: 1, worker: 1}
  queue: default
  minResources: {count/pods: "2", pods: "2", cpu: "2", requests.cpu: "2"}
status:
  phase: Running
  running: 2
  conditions: [{type: Scheduled, status: "True", reason: tasks in gang are ready to be scheduled, transitionID: 5c1b0b0a-0000-4000-8000-000000000000, lastTransitionTime: "$(now)"}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: train-svc, namespace: default, ownerReferences: [$owner]}
data: {master.host: train-master-0.train, VC_MASTER_HOSTS: train-master-0.train, VC_MASTER_NUM: "1", worker.host: train-worker-0.train, VC_WORKER_HOSTS: train-worker-0.train, VC_WORKER_NUM: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: train, namespace: default, ownerReferences: [$owner]}
spec: {clusterIP: None, selector: {volcano.sh/job-name: train, volcano.sh/job-namespace: default}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: train, namespace: default, ownerReferences: [$owner]}
spec:
  podSelector: {matchLabels: {volcano.sh/job-name: train, volcano.sh/job-namespace: default}}
  policyTypes: [Ingress]
  ingress: [{from: [{podSelector: {matchLabels: {volcano.sh/job-name: train, volcano.sh/job-namespace: default}}}]}]
---
apiVersion: v1
kind: Secret
metadata: {name: train-ssh, namespace: default, ownerReferences: [$owner]}
data: {id_rsa: a2V5, id_rsa.pub: cHVi, authorized_keys: cHVi, config: Y29uZmln}
$(pod master)
$(pod worker)
YAML
pod_phase() { echo "{\"phase\": \"$2\", \"conditions\": [{\"type\": \"Ready\", \"status\": \"$([ "$2" = Running ] && echo True || echo False)\"}]}" | status pod "$1"; }
pod_phase train-master-0 Running
pod_phase train-worker-0 Running
cat << JSON | status vcjob train
{"state": {"phase": "Running", "lastTransitionTime": "$(now)"}, "minAvailable": 2, "running": 2,
 "taskStatusCount": {"master": {"phase": {"Running": 1}}, "worker": {"phase": {"Running": 1}}},
 "controlledResources": {"plugin-env": "env", "plugin-svc": "svc", "plugin-ssh": "ssh"},
 "conditions": [{"status": "Pending", "lastTransitionTime": "$(now)"}, {"status": "Running", "lastTransitionTime": "$(now)"}]}
JSON
echo "{\"state\": {\"phase\": \"Completed\", \"lastTransitionTime\": \"$(now)\"}, \"minAvailable\": 1, \"succeeded\": 1, \"version\": 3, \"runningDuration\": \"10m5s\", \"conditions\": [{\"status\": \"Completed\", \"lastTransitionTime\": \"$(now)\"}]}" | status vcjob ended
lease() { # lease NAME HOLDER [AHEAD]: as client-go renews it, by a clock that is so far ahead
  cat << YAML | kubectl apply -f - > /dev/null
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: $1, namespace: volcano-system}
spec: {holderIdentity: "$2", leaseDurationSeconds: 15, acquireTime: "$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)", renewTime: "$(date -u -d "${3:-now}" +%Y-%m-%dT%H:%M:%S.%6NZ)", leaseTransitions: 0}
YAML
}
theirs=volcano-scheduler-6d5b9c8f4-x2x7k_0f6a1c2e-0000-4000-8000-000000000000
renew() { while :; do lease volcano $theirs; lease vc-controller-manager $theirs '5 minutes'; sleep 1; done; }
renew & renewing=$!
programs+=($renewing)
wait_for 30 kubectl -n volcano-system get lease volcano vc-controller-manager

# --- 1. Look.
"$bin/volcano" preflight > "$scratch/preflight" 2>&1
preflight=$?
check "preflight says go on" test $preflight = 0
check "it names the version" grep -q '^ok .*Kubernetes v1\.' "$scratch/preflight"
check "the CRDs" grep -q '^ok .*jobs.batch.volcano.sh has the same fields' "$scratch/preflight"
check "who holds the lease" grep -q "lease volcano-system/volcano is held by $theirs" "$scratch/preflight"
check "also where the holder's clock is ahead" grep -q "lease volcano-system/vc-controller-manager is held by $theirs" "$scratch/preflight"
check "and what is not understood in the configuration" grep -q 'overcommit-facter' "$scratch/preflight"
# A definition that takes more than ours, and an object that only it takes.
kubectl patch crd commands.bus.volcano.sh --type json -p '[{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/action/type", "value": "integer"}]' > /dev/null
odd() { printf 'apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: odd, namespace: default}\naction: 3\n' | kubectl apply -f -; }
check "an object of another form is stored" wait_for 10 odd
"$bin/volcano" preflight > "$scratch/odd" 2>&1
preflight=$?
check "which is not a cluster to go on with" test $preflight = 1
check "the field that differs is named" grep -q '^change .*commands.bus.volcano.sh accepts less than before: action is string instead of integer' "$scratch/odd"
check "and the object" grep -q '^problem .*commands.bus.volcano.sh: 1 of 1 stored objects .*default/odd: action: ' "$scratch/odd"
kubectl delete commands.bus.volcano.sh odd > /dev/null
"$bin/volcano" crd | kubectl apply --server-side --force-conflicts -f - > /dev/null
kubectl create serviceaccount poor > /dev/null
cp "$KUBECONFIG" "$scratch/poor.kubeconfig"
kubectl --kubeconfig "$scratch/poor.kubeconfig" config set-credentials poor --token="$(kubectl create token poor)" > /dev/null
kubectl --kubeconfig "$scratch/poor.kubeconfig" config set-context --current --user poor > /dev/null
"$bin/volcano" preflight --kubeconfig "$scratch/poor.kubeconfig" --program scheduler > "$scratch/poor" 2>&1
poor=$?
check "an account without rights is not to go on" test $poor = 1
check "each is named with verb, resource and account" grep -q '^problem system:serviceaccount:default:poor may not create pods/binding: the scheduler needs that' "$scratch/poor"
check "a server that cannot be asked is another exit code" sh -c "'$bin/volcano' preflight --master https://127.0.0.1:1 > '$scratch/none' 2>&1; [ \$? = 2 ]"

# --- 2. Decide beside it.
openssl req -newkey rsa:2048 -nodes -keyout "$scratch/dry.key" -out "$scratch/dry.csr" -subj "/O=system:masters/CN=dry" 2> /dev/null
openssl x509 -req -in "$scratch/dry.csr" -CA "$scratch/pki/ca.crt" -CAkey "$scratch/pki/ca.key" -CAcreateserial -days 2 -out "$scratch/dry.crt" 2> /dev/null
cp "$KUBECONFIG" "$scratch/dry.kubeconfig"
kubectl --kubeconfig "$scratch/dry.kubeconfig" config set-credentials dry --client-certificate="$scratch/dry.crt" --client-key="$scratch/dry.key" > /dev/null
kubectl --kubeconfig "$scratch/dry.kubeconfig" config set-context --current --user dry > /dev/null
port=${STOCK_HEALTH_PORT:-28711}
run dry "$bin/vc-scheduler" --dry-run --kubeconfig "$scratch/dry.kubeconfig" --enable-metrics --listen-address "127.0.0.1:$port" --enable-healthz --healthz-address "127.0.0.1:$((port + 1))"
dry=${programs[-1]}
check "a dry run is ready" wait_for 20 curl -fs "http://127.0.0.1:$((port + 1))/readyz"
single() { # single NAME CPU: a pod in a group of its own
  cat << YAML
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: $1, namespace: empty}
spec: {minMember: 1, queue: default, minResources: {cpu: "$2"}}
status: {phase: Inqueue}
---
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: empty, annotations: {scheduling.k8s.io/group-name: $1}}
spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: "$2"}}}]}
YAML
}
wait_for 10 kubectl -n empty get serviceaccount default
bind() { # bind POD NODE
  printf '{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "%s", "namespace": "empty"}, "target": {"apiVersion": "v1", "kind": "Node", "name": "%s"}}' "$1" "$2" |
    kubectl create --raw "/api/v1/namespaces/empty/pods/$1/binding" -f - > /dev/null
}
differences() { curl -fs "http://127.0.0.1:$port/debug/differences"; }
counted() { differences | python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["decisions"][sys.argv[1]] < int(sys.argv[2]))' "$1" "$2"; }
kubectl apply -f <(single big 7) > /dev/null # fits on n2 only, where ours would put it
elapse 2 time for our own decision
bind big n2
check "the same decision is counted" wait_for 10 counted same 1
kubectl apply -f <(single huge 100) > /dev/null # fits nowhere
elapse 1 time for our own decision
bind huge n1
check "what would wait here is a difference" wait_for 10 counted only_there 1
check "with a line for its group" grep -q 'dry run: empty/huge: 1 of 1 decisions differ: huge: bound to n1, would wait here' "$scratch/dry.log"
kubectl -n empty delete pod huge --force > /dev/null 2>&1
kubectl apply -f <(single left 1) > /dev/null # nobody binds it
check "what would be bound here and waits is one, too" wait_for 30 counted only_here 1
check "a metric counts them" sh -c "curl -fs http://127.0.0.1:$port/metrics | grep -q 'volcano_dry_run_decisions_total{kind=\"only_here\"} 1'"
kill "$dry"
wait "$dry" 2> /dev/null
nothing_written() { ! grep '"username":"dry"' "$scratch/audit.log"; }
check "and a dry run has written nothing" nothing_written
kubectl -n empty delete pods,podgroups --all --force > /dev/null 2>&1

# --- 3. Switch. The new programs wait for the leases of the old ones.
snapshot() { kubectl get "$@" -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.uid} {.metadata.resourceVersion}{"\n"}{end}'; }
adopted() { snapshot pods,services,configmaps,secrets,networkpolicies -l '!none'; kubectl get podgroups -o 'jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.spec}{.status.phase}{"\n"}{end}'; kubectl get vcjob -o 'jsonpath={range .items[*]}{.metadata.name} {.spec}{.status.state.phase}{.status.controlledResources}{"\n"}{end}'; }
adopted > "$scratch/before"
kinds=jobs.batch.volcano.sh,cronjobs.batch.volcano.sh,podgroups.scheduling.volcano.sh,queues.scheduling.volcano.sh,jobflows.flow.volcano.sh,jobtemplates.flow.volcano.sh,hypernodes.topology.volcano.sh
specs() { kubectl get $kinds -A -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.spec}{"\n"}{end}'; }
specs > "$scratch/specs"
check "our definitions take the place of theirs" kubectl apply --server-side --force-conflicts -f <("$bin/volcano" crd)
wait_for 20 kubectl wait --for condition=established --timeout=5s crd --all
same_specs() { diff "$scratch/specs" <(specs); }
check "what is stored reads as before" wait_for 20 same_specs
stays_valid() { kubectl get $kinds -A -o json | kubectl replace --dry-run=server --validate=strict -f -; }
check "and is valid as it is" wait_for 20 stays_valid
run controllers "$bin/vc-controller-manager" --kubeconfig "$KUBECONFIG"
controllers=${programs[-1]}
kubectl -n volcano-system get configmap volcano-scheduler-configmap -o 'jsonpath={.data.volcano-scheduler\.conf}' > "$scratch/volcano-scheduler.conf"
run scheduler "$bin/vc-scheduler" --kubeconfig "$KUBECONFIG" --scheduler-conf "$scratch/volcano-scheduler.conf"
scheduler=${programs[-1]}
elapse 3 time to take a lease that is held
holder() { kubectl -n volcano-system get lease "$1" -o 'jsonpath={.spec.holderIdentity}'; }
still_theirs() { [ "$(holder volcano)" = $theirs ] && [ "$(holder vc-controller-manager)" = $theirs ]; }
check "ours wait while Volcano's hold the leases" still_theirs
kill $renewing
wait $renewing 2> /dev/null
ours() { [ "$(holder volcano)" != $theirs ] && [ "$(holder vc-controller-manager)" != $theirs ]; }
check "and take them when those are gone" wait_for 60 ours
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: after, namespace: default}
spec:
  minAvailable: 1
  schedulerName: volcano
  queue: default
  tasks: [{name: t, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx, resources: {requests: {cpu: "1"}}}]}}}]
YAML
on_a_node() { [ -n "$(kubectl get pod "$1" -o 'jsonpath={.spec.nodeName}')" ]; }
check "a new job is scheduled" wait_for 30 on_a_node after-t-0
pod_phase after-t-0 Running
check "and runs" wait_for 20 field_is vcjob after .status.state.phase Running
adopted | grep -v after > "$scratch/after"
check "what ran is adopted unchanged" diff "$scratch/before" "$scratch/after"
pod_phase train-worker-0 Failed
elapse 1 time for a policy that must not act
check "a policy of an adopted job is still Volcano's" field_is vcjob train .status.state.phase Running
pod_phase train-master-0 Succeeded
check "an adopted job ends by its policy" wait_for 20 field_is vcjob train .status.state.phase Completed

# --- 4. Back: ours stop and give up their leases; what is stored is what Volcano stores.
kill "$scheduler" "$controllers"
wait "$scheduler" "$controllers" 2> /dev/null
free() { [ -z "$(holder volcano)" ] && [ -z "$(holder vc-controller-manager)" ]; }
check "the leases are free at once" free
shape() { kubectl get vcjob after -o 'jsonpath={.status.state.phase} {.status.minAvailable} {.status.running} {.status.taskStatusCount}'; }
check "the job that ran with ours has Volcano's status" test "$(shape)" = 'Running 1 1 {"t":{"phase":{"Running":1}}}'
after_uid=$(kubectl get vcjob after -o 'jsonpath={.metadata.uid}')
check "and Volcano's group" test "$(kubectl get podgroup "after-$after_uid" -o 'jsonpath={.spec.minMember} {.spec.minTaskMember} {.spec.queue} {.status.phase}')" = '1 {"t":1} default Running'
check "and pods" test "$(kubectl get pod after-t-0 -o 'jsonpath={.metadata.annotations}' | python3 -c 'import json, sys; print(" ".join(sorted(json.load(sys.stdin))))')" = \
  "scheduling.k8s.io/group-name volcano.sh/job-name volcano.sh/job-retry-count volcano.sh/job-version volcano.sh/queue-name volcano.sh/task-index volcano.sh/task-spec volcano.sh/template-uid"
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: of-ours, namespace: default}
spec: {flows: [{name: absent, patch: {jobSpec: {queue: other}}}]}
YAML
others() { specs | grep -v '^JobFlow/of-ours '; }
others > "$scratch/specs"
check "their definitions take the place of ours" kubectl replace -f "$scratch/theirs.json"
wait_for 20 kubectl wait --for condition=established --timeout=5s crd --all
same_others() { diff "$scratch/specs" <(others); }
check "what ours have stored reads the same" wait_for 20 same_others
check "but for a flow's patch, which has the defaults that theirs give it" field_is jobflow of-ours '.spec.flows[0].patch.jobSpec.maxRetry' 3
check "and is valid as it is" wait_for 20 stays_valid
exit $failed
