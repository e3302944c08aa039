#!/usr/bin/env bash
# volcano pipeline against a cluster: the commands of docs/pipelines.md, what a person sees, and the rights of the user who asks the REST API.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
pipeline() { COLUMNS=80 NO_COLOR=1 "$volcano" pipeline "$@"; }

two_steps() { # two_steps NAME COMMAND: a document whose second step runs COMMAND
  cat << EOF
pipelineInfo: {name: $1}
schemaVersion: 2.1.0
sdkVersion: kfp-2.17.3
root:
  dag:
    tasks:
      first: {taskInfo: {name: first}, componentRef: {name: comp-first}, inputs: {parameters: {words: {componentInputParameter: words}}}}
      second: {taskInfo: {name: second}, componentRef: {name: comp-second}, dependentTasks: [first]}
  inputDefinitions: {parameters: {words: {parameterType: STRING, defaultValue: hello}}}
components:
  comp-first: {executorLabel: exec-first, inputDefinitions: {parameters: {words: {parameterType: STRING}}}}
  comp-second: {executorLabel: exec-second}
deploymentSpec:
  executors:
    exec-first: {container: {image: busybox, command: [echo], args: ["{{\$.inputs.parameters['words']}}"]}}
    exec-second: {container: {image: busybox, command: [sh, -c, "$2"]}}
EOF
}

uploads_run_and_are_listed() {
  two_steps works "echo done" > "$scratch/works.yaml"
  expect "upload" pipeline upload "$scratch/works.yaml"
  expect "a second version" pipeline upload "$scratch/works.yaml" --version second
  expect "list of pipelines" grep -qE "works +2 " <(pipeline list --pipelines)
  expect "run" pipeline run works --param words=moin --timeout 60s
  run=$(kubectl get pipelineruns -o 'jsonpath={.items[0].metadata.name}')
  expect "list" grep -qE "$run +SUCCEEDED +2/2" <(pipeline list)
  expect "graph" grep -qE "second +SUCCEEDED" <(pipeline graph "$run")
  expect "logs" grep -qF "[first/main] moin" <(pipeline logs "$run")
  expect "the log of one task" [ "$(pipeline logs "$run" --task second)" = done ]
  expect "an unknown parameter" refused 'no parameter "colour"' pipeline run works --param colour=red
}

run_called() { kubectl get pipelineruns -o name | sed -n "s|.*/\($1-.*\)|\1|p"; } # run_called PIPELINE: the only one of it

a_run_that_fails_is_tried_again() {
  two_steps breaks "test -e $scratch/mended" > "$scratch/breaks.yaml"
  pipeline run "$scratch/breaks.yaml" --timeout 60s > "$scratch/out" 2>&1
  expect "the exit status is the run's" [ $? = 1 ]
  expect "the task is named" grep -qE "second +FAILED" "$scratch/out"
  run=$(run_called breaks)
  touch "$scratch/mended"
  expect "retry" pipeline retry "$run"
}

a_run_is_ended() {
  two_steps stays "sleep 300" > "$scratch/stays.yaml"
  expect "run" pipeline run "$scratch/stays.yaml" --no-wait
  run=$(run_called stays)
  expect "terminate" pipeline terminate "$run"
  expect "it is over" wait_for 30 field_is pipelinerun "$run" .status.state CANCELED
}

api_as() { # api_as TOKEN PATH [curl flags...]
  local token=$1 path=$2
  shift 2
  curl -s --cacert "$scratch/data/keys/ca.crt" -H "Authorization: Bearer $token" "$@" "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')/pipeline/apis/v2beta1/$path"
}

users_see_their_own_namespace() {
  kubectl create namespace team > /dev/null && kubectl -n team create serviceaccount jane > /dev/null
  kubectl -n team create role runs --verb='*' --resource=pipelineruns.pipelines.kubeflow.org,experiments.pipelines.kubeflow.org,pipelinetasks.pipelines.kubeflow.org > /dev/null
  kubectl -n team create rolebinding runs --role=runs --serviceaccount=team:jane > /dev/null
  local jane other
  jane=$(kubectl -n team create token jane --audience=pipelines.kubeflow.org)
  other=$(kubectl get pipelineruns -o 'jsonpath={.items[0].metadata.uid}')
  expect "her namespace is asked" grep -qF '"total_size":0' <(api_as "$jane" runs)
  expect "another one is not hers" grep -qF '"code":7' <(api_as "$jane" 'runs?namespace=default')
  expect "a run of another namespace" grep -qF '"code":7' <(api_as "$jane" "runs/$other")
  expect "pipelines are not hers" grep -qF '"code":7' <(api_as "$jane" pipelines)
  expect "no token" grep -qF '"code":16' <(curl -sk "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')/pipeline/apis/v2beta1/runs")
  expect "the token is not for the API itself" [ "$(curl -s -o /dev/null -w '%{http_code}' --cacert "$scratch/data/keys/ca.crt" -H "Authorization: Bearer $jane" "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')/api/v1/pods")" = 401 ]
  expect "an experiment of hers" grep -qF '"namespace":"team"' <(api_as "$jane" experiments -d '{"display_name": "Hers"}')
}

the_api_is_served_beside() {
  local port
  port=$(free_port)
  "$volcano" pipeline serve --port "$port" > "$scratch/serve.log" 2>&1 &
  local served=$!
  expect "it answers" wait_for 20 curl -sf "http://127.0.0.1:$port/apis/v2beta1/healthz"
  expect "runs" grep -qF '"display_name":"works"' <(curl -s "http://127.0.0.1:$port/apis/v2beta1/runs")
  expect "a page of another site" grep -qF '"code":7' <(curl -s -H 'Origin: http://evil.example' "http://127.0.0.1:$port/apis/v2beta1/runs")
  expect "another name of this machine" grep -qF '"code":7' <(curl -s -H 'Host: evil.example' "http://127.0.0.1:$port/apis/v2beta1/runs")
  kill "$served"
  wait "$served" 2> /dev/null
}

start_cluster --host-rootfs || { echo "FAIL pipeline_commands: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
run_tests uploads_run_and_are_listed a_run_that_fails_is_tried_again a_run_is_ended users_see_their_own_namespace the_api_is_served_beside
