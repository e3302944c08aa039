#!/usr/bin/env bash
# Workflows of Argo on one machine: the pipeline of the documents, what is refused, and a crash on the way.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
document=tests/pipelines/workflows/train_predict.yaml

ended() { [ -n "$(field workflow "$1" .status.finishedAt)" ]; }
phase_of() { field_is workflow "$1" .status.phase "$2"; }
node() { # node WORKFLOW DISPLAY FIELD
  kubectl get workflow "$1" -o json | python3 -c '
import json, sys
for node in json.load(sys.stdin)["status"]["nodes"].values():
    if node["displayName"] == sys.argv[1]: print(eval("node" + sys.argv[2]))' "$2" "$3"
}
node_is() { [ "$(node "$1" "$2" "$3")" = "$4" ]; }
start() { sed "s/generateName: train-predict-/name: $1/" "$document" | sed "${2:-}" | kubectl create -f - > /dev/null; }

without_rights_the_volume_is_refused() {
  kubectl delete rolebinding pipeline-runner > /dev/null # `volcano up` gave the account rights
  expect "a workflow" start bare
  expect "another one" start bare2
  expect "its end" wait_for 20 ended bare
  expect "that of the other" wait_for 20 ended bare2
  expect "its phase" phase_of bare Failed
  expect "the reason" sh -c "kubectl get workflow bare -o 'jsonpath={.status.message}' | grep -q 'create-volume.*system:serviceaccount:default:pipeline-runner.*cannot create resource'"
  expect "the exit handler" [ "$(kubectl logs "$(node bare bare.onExit "['id']")")" = "it has Failed" ]
}
the_pipeline_of_the_documents_succeeds() {
  kubectl create role claims --verb=get,create --resource=persistentvolumeclaims > /dev/null
  kubectl create rolebinding claims --role=claims --serviceaccount=default:pipeline-runner > /dev/null
  local name
  name=$(kubectl create -f $document -o name)
  name=${name#*/}
  expect "its end" wait_for 40 ended "$name"
  expect "its phase" phase_of "$name" Succeeded
  expect "the list" sh -c "kubectl get wf | grep -q '^$name *Succeeded'"
  expect "the claim" field_is pvc "$name-model" .status.phase Bound
  expect "the score" node_is "$name" train "['outputs']['parameters'][0]['value']" 0.93
  expect "the print" [ "$(kubectl logs "$(node "$name" print "['id']")")" = "prediction of 0.1
score 0.93" ]
  expect "its label" [ "$(kubectl get wf -l workflows.argoproj.io/phase=Succeeded -o name)" = "workflow.argoproj.io/$name" ]
}
retry() { api_request "/pipeline/apis/v1beta1/runs/$(field workflow "$1" .metadata.uid)/retry" -X POST -f -o /dev/null; }
# What the server refused before is asked for again, and an end of the server behind the answer loses nothing of it.
a_retry_goes_on_where_it_failed() {
  local first
  first=$(kubectl get pod "$(node bare bare.onExit "['id']")" -o 'jsonpath={.metadata.uid}')
  expect "a retry, to its end" sh -c "'$volcano' pipeline retry bare2 > '$scratch/retry.out' 2>&1"
  expect "its last line" grep -qx "run default/bare2 SUCCEEDED" "$scratch/retry.out"
  expect "a retry that is cut short" retry bare
  kill_cluster
  expect "the server again" start_cluster "${flags[@]}"
  expect "its end" wait_for 40 phase_of bare Succeeded
  expect "the exit handler, again" [ "$(kubectl logs "$(node bare bare.onExit "['id']")")" = "it has Succeeded" ]
  expect "in a pod of its own" [ "$(kubectl get pod "$(node bare bare.onExit "['id']")" -o 'jsonpath={.metadata.uid}')" != "$first" ]
  expect "no request that is left" field_is workflow bare .metadata.annotations.'pipelines\.volcano\.sh/retry' ""
  expect "one that succeeded is not tried again" refused "is Succeeded" api_request "/pipeline/apis/v1beta1/runs/$(field workflow bare .metadata.uid)/retry" -X POST --fail-with-body
}
results_and_raw_artifacts() {
  kubectl create -f - > /dev/null << 'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: results}
spec:
  entrypoint: main
  templates:
  - name: draw
    script: {image: host, command: [python3], source: "import sys; print(sum([2, 4])); print('not it', file=sys.stderr)"}
  - name: many
    container: {image: host, command: [sh, -c], args: ["seq 1 200000"]}
  - name: say
    inputs:
      parameters: [{name: drawn}, {name: end}]
      artifacts: [{name: note, path: /tmp/notes/note.txt, raw: {data: "it was {{inputs.parameters.drawn}}"}}]
    script: {image: host, command: [sh], source: "cat {{inputs.artifacts.note.path}}; printf ' '; printf %s {{inputs.parameters.end}} | tail -c 6"}
  - name: main
    steps:
    - - {name: draw, template: draw}
      - {name: many, template: many}
    - - {name: say, template: say, when: "{{steps.draw.outputs.result}} > 5", arguments: {parameters: [{name: drawn, value: "{{steps.draw.outputs.result}}"}, {name: end, value: "'{{steps.many.outputs.result}}'"}]}}
      - {name: never, template: draw, when: "{{steps.draw.outputs.result}} == 7"}
YAML
  expect "its end" wait_for 40 ended results
  expect "its phase" phase_of results Succeeded
  expect "the result" node_is results draw "['outputs']['result']" 6
  expect "the end of a long one" [ "$(node results many "['outputs']['result']" | tail -1)" = 200000 ]
  expect "so much of it" [ "$(node results many "['outputs']['result']" | wc -c)" -gt 130000 ]
  expect "the log has all of it" [ "$(kubectl logs "$(node results many "['id']")" | wc -l)" = 200000 ]
  expect "the file" [ "$(kubectl logs "$(node results say "['id']")")" = "it was 6 200000" ]
  expect "the condition" node_is results never "['phase']" Skipped
}
fields_outside_are_refused() {
  expect "hooks" refused 'spec.hooks: Forbidden: this field of Workflows is not supported here' start hooks 's/^  onExit: report/  hooks: {}/'
  expect "a task that is not there" refused 'spec.templates[5].dag.tasks[1].dependencies: Not found: "trian"' start circle 's/\[create-volume, train\]/[create-volume, trian]/'
  expect "an unknown entrypoint" refused 'spec.entrypoint: Not found: "nowhere"' start entry 's/entrypoint: .*/entrypoint: nowhere/'
}
it_goes_on_after_a_crash() {
  expect "a workflow" start crash 's/echo "model of/sleep 3; echo "model of/'
  expect "its training runs" wait_for 20 node_is crash train "['phase']" Running
  kill_cluster
  start_cluster "${flags[@]}"
  expect "its end" wait_for 60 ended crash
  expect "its phase" phase_of crash Succeeded
  expect "no step twice" [ "$(kubectl get pods -l workflows.argoproj.io/workflow=crash -o name | wc -l)" = 4 ]
}
a_status_of_a_person_deletes_no_claim() {
  printf '%s' '{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "mine-data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}}' | kubectl create -f - > /dev/null
  printf '%s' '{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "mine"}, "spec": {"entrypoint": "a", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}], "templates": [{"name": "a", "suspend": {"duration": "1"}}]}, "status": {"persistentVolumeClaims": [{"name": "data"}]}}' | kubectl create -f - > /dev/null
  expect "its end" wait_for 20 ended mine
  expect "the claim stays" [ -z "$(kubectl get pvc mine-data -o 'jsonpath={.metadata.deletionTimestamp}' || echo gone)" ]
}
it_stops_and_is_deleted() {
  expect "a workflow" start stop 's/echo "model of/sleep 100; echo "model of/'
  expect "its training runs" wait_for 20 node_is stop train "['phase']" Running
  kubectl patch workflow stop --type merge -p '{"spec": {"shutdown": "Stop"}}' > /dev/null
  expect "its end" wait_for 60 ended stop
  expect "its phase" phase_of stop Failed
  expect "the exit handler" [ "$(kubectl logs "$(node stop stop.onExit "['id']")")" = "it has Failed" ]
  kubectl delete workflow stop > /dev/null
  expect "nothing is left" wait_for 30 sh -c '[ -z "$(kubectl get pods -l workflows.argoproj.io/workflow=stop -o name)" ]'
}
argos_own_controller_has_them_alone() {
  kubectl create deployment workflow-controller --image=python:3.9 --replicas=0 > /dev/null
  expect "a workflow beside somebody's Deployment" start own
  expect "its end" wait_for 40 ended own
  kubectl create namespace argo > /dev/null
  kubectl create deployment -n argo workflow-controller --image=python:3.9 --replicas=0 > /dev/null
  expect "a workflow" start argo
  kubectl wait --for=jsonpath='{.status.phase}' --timeout=2s workflow/argo > /dev/null 2>&1
  expect "no status" field_is workflow argo .status ""
}

if [ $root = 0 ]; then
  echo "skip workflows: containers need root"
  exit 0
fi
flags=(--node-name n1 --host-rootfs --runtime runc)
start_cluster "${flags[@]}"
run_tests without_rights_the_volume_is_refused the_pipeline_of_the_documents_succeeds a_retry_goes_on_where_it_failed results_and_raw_artifacts fields_outside_are_refused it_goes_on_after_a_crash a_status_of_a_person_deletes_no_claim it_stops_and_is_deleted argos_own_controller_has_them_alone
exit "${failed:-0}"
