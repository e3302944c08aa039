#!/usr/bin/env bash
# The programs as the accounts that the chart makes, with work that makes them use what they may. Whatever they ask for is in the audit
# log: nothing is refused, and what nobody uses has its reason in docs/compat/install.md. Then a right is taken away: the message names verb,
# resource and account, and once it is back the program goes on. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need rights etcd kube-apiserver kube-controller-manager kwok helm-template
cat > "$scratch/audit.yaml" << 'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, userGroups: ["system:serviceaccounts:volcano-system", "system:serviceaccounts:kubeflow"]}
- {level: None}
YAML
start_server APISERVER_EXTRA="--audit-policy-file=$scratch/audit.yaml --audit-log-path=$scratch/audit.log"
port=${STOCK_HEALTH_PORT:-28911}
in_system() { kubectl -n volcano-system "$@"; }
kubectl create namespace volcano-system > /dev/null
check "deploy/volcano.yaml" kubectl apply -f deploy/volcano.yaml
check "deploy/volcano-agent-scheduler.yaml" kubectl apply -f deploy/volcano-agent-scheduler.yaml
check "deploy/training-operator.yaml" kubectl apply --server-side -f deploy/training-operator.yaml
kubectl delete validatingwebhookconfiguration validator.training-operator.kubeflow.org > /dev/null # the server cannot reach it; training_test.sh asks it
"$built/bin/helm-template" --namespace volcano-system --set custom.hypernode_controller_mode=standalone deploy/chart/volcano > "$scratch/standalone.yaml"
python3 - "$scratch/standalone.yaml" > "$scratch/hypernode.yaml" << 'PY'
import sys
print("\n---\n".join(one for one in open(sys.argv[1]).read().split("\n---\n") if "name: volcano-hypernode-controller\n" in one))
PY
check "the HyperNode controller of its own" kubectl apply -f "$scratch/hypernode.yaml"
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
in_system delete deployment --all > /dev/null # nobody runs its containers; the programs run here
account() { # account NAME [TOKEN]: prints the name of a kubeconfig
  cp "$KUBECONFIG" "$scratch/$1.kubeconfig"
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-credentials "$1" --token="${2:-$(in_system create token "volcano-$1")}" > /dev/null
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-context --current --user "$1" > /dev/null
  echo "$scratch/$1.kubeconfig"
}
# The API server finds the webhook under the name of its service, and the service here.
in_system delete service volcano-admission-service > /dev/null
in_system create service externalname volcano-admission-service --external-name localhost > /dev/null
for hook in $(kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o name | grep volcano-admission-service); do
  kubectl patch "$hook" --type json -p "[{op: replace, path: /webhooks/0/clientConfig/service/port, value: $((port + 3))}]" > /dev/null
done
check "the hook makes the keys" "$bin/gen-admission-secret.sh" --service volcano-admission-service --namespace volcano-system --secret volcano-admission-secret \
  --kubeconfig "$(account admission-init)"
run admission "$bin/vc-webhook-manager" --kubeconfig "$(account admission)" --port $((port + 3)) --webhook-namespace volcano-system \
  --webhook-service-name volcano-admission-service --tls-secret-name volcano-admission-secret \
  --enabled-admission /jobs/mutate,/jobs/validate,/podgroups/validate,/queues/mutate,/queues/validate,/hypernodes/validate,/cronjobs/validate
in_system patch configmap volcano-controller-configmap --type merge -p '{"data": {"volcano-controller.conf": "networkTopologyDiscovery: [{source: label, enabled: true, interval: 5s, config: {networkTopologyTypes: {rack: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}}}]"}}' > /dev/null
cat > "$scratch/scheduler.conf" << 'YAML'
actions: "enqueue, allocate, backfill, preempt, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates, arguments: {predicate.DynamicResourceAllocationEnable: true}}, {name: proportion}, {name: nodeorder}, {name: binpack}, {name: network-topology-aware}, {name: numa-aware}]
YAML
elect=(--leader-elect --leader-elect-resource-namespace=volcano-system)
start_controllers() {
  KUBE_POD_NAMESPACE=volcano-system run "$1" "$bin/vc-controller-manager" --kubeconfig "$scratch/controllers.kubeconfig" "${elect[@]}" --controllers '*' --shard-sync-period 5s \
    --enable-healthz --healthz-address "127.0.0.1:$port"
  controllers=${programs[-1]}
}
account controllers > /dev/null
start_controllers controllers
MY_POD_NAMESPACE=kubeflow run operator "$bin/training-operator" --gang-scheduler-name=volcano --leader-elect \
  --kubeconfig "$(account training-operator "$(kubectl -n kubeflow create token training-operator)")" --metrics-bind-address 127.0.0.1:0 \
  --health-probe-bind-address "127.0.0.1:$((port + 4))" --webhook-server-port $((port + 5))
