#!/usr/bin/env bash
# Runs of compiled pipelines on one machine: made by kubectl, to their outputs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
compiled=$PWD/tests/pipelines/compiled

start_run() { # start_run DOCUMENT NAME [PARAMETERS]
  python3 tests/pipelines/run_of.py "$compiled/$1.yaml" "$2" "${3:-{\}}" | kubectl create -f - > /dev/null
}
ended() { [ -n "$(field pipelinerun "$1" .status.finishedAt)" ]; }
state_is() { field_is pipelinerun "$1" .status.state "$2"; }
# task RUN PATH FIELD
task() { kubectl get pipelinetasks -l "pipelines.kubeflow.org/run=$1" -o "jsonpath={.items[?(@.spec.path==\"$2\")]$3}"; }
task_is() { [ "$(task "$1" "$2" "$3")" = "$4" ]; }
log_of() { kubectl logs "$(task "$1" "$2" .status.podName)"; }

two_steps_hand_a_parameter_on() {
  expect "a run by kubectl" start_run hello hello '{"name": "you"}'
  expect "its end" wait_for 30 ended hello
  expect "its state" state_is hello SUCCEEDED
  expect "the first step's output" task_is hello root.greet .status.outputs.parameters.text "hello you"
  expect "the second step's log" [ "$(log_of hello root.say)" = "it says <hello you> alone" ]
  expect "the list" sh -c "kubectl get pipelineruns | grep -q 'hello.*SUCCEEDED'"
}
the_same_again_comes_from_the_cache() {
  expect "a second run" start_run hello again '{"name": "you"}'
  expect "its end" wait_for 30 ended again
  expect "its steps" task_is again root.greet .status.state CACHED
  expect "no pods" [ -z "$(kubectl get pods -l pipelines.kubeflow.org/run=again -o name)" ]
}
branches_and_retries_and_exit_handlers() {
  expect "a run with branches" start_run branches branches
  expect "its end" wait_for 30 ended branches
  expect "the output of the branch that ran" task_is branches root .status.outputs.parameters.Output "hello heads"
  expect "a run that fails" start_run exits exits
  expect "its end" wait_for 60 ended exits
  expect "its state" state_is exits FAILED
  expect "three attempts" task_is exits root.exit-handler-1.fail .status.attempt 2
  expect "the exit handler" sh -c "kubectl logs $(task exits root.finish .status.podName) | grep -q '\"state\":\"FAILED\".*bye'"
}
claims_are_made_and_deleted() {
  kubectl delete rolebinding pipeline-runner > /dev/null
  expect "a run without the right" start_run claims bare
  expect "its end" wait_for 30 ended bare
  expect "its reason" sh -c "kubectl get pipelinerun bare -o 'jsonpath={.status.error}' | grep -q 'createpvc: .*system:serviceaccount:default:pipeline-runner.*cannot create resource'"
  expect "no claim" [ -z "$(kubectl get pvc -l pipelines.kubeflow.org/run=bare -o name)" ]
  kubectl create rolebinding pipeline-runner --role=pipeline-runner --serviceaccount=default:pipeline-runner > /dev/null
  expect "a run with a claim" start_run claims claims
  expect "its end" wait_for 30 ended claims
  expect "its state" state_is claims SUCCEEDED
  # A claim stays as long as there is a pod that names it, ended or not.
  expect "its claim is on its way out" [ -n "$(kubectl get pvc -l pipelines.kubeflow.org/run=claims -o 'jsonpath={.items[0].metadata.deletionTimestamp}')" ]
  kubectl delete pipelinerun claims > /dev/null
  expect "no claim is left" wait_for 20 sh -c '[ -z "$(kubectl get pvc -l pipelines.kubeflow.org/run=claims -o name)" ]'
}
# The packages of Python that steps of the SDK need: those of KFP_PACKAGES, or of a folder that pip fills once.
the_sdk() {
  [ -n "${KFP_PACKAGES:-}" ] && return 0
  local folder=$PWD/build/kfp-packages
  [ -d "$folder/kfp" ] || timeout 200 python3 -m pip install --quiet --target "$folder" kfp==2.17.3 > "$scratch/pip.log" 2>&1
  [ -d "$folder/kfp" ] && export KFP_PACKAGES=$folder
}
python_steps_loop_and_share_artifacts() {
  the_sdk || { skipped="pip cannot install kfp"; return; }
  expect "a run of loops" start_run loops loops '{"items": [4, 5, 6]}'
  expect "its end" wait_for 120 ended loops
  expect "the sum of what its turns gave" task_is loops root .status.outputs.parameters.sum 45
  expect "the number of their files" task_is loops root .status.outputs.parameters.files 3
  expect "a run whose step reports much" start_run artifacts artifacts
  expect "its end" wait_for 60 ended artifacts
  expect "its state" state_is artifacts SUCCEEDED
  expect "a list of a thousand numbers" task_is artifacts root.curve '.status.outputs.parameters.Output[999]' 999
  expect "a curve of a thousand points" task_is artifacts root.curve '.status.outputs.artifacts.curve[0].metadata.confidenceMetrics[999].recall' 0.25
  expect "the workspace's path" sh -c "kubectl logs $(task artifacts 'root.for-loop-2[1].say' .status.podName) | grep -qF 'turn 2 in /kfp-workspace'"
  expect "a run whose step reports too much" start_run artifacts too-much '{"points": 20000}'
  expect "its end" wait_for 60 ended too-much
  expect "why" sh -c "kubectl get pipelinerun too-much -o 'jsonpath={.status.error}' | grep -qE 'curve: exit code 125: launch: .*than the node keeps, in bytes: [0-9]+ > 262144'"
}
a_run_goes_on_after_a_crash() {
  expect "a run" start_run exits crash '{"text": "after all"}'
  wait_for 10 task_is crash root.exit-handler-1.fail .status.state RUNNING
  kill_cluster
  PORT=${PORT:-0} start_cluster "${flags[@]}"
  expect "its end" wait_for 60 ended crash
  expect "three attempts, a step and one exit handler" [ "$(kubectl get pods -l pipelines.kubeflow.org/run=crash -o name | wc -l)" = 5 ]
}
a_run_is_ended_and_deleted() {
  python3 tests/pipelines/run_of.py "$compiled/hello.yaml" slow '{"name": "slow"}' | sed 's/printf \\"hello/sleep 60; printf \\"hello/' | kubectl create -f - > /dev/null
  expect "a step that takes long" wait_for 20 task_is slow root.greet .status.state RUNNING
  kubectl patch pipelinerun slow --type merge -p '{"spec": {"terminate": true}}' > /dev/null
  expect "its end" wait_for 60 state_is slow CANCELED
  kubectl delete pipelinerun slow > /dev/null
  expect "nothing of it is left" wait_for 20 sh -c '[ -z "$(kubectl get pipelinetasks,pods -l pipelines.kubeflow.org/run=slow -o name)" ]'
}
bad_documents_say_where() {
  printf '%s' '{"apiVersion": "pipelines.kubeflow.org/v2beta1", "kind": "PipelineRun", "metadata": {"name": "bad"}, "spec": {"pipelineSpec": {"schemaVersion": "1.0"}}}' | kubectl create -f - > /dev/null
  expect "its end" wait_for 10 state_is bad FAILED
  expect "the place" sh -c "kubectl get pipelinerun bad -o 'jsonpath={.status.error}' | grep -qF 'pipelineSpec: schemaVersion: \"1.0\" is not a version'"
}

if [ $root = 0 ]; then
  echo "skip pipelines: containers need root"
  exit 0
fi
flags=(--node-name n1 --host-rootfs --runtime runc)
start_cluster "${flags[@]}"
run_tests two_steps_hand_a_parameter_on the_same_again_comes_from_the_cache branches_and_retries_and_exit_handlers claims_are_made_and_deleted python_steps_loop_and_share_artifacts a_run_goes_on_after_a_crash a_run_is_ended_and_deleted bad_documents_say_where
exit "${failed:-0}"
