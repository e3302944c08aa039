#!/usr/bin/env bash
# Our rules as policies on a stock kube-apiserver: it takes every object, refuses and fills in what the policies say, and judges the
# rules of our CRDs in the words that our own server uses. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need policies etcd kube-apiserver
volcano=$bin/volcano
answers() { # answers TEXT KIND SPEC: what the server says to an object of the kind holds the text
  local out
  out=$(printf 'apiVersion: %s\nkind: %s\nmetadata: {name: x, namespace: default}\nspec: %s\n' "${2%/*}" "${2##*/}" "$3" |
    kubectl create --dry-run=server -o yaml -f - 2>&1)
  [[ $out == *"$1"* ]] || { echo "$out" | tr '\n' ' '; return 1; }
}
start_server KCM=0 KWOK=0
"$volcano" crd > "$scratch/crd.yaml"
"$volcano" policies > "$scratch/policies.yaml"
check "the server accepts our CRDs" kubectl apply --server-side -f "$scratch/crd.yaml"
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
check "and our policies" kubectl apply -f "$scratch/policies.yaml"
check "which apply again without a change" sh -c "! kubectl apply -f $scratch/policies.yaml | grep -v unchanged"
job=batch.volcano.sh/v1alpha1/Job
template='template: {spec: {containers: [{name: c, image: x}]}}'
refused="ValidatingAdmissionPolicy 'job-validation-policy' with binding 'job-validation-policy-binding' denied request: "
for try in 1 2 3 4 5 6 7 8 9 10; do # policies are in force a moment after they are written
  answers "$refused" $job "{minAvailable: 9, tasks: [{name: a, replicas: 1, $template}]}" > /dev/null && break
  sleep 0.5
done
check "a job that can never start" answers "${refused}job 'minAvailable' should not be greater than total replicas in tasks" $job \
  "{minAvailable: 9, tasks: [{name: a, replicas: 1, $template}]}"
check "policies of tasks" answers "${refused}invalid policy event" $job \
  "{tasks: [{name: a, replicas: 1, policies: [{event: OutOfSync, action: AbortJob}], $template}]}"
check "defaults of tasks" answers 'name: default0' $job "{tasks: [{replicas: 2, $template}]}"
check "defaults of jobs" answers 'minAvailable: 2' $job "{tasks: [{replicas: 2, $template}]}"
check "an order of amounts" wait_for 30 answers 'deserved resource values must be <= capability' scheduling.volcano.sh/v1beta1/Queue \
  '{capability: {cpu: 1}, deserved: {cpu: 1100m}}'
check "a pattern that does not compile" answers 'missing argument to repetition operator' topology.volcano.sh/v1alpha1/HyperNode \
  '{tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: "*"}}}]}'
check "a rule of a schema" answers 'spec.members[0].selector: Invalid value: Either ExactMatch or RegexMatch or LabelMatch must be specified' \
  topology.volcano.sh/v1alpha1/HyperNode '{tier: 1, members: [{type: Node, selector: {}}]}'
echo '{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "lab", "annotations": {"volcano.sh/allowed-namespaces": "lab"}}, "spec": {"weight": 1}}' > "$scratch/queue.json"
wait_for 30 kubectl apply -f "$scratch/queue.json"
named() { answers 'queue `lab` is not for namespace `default` (volcano.sh/allowed-namespaces)' "$job" "{queue: lab, tasks: [{name: a, replicas: 1, $template}]}"; }
check "a queue for a namespace" wait_for 20 named # policies see a new queue a moment later
sent_to_nodes() { # sent_to_nodes SPEC PATH VALUE: what the demonstration makes of a pod
  local out
  out=$(printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default, annotations: {volcano.sh/resource-group: default}}\nspec: %s\n' "$1" |
    kubectl create --dry-run=server -o "jsonpath=$2" -f - 2>&1)
  [ "$out" = "$3" ] || { echo "$out" | tr '\n' ' '; return 1; }
}
kubectl create serviceaccount default > /dev/null 2>&1
container='containers: [{name: c, image: x}]'
check "a pod is sent to a group of nodes" sent_to_nodes "{$container}" '{.spec.schedulerName} {.spec.nodeSelector}' 'volcano {"volcano.sh/node-group":"compute"}'
check "beside what it has" sent_to_nodes "{$container, nodeSelector: {a: b}}" '{.spec.nodeSelector}' '{"a":"b","volcano.sh/node-group":"compute"}'
check "and tolerates their taint, once" sent_to_nodes "{$container}" '{.spec.tolerations[?(@.key=="volcano.sh/node-group")].value}' compute