run agent-scheduler "$bin/vc-agent-scheduler" --kubeconfig "$(account agent-scheduler)" --scheduler-name=agent-scheduler "${elect[@]}" \
  --scheduler-sharding-mode soft --enable-healthz --healthz-address "127.0.0.1:$((port + 6))"
start_scheduler() {
  run "$1" "$bin/vc-scheduler" --kubeconfig "$scratch/scheduler.kubeconfig" "${elect[@]}" --scheduler-conf "$scratch/scheduler.conf" \
    --enable-healthz --healthz-address "127.0.0.1:$((port + 1))" "${@:2}"
}
account scheduler > /dev/null
start_scheduler scheduler --scheduler-sharding-mode soft
check "the queue default opens" wait_for 60 field_is queue default .status.state Open
for node in 1 2 3; do
  printf -- '---\napiVersion: v1\nkind: Node\nmetadata: {name: n%s, labels: {rack: r%s, disk: "yes", kubernetes.io/hostname: n%s}, annotations: {kwok.x-k8s.io/node: fake}}\nstatus: {capacity: {cpu: "4", memory: 8Gi, pods: "50"}, allocatable: {cpu: "4", memory: 8Gi, pods: "50"}}\n' $node $((node % 2)) $node
done | kubectl apply -f - > /dev/null
check "the work is admitted" wait_for 60 kubectl apply -f tests/stock/rights_workload.yaml
bound() { [ -n "$(kubectl get pod "$1" -o 'jsonpath={.spec.nodeName}')" ]; }
check "a job with plugins completes" wait_for 120 field_is vcjob plugins .status.state.phase Completed
check "a pod with a volume is bound" wait_for 60 bound with-disk
check "a pod with a device is bound" wait_for 60 bound with-card
check "a job's own claim is made" wait_for 60 sh -c 'kubectl get pvc -o name | grep -q volumes'
check "pods of a StatefulSet are bound" wait_for 60 bound store-0
gone() { ! kubectl get "$1" "$2" > /dev/null 2>&1; }
check "a job that ended is deleted when its time is over" wait_for 60 gone vcjob short
check "a flow makes its job, and ends" wait_for 90 field_is jobflow flow .status.state.phase Succeed
check "HyperNodes are discovered" wait_for 60 sh -c '[ "$(kubectl get hypernodes -o name | wc -l)" -ge 2 ]'
check "shards are shared out" wait_for 60 sh -c '[ "$(kubectl get nodeshards -o name | wc -l)" -ge 1 ]'
check "a CronJob makes a job" wait_for 100 sh -c 'kubectl get vcjob -o name | grep -q every-minute'
check "pods of the agent scheduler are bound" wait_for 60 bound agent
check "also one with a volume" wait_for 60 bound agent-with-disk
check "and one with a device" wait_for 60 bound agent-with-card
check "pods of training jobs are made" wait_for 60 kubectl get pod torch-worker-0
check "and the launcher of an MPIJob" wait_for 60 kubectl get pod pi-launcher
check "and an autoscaler" wait_for 60 kubectl get hpa torch
for pod in torch-master-0 torch-worker-0; do kubectl patch pod $pod --subresource status --type merge -p '{"status": {"phase": "Succeeded"}}' > /dev/null; done
check "a training job succeeds" wait_for 60 field_is pytorchjob torch '.status.conditions[-1:].type' Succeeded
kubectl delete pytorchjobs,tfjobs,mpijobs,xgboostjobs,paddlejobs,jaxjobs --all > /dev/null # room for what follows
kubectl delete pods agent agent-with-disk agent-with-card > /dev/null
check "a queue is closed" "$bin/vcctl" queue operate -n team -a close --kubeconfig "$KUBECONFIG"
check "by the controllers" wait_for 30 field_is queue team .status.state Closed

