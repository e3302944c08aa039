#!/usr/bin/env bash
# A loop of a pipeline whose steps are one gang, and for which its queue has no room: it says why it waits, starts nothing, and starts whole once there is room.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
turns=4

# Four turns of a tenth of a CPU each, in a queue that has room for four, but not beside another pod.
the_run() {
  python3 - $turns << 'PYTHON' | kubectl create -f - > /dev/null
import json, sys
number = {"parameterType": "NUMBER_INTEGER"}
spec = {
    "schemaVersion": "2.1.0", "pipelineInfo": {"name": "gang"},
    "deploymentSpec": {"executors": {"train": {"container": {
        "image": "host", "command": ["sh", "-c", "echo turn $0"], "args": ["{{$.inputs.parameters['n']}}"], "resources": {"resourceCpuRequest": "100m"}}}}},
    "components": {"train": {"executorLabel": "train", "inputDefinitions": {"parameters": {"n": number}}}},
    "root": {"dag": {"tasks": {"loop": {"componentRef": {"name": "train"}, "parameterIterator": {
        "itemInput": "n", "items": {"raw": json.dumps(list(range(int(sys.argv[1]))))}}}}}}}
gang = {"platforms": {"kubernetes": {"deploymentSpec": {"executors": {"train": {"podMetadata": {"annotations": {"volcano.sh/loop-gang": "true"}}}}}}}}
print(json.dumps({"apiVersion": "pipelines.kubeflow.org/v2beta1", "kind": "PipelineRun",
                  "metadata": {"name": "gang", "annotations": {"scheduling.volcano.sh/queue-name": "small"}},
                  "spec": {"pipelineSpec": spec, "platformSpec": gang}}))
PYTHON
}
holder() {
  kubectl apply -f - > /dev/null << 'YAML'
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: small}
spec: {capability: {cpu: 450m}}
---
apiVersion: v1
kind: Pod
metadata: {name: holder, annotations: {scheduling.volcano.sh/queue-name: small}}
spec:
  schedulerName: volcano
  terminationGracePeriodSeconds: 0
  containers: [{name: holder, image: host, command: [sleep, "600"], resources: {requests: {cpu: 100m}}}]
YAML
}
pods() { kubectl get pods -l pipelines.kubeflow.org/run=gang "$@"; }
all_pods_are_there() { [ "$(pods -o name | wc -l)" = $turns ]; }
group() { kubectl get podgroups -l pipelines.kubeflow.org/run=gang -o "jsonpath={.items[*]$1}"; }
why="queue small: cpu 100m of 450m used or admitted, this group asks for 400m more"
graph_says_why() { [ "$("$volcano" pipeline graph gang | grep -c -- "PENDING .* $why")" = $turns ]; }
explained() { build/release/bin/vcctl explain podgroup -N "$(group .metadata.name)" | grep -q -- "it waits: $why"; }

a_gang_without_room_waits_whole() {
  expect "a pod that holds room" holder
  expect "it runs" wait_for 30 field_is pod holder .status.phase Running
  expect "a run" the_run
  expect "the pods of all turns" wait_for 30 all_pods_are_there
  expect "one group for them" [ "$(group .spec.minMember)" = $turns ]
  expect "why, in the words of the command" wait_for 30 graph_says_why
  expect "why, explained" wait_for 30 explained
  # Nothing of it has begun, however often it was looked at.
  expect "no pod on a node" [ -z "$(pods -o 'jsonpath={.items[*].spec.nodeName}')" ]
  expect "no step that runs" [ "$(kubectl get pipelinetasks -l pipelines.kubeflow.org/run=gang -o 'jsonpath={.items[?(@.spec.type=="CONTAINER")].status.state}')" = "PENDING PENDING PENDING PENDING" ]
  expect "what waits is not the run's end" [ -z "$(field pipelinerun gang .status.finishedAt)" ]
}
it_starts_when_there_is_room() {
  kubectl delete pod holder > /dev/null
  expect "its end" wait_for 60 sh -c "kubectl get pipelinerun gang -o 'jsonpath={.status.finishedAt}' | grep -q ."
  expect "its state: $(field pipelinerun gang .status.error)" field_is pipelinerun gang .status.state SUCCEEDED
  expect "a pod for each turn, once" [ "$(pods -o 'jsonpath={.items[*].status.phase}' | tr ' ' '\n' | grep -c Succeeded)" = $turns ]
}

if [ $root = 0 ]; then
  echo "skip loop_gang: containers need root"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc
run_tests a_gang_without_room_waits_whole it_starts_when_there_is_room
exit "${failed:-0}"
