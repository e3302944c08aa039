#!/usr/bin/env bash
# What people read with kubectl: wide columns, why a job waits, and what its kinds are.
. "$(dirname "$0")/lib.sh"

job() { # job NAME CPU
  printf 'apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s}\nspec:\n  minAvailable: 1\n  queue: people\n  schedulerName: volcano\n  tasks:\n  - name: a\n    replicas: 1\n    template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, command: [sleep, "1000"], resources: {requests: {cpu: "%s"}}}]}}\n' "$1" "$2"
}
pytorch_job() { # pytorch_job NAME CPU
  printf 'apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: %s}\nspec:\n  runPolicy: {schedulingPolicy: {queue: people}}\n  pytorchReplicaSpecs: {Worker: {replicas: 1, restartPolicy: Never, template: {spec: {containers: [{name: pytorch, image: x, command: [sleep, "1000"], resources: {requests: {cpu: "%s"}}}]}}}}\n' "$1" "$2"
}
# has PATTERN COMMAND...: the command prints a line like this, whatever spaces are between its words.
has() {
  local pattern=$1
  shift
  "$@" > "$scratch/said" 2>&1
  sed -i 's/[[:space:]][[:space:]]*/ /g; s/^ //; s/ $//' "$scratch/said"
  grep -E -- "$pattern" "$scratch/said" > /dev/null || { cat "$scratch/said"; return 1; }
}
wide_columns_say_more() {
  expect "a queue's use" wait_for 20 has '^people root [0-9]+m?s Open cpu: 100m, pods: 1 cpu: 400 1 2$' kubectl get queue people -o wide
  expect "queues as in Volcano" has '^NAME PARENT AGE$' kubectl get queue
  expect "a job" has '^fits Running 1 1 [0-9]+m?s people 0 0 0$' kubectl get vcjob fits -o wide
  expect "why a job waits" wait_for 10 has '^large Pending 1 [0-9]+m?s people 1 0 0 can never start: asks for 300 cpu, all nodes together have' kubectl get vcjob large -o wide
  expect "why its group waits" has '^large-[-0-9a-f]+ Pending 1 [0-9]+m?s people 0 0 can never start: asks for 300 cpu, all nodes together have' kubectl get podgroup -o wide
  expect "headers of jobs" has '^NAME STATUS MINAVAILABLE RUNNINGS AGE QUEUE WAITING SUCCEEDED FAILED REASON$' kubectl get vcjob -o wide
  expect "jobs as in Volcano" has '^NAME STATUS MINAVAILABLE RUNNINGS AGE$' kubectl get vcjob
  expect "headers of groups" has '^NAME STATUS MINMEMBER RUNNINGS AGE QUEUE SUCCEEDED FAILED REASON$' kubectl get podgroup -o wide
  expect "groups as in Volcano" has '^NAME STATUS MINMEMBER RUNNINGS AGE$' kubectl get podgroup
}
describe_says_why_a_job_waits() {
  local group=$(kubectl get podgroup -o name | grep /large- | head -1)
  expect "its group's events" wait_for 10 has '^Warning Unschedulable .* can never start: asks for 300 cpu' kubectl describe "$group"
  expect "its own events" wait_for 10 has '^Warning PodGroupPending .* PodGroup default:large unschedulable, reason: can never start: asks for 300 cpu' kubectl describe vcjob large
  expect "a training job's" wait_for 10 has '^Warning PodGroupPending .* PodGroup default/large waits: can never start: asks for 300 cpu' kubectl describe pytorchjob large
  expect "nothing about a job that runs" has '^Events: <none>$' kubectl describe vcjob fits
  kubectl patch vcjob large --subresource status --type merge -p '{"status": {"pending": 7}}' > /dev/null
  expect "another look" wait_for 10 sh -c "! kubectl get vcjob large -o 'jsonpath={.status.pending}' | grep -q 7"
  expect "it said once" [ "$(kubectl get events --field-selector involvedObject.kind=Job,involvedObject.name=large -o 'jsonpath={range .items[*]}{.reason}{.count}{end}')" = PodGroupPending1 ]
}
a_closed_queue_says_so() {
  kubectl apply -f - > /dev/null <<< '{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "shut"}, "spec": {"capability": {"cpu": "400"}}}'
  job late 300 | sed 's/queue: people/queue: shut/' | kubectl apply -f - > /dev/null
  build/release/bin/vcctl queue operate -n shut -a close > /dev/null
  expect "its state" wait_for 10 has '^shut root [0-9]+m?s (Closing|Closed) ' kubectl get queue shut -o wide
  expect "who closed it" wait_for 10 has '^Normal CloseQueue .* Close queue succeed$' kubectl describe queue shut
  expect "its job" wait_for 10 has '^late Pending 1 [0-9]+m?s shut 1 0 0 queue shut is clos' kubectl get vcjob late -o wide
}
explain_describes_our_kinds() {
  local kind
  for kind in vcjob queue podgroup pytorchjob hypernode; do
    expect "$kind" has '^(A|An) [A-Z][A-Za-z]+ .*' kubectl explain "$kind"
    expect "$kind: apiVersion" has '^The group and version' kubectl explain "$kind"
    expect "$kind: kind" has '^What this object is' kubectl explain "$kind"
  done
}
explain_describes_pods() {
  expect "a pod" has '^One or more containers that run together' kubectl explain pod
  expect "its spec" has '^What runs, and what it needs' kubectl explain pod.spec
  expect "a field" has 'run to their end one after the other' kubectl explain pod.spec.initContainers
  expect "a field of a job of ours" has "in place of the image's ENTRYPOINT" kubectl explain vcjob.spec.tasks.template.spec.containers.command
  expect "a field of all kinds" has 'Texts that lists, watches and controllers select by' kubectl explain deployment.metadata.labels
}

start_cluster --host-rootfs || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
printf 'apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: people}\nspec: {capability: {cpu: "400"}}\n' | kubectl apply -f - > /dev/null
{ job fits 100m; echo ---; job large 300; echo ---; pytorch_job large 300; } | kubectl apply -f - > /dev/null
run_tests wide_columns_say_more describe_says_why_a_job_waits a_closed_queue_says_so explain_describes_our_kinds explain_describes_pods