# A pod of a higher priority takes the place of others; KWOK does not end those of a Deployment.
filler() { printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: low}\nspec:\n  replicas: 9\n  selector: {matchLabels: {app: low}}\n  template: {metadata: {labels: {app: low}, annotations: {volcano.sh/preemptable: "true"}}, spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}\n' | kubectl apply -f -; }
filler > /dev/null
full() { [ "$(kubectl get pods -l app=low -o 'jsonpath={range .items[?(@.spec.nodeName)]}x{end}' | wc -c)" -ge 8 ]; }
check "pods fill the nodes" wait_for 60 full
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: urgent}\nspec: {schedulerName: volcano, priorityClassName: high, containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}\n' | kubectl apply -f - > /dev/null
check "a pod of a higher priority takes the place of others" wait_for 60 bound urgent
kubectl delete cronjob.batch.volcano.sh every-minute > /dev/null 2>&1
kubectl delete jobflow flow > /dev/null 2>&1
check "a job is deleted" kubectl delete vcjob plugins
# The HyperNode controller as a program of its own, in place of the controllers: nodes get a label, and then another.
kill "$controllers"
wait "$controllers" 2> /dev/null
KUBE_POD_NAMESPACE=volcano-system HELM_RELEASE_NAME=volcano run hypernodes "$bin/vc-hypernode-controller-manager" --kubeconfig "$(account hypernode-controller)" \
  --leader-elect=true --leader-elect-resource-namespace=volcano-system --leader-elect-resource-name=volcano-hypernode-controller-manager \
  --enable-healthz=true --healthz-address "127.0.0.1:$((port + 7))" --enable-metrics=false
kubectl label node n3 rack=r9 --overwrite > /dev/null
hyper_node_counts() { [ "$(kubectl get hypernodes -l rack=r9 -o 'jsonpath={.items[0].status.nodeCount}')" = "$1" ]; }
check "the HyperNode controller of its own finds a HyperNode and counts its nodes" wait_for 60 hyper_node_counts 1
kubectl label node n2 rack=r9 --overwrite > /dev/null
check "and counts again" wait_for 60 hyper_node_counts 2
kubectl label node n2 n3 rack=r8 --overwrite > /dev/null
no_hyper_node() { [ -z "$(kubectl get hypernodes -l rack=r9 -o name)" ]; }
check "and deletes it" wait_for 60 no_hyper_node
kill "${programs[-1]}"
start_controllers controllers-2
kubectl get clusterroles,roles -A -o json > "$scratch/all_roles.json"
python3 - "$scratch/all_roles.json" "$scratch/roles.json" << 'PY'
import json, sys
roles = json.load(open(sys.argv[1]))["items"]
json.dump({"items": [one for one in roles if one["metadata"]["name"] in (
    "volcano-scheduler", "volcano-controllers", "volcano-admission", "volcano-admission-init", "volcano-agent-scheduler", "volcano-hypernode-controller", "training-operator")]}, open(sys.argv[2], "w"))
PY
judged=$(python3 tests/stock/rights_judge.py "$scratch/audit.log" "$scratch/roles.json" docs/compat/install.md) && code=0 || code=1
echo "$judged" | sed 's/^/  /'
nothing() { ! grep "^$1" <<< "$judged"; }
check "nothing that the programs ask for is refused" nothing refused
check "rights that nobody used are explained in docs/compat/install.md" nothing unused
check "and those that are said not to be used are not" nothing used
is() { [ "$1" = "$2" ] || { echo "$1 is not $2"; false; }; }
begins() { grep -F '"system:serviceaccount:volcano-system:volcano-'"$1"'"' "$scratch/audit.log" | grep -F "/$2?" | grep -c "$3"; }
for one in scheduler:pods controllers:jobs admission:queues; do
  check "the $one are read by a watch that begins with what there is" test "$(begins "${one%:*}" "${one#*:}" 'sendInitialEvents=true.*"code":200')" -ge 1
  check "and not listed in pages" is "$(begins "${one%:*}" "${one#*:}" 'limit=500.*"verb":"list"')" 0
done
enough() { [ "$(sed -n 's/ kinds of requests of 7 accounts.*//p' <<< "$judged")" -ge 150 ]; }
check "the test looked at the requests of six programs and the hook" enough

# A right that is missing.
without() { kubectl get clusterrole volcano-scheduler -o json | python3 -c 'import json, sys
role = json.load(sys.stdin)
role["rules"] = [one for one in role["rules"] if one["resources"] != ["pods/binding"]]
json.dump(role, sys.stdout)' | kubectl replace -f -; }
kubectl get clusterrole volcano-scheduler -o json > "$scratch/scheduler_role.json"
check "the right to bind is taken away" without
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: held}\nspec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}\n' | kubectl apply -f - > /dev/null
said='User "system:serviceaccount:volcano-system:volcano-scheduler" cannot create resource "pods/binding"'
named() { grep -F "$said" "$scratch/scheduler.log" || kubectl get events -o 'jsonpath={.items[*].message}' | grep -F "$said"; }
check "a missing right is named with verb, resource and account" wait_for 60 named
python3 - "$scratch/scheduler_role.json" << 'PY'
import json, sys
role = json.load(open(sys.argv[1]))
role["metadata"].pop("resourceVersion")
json.dump(role, open(sys.argv[1], "w"))
PY
kubectl replace -f "$scratch/scheduler_role.json" > /dev/null
check "once it is there the pod is bound" wait_for 120 bound held
exit $failed
