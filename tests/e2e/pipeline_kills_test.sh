#!/usr/bin/env bash
# The server is killed while steps of a pipeline run and write artifacts, again and again: the run ends well, no step runs twice, each artifact is whole.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
turns=6

the_run() {
  python3 - $turns << 'PYTHON' | kubectl create -f - > /dev/null
import json, sys
write = 'mkdir -p "$(dirname "$1")"; for i in $(seq 20); do seq -f "$0 %.0f" 20000; sleep 0.05; done > "$1"; printf done > "$2"'
check = 'for i in 1 2; do cmp "$0" "$0" || exit 1; done; wc -c < "$0"'
number = {"parameterType": "NUMBER_INTEGER"}
data = {"artifactType": {"schemaTitle": "system.Dataset", "schemaVersion": "0.0.1"}}
spec = {
    "schemaVersion": "2.1.0", "pipelineInfo": {"name": "kills"},
    "deploymentSpec": {"executors": {
        "write": {"container": {"image": "host", "command": ["sh", "-c", write], "args": [
            "{{$.inputs.parameters['n']}}", "{{$.outputs.artifacts['data'].path}}", "{{$.outputs.parameters['said'].output_file}}"]}},
        "check": {"container": {"image": "host", "command": ["sh", "-c", check], "args": ["{{$.inputs.artifacts['data'].path}}"]}}}},
    "components": {
        "write": {"executorLabel": "write", "inputDefinitions": {"parameters": {"n": number}},
                  "outputDefinitions": {"artifacts": {"data": data}, "parameters": {"said": {"parameterType": "STRING"}}}},
        "check": {"executorLabel": "check", "inputDefinitions": {"artifacts": {"data": data}}},
        "turn": {"inputDefinitions": {"parameters": {"n": number}}, "dag": {"tasks": {
            "write": {"componentRef": {"name": "write"}, "inputs": {"parameters": {"n": {"componentInputParameter": "n"}}}},
            "check": {"componentRef": {"name": "check"}, "dependentTasks": ["write"],
                      "inputs": {"artifacts": {"data": {"taskOutputArtifact": {"producerTask": "write", "outputArtifactKey": "data"}}}}}}}}},
    "root": {"dag": {"tasks": {"loop": {"componentRef": {"name": "turn"}, "iteratorPolicy": {"parallelismLimit": 2},
                                        "parameterIterator": {"itemInput": "n", "items": {"raw": json.dumps(list(range(int(sys.argv[1]))))}}}}}}}
print(json.dumps({"apiVersion": "pipelines.kubeflow.org/v2beta1", "kind": "PipelineRun", "metadata": {"name": "kills"}, "spec": {"pipelineSpec": spec}}))
PYTHON
}
states() { kubectl get pipelinetasks -l pipelines.kubeflow.org/run=kills -o 'jsonpath={range .items[?(@.spec.taskName=="write")]}{.status.state}{"\n"}{end}' 2> /dev/null; }
at_least() { [ "$(states | grep -c "$1")" -ge "$2" ]; }
again() {
  kill_cluster
  start_cluster "${flags[@]}"
}
artifacts_are_whole() {
  "$volcano" pipeline artifacts kills --download "$scratch/saved" > /dev/null || return 1
  local turn
  for turn in $(seq 0 $((turns - 1))); do
    for _ in $(seq 20); do seq -f "$turn %.0f" 20000; done | cmp - "$scratch/saved/loop[$turn].write/data" || return 1
  done
}
a_run_outlives_its_server() {
  expect "a run" the_run
  for done in 0 1 2 4; do
    expect "steps after $done" wait_for 60 at_least SUCCEEDED $done
    wait_for 10 at_least RUNNING 1
    expect "the server again" again
  done
  expect "its end" wait_for 90 sh -c "kubectl get pipelinerun kills -o 'jsonpath={.status.finishedAt}' | grep -q ."
  expect "its state: $(field pipelinerun kills .status.error)" field_is pipelinerun kills .status.state SUCCEEDED
  expect "a pod for each step" [ "$(kubectl get pods -l pipelines.kubeflow.org/run=kills -o name | wc -l)" = $((2 * turns)) ]
  expect "each once" [ -z "$(kubectl get pods -l pipelines.kubeflow.org/run=kills -o 'jsonpath={.items[*].status.containerStatuses[*].restartCount}' | tr -d '0 ')" ]
  expect "whole artifacts" artifacts_are_whole
}

if [ $root = 0 ]; then
  echo "skip pipeline_kills: containers need root"
  exit 0
fi
flags=(--node-name n1 --host-rootfs --runtime runc)
start_cluster "${flags[@]}"
run_tests a_run_outlives_its_server
exit "${failed:-0}"
