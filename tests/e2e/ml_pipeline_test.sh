#!/usr/bin/env bash
# Pipelines as on a cluster: the controllers and the REST API (Service ml-pipeline) are a program of their own with the rights of the manifest, Workflows
# run there too, and outputs that a node does not keep are sent to it.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if [ $root = 0 ]; then
  echo "skip ml_pipeline: steps send their outputs over the network of containers, which need root"
  exit 0
fi
programs=()
trap 'for one in "${programs[@]}"; do kill "$one" 2> /dev/null; done; end_of_tests' EXIT

# The roles and the account of the manifest, without the Deployment, whose program runs here.
install_rights() {
  kubectl apply -f deploy/kubeflow-controllers.yaml > /dev/null && kubectl delete deployment -n kubeflow volcano-kubeflow-controllers > /dev/null
  cp "$KUBECONFIG" "$scratch/account"
  kubectl --kubeconfig "$scratch/account" config set-credentials account --token="$(kubectl create token -n kubeflow volcano-kubeflow-controllers)" > /dev/null
  kubectl --kubeconfig "$scratch/account" config set-context --current --user account > /dev/null
}
run_program() { # run_program NAME FLAGS...
  local name=$1
  shift
  MY_POD_NAMESPACE=kubeflow "$volcano" kubeflow-controllers --kubeconfig "$scratch/account" --metrics-addr 0 --probe-addr 0 "$@" > "$scratch/$name.log" 2>&1 &
  programs+=($!)
}
ask() { # ask PATH [curl flags...]
  local path=$1
  shift
  curl -s "$@" "http://127.0.0.1:$port$path"
}
as() { # as TOKEN PATH [curl flags...]
  local token=$1
  shift
  ask "$@" -H "Authorization: Bearer $token"
}
json() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; } # json MEMBER
# says TEXT COMMAND...
says() { grep -qF -- "$1" <<< "$("${@:2}")"; }

the_program_has_the_rights_of_the_manifest() {
  expect "the manifest" install_rights
  expect "the Service" says 8888 kubectl get service -n kubeflow ml-pipeline -o 'jsonpath={.spec.ports[0].port}'
  run_program program --web-apps --pipelines-addr ":$port" --pipelines-report-addr "$address:$port"
  expect "it answers" wait_for 20 ask /apis/v2beta1/healthz -f
  expect "it answers under the gateway's prefix, too" ask /pipeline/apis/v2beta1/healthz -f
}
users_have_their_own_rights() {
  kubectl create namespace team > /dev/null && kubectl -n team create serviceaccount jane > /dev/null
  kubectl -n team create role runs --verb='*' --resource=pipelineruns.pipelines.kubeflow.org,experiments.pipelines.kubeflow.org,pipelines.pipelines.kubeflow.org,pipelineversions.pipelines.kubeflow.org,pipelinetasks.pipelines.kubeflow.org > /dev/null
  kubectl -n team create role logs --verb=get --resource=pods/log > /dev/null
  kubectl -n team create rolebinding runs --role=runs --serviceaccount=team:jane > /dev/null
  kubectl -n team create rolebinding logs --role=logs --serviceaccount=team:jane > /dev/null
  jane=$(kubectl -n team create token jane --audience=pipelines.kubeflow.org)
  local plain
  plain=$(kubectl -n team create token jane)
  expect "her namespace is asked" says '"total_size":0' as "$jane" /apis/v2beta1/runs
  expect "the same with a token for the API server" says '"total_size":0' as "$plain" /apis/v2beta1/runs
  expect "another one is not hers" says '"code":7' as "$jane" '/apis/v2beta1/runs?namespace=kubeflow'
  expect "nor with the other token" says '"code":7' as "$plain" '/apis/v2beta1/runs?namespace=kubeflow'
  expect "no token" says '"code":16' ask /apis/v2beta1/runs
  expect "a token of nobody" says '"code":16' as nonsense /apis/v2beta1/runs
  expect "a header that nobody configured" says '"code":16' ask /apis/v2beta1/runs -H 'kubeflow-userid: jane'
  expect "a page of another site" says '"code":7' as "$jane" /apis/v2beta1/runs -H 'Sec-Fetch-Site: cross-site'
  expect "no way to act as somebody else" says '"total_size":0' as "$jane" /apis/v2beta1/runs -H 'Impersonate-User: admin' -H 'Impersonate-Group: system:masters'
}
web_applications_are_served_when_asked_for() {
  kubectl -n team create role notebooks --verb='*' --resource=notebooks.kubeflow.org > /dev/null
  kubectl -n team create rolebinding notebooks --role=notebooks --serviceaccount=team:jane > /dev/null
  local plain
  plain=$(kubectl -n team create token jane)
  expect "health" ask /jupyter/healthz/liveness -f -o /dev/null
  expect "her notebooks" says '"notebooks":[]' as "$plain" /jupyter/api/namespaces/team/notebooks
  expect "a form" as "$plain" /jupyter/api/namespaces/team/notebooks -f -o "$scratch/notebook.json" -H 'Content-Type: application/json' -H 'Cookie: XSRF-TOKEN=x' -H 'X-XSRF-TOKEN: x' \
    -d '{"name": "hers", "image": "i", "imagePullPolicy": "IfNotPresent", "serverType": "jupyter", "cpu": "100m", "memory": "100Mi", "gpus": {"num": "none"}, "configurations": [], "shm": false, "environment": "{}", "datavols": []}'
  expect "the Notebook, made as her" kubectl -n team get notebook hers -o name
  kubectl -n team delete notebook hers > /dev/null
  expect "another namespace is not hers" says 'cannot list resource' as "$plain" /jupyter/api/namespaces/default/notebooks
  expect "a request without its pair" says 'CSRF' as "$plain" /jupyter/api/namespaces/team/notebooks -d '{}'
  expect "no token" says '401' ask /jupyter/api/namespaces/team/notebooks -o /dev/null -w '%{http_code}'
  expect "a token that is meant for pipelines" says 'meant for pipelines' as "$jane" /jupyter/api/namespaces/team/notebooks
}
a_run_goes_to_its_end() {
  expect "an upload" says '"name":"hello"' as "$jane" '/apis/v2beta1/pipelines/upload?name=hello&namespace=team' -F uploadfile=@tests/pipelines/compiled/hello.yaml
  local pipeline run task
  pipeline=$(kubectl -n team get pipeline hello -o 'jsonpath={.metadata.uid}')
  as "$jane" /apis/v2beta1/runs -d "{\"display_name\": \"first\", \"pipeline_version_reference\": {\"pipeline_id\": \"$pipeline\"}, \"runtime_config\": {\"parameters\": {\"name\": \"cluster\"}}}" > "$scratch/run"
  run=$(json run_id < "$scratch/run")
  has_succeeded() { [ "$(as "$jane" "/apis/v2beta1/runs/$run" | json state)" = SUCCEEDED ]; }
  expect "its end" wait_for 40 has_succeeded
  task=$(kubectl -n team get pipelinetasks -o 'jsonpath={.items[?(@.spec.taskName=="say")].metadata.uid}')
  expect "its log" says '<hello cluster>' as "$jane" "/apis/v1alpha1/runs/$run/nodes/$task/log"
}
# The program mounts no volume of another namespace: it says what does.
an_artifact_of_the_volume_is_read_by_its_user() {
  cat > "$scratch/artifact.yaml" << 'YAML'
pipelineInfo: {name: artifact}
schemaVersion: 2.1.0
sdkVersion: kfp-2.17.3
root: {dag: {tasks: {write: {taskInfo: {name: write}, componentRef: {name: write}}}}}
components: {write: {executorLabel: write, outputDefinitions: {artifacts: {words: {artifactType: {schemaTitle: system.Dataset, schemaVersion: 0.0.1}}}}}}
deploymentSpec: {executors: {write: {container: {image: host, command: [sh, -c, 'mkdir -p "$(dirname "$0")" && printf kept > "$0"', "{{$.outputs.artifacts['words'].path}}"]}}}}
YAML
  python3 tests/pipelines/run_of.py "$scratch/artifact.yaml" kept | kubectl create -f - > /dev/null
  expect "its end" wait_for 60 field_is pipelinerun kept .status.state SUCCEEDED
  kubectl create role reads --verb=get,list --resource=pipelineruns.pipelines.kubeflow.org,pipelinetasks.pipelines.kubeflow.org,persistentvolumeclaims,configmaps > /dev/null
  kubectl create rolebinding reads --role=reads --serviceaccount=team:jane > /dev/null
  local run
  run=$(field pipelinerun kept .metadata.uid)
  as "$jane" "/apis/v2beta1/runs/$run/nodes/write/artifacts/words:read" > "$scratch/artifact.json"
  expect "what the claim is" grep -q 'volume of the claim default/mlpipeline-artifacts' "$scratch/artifact.json"
  python3 -c 'import json, sys; print(json.load(sys.stdin)["message"].split("has tar: ", 1)[1])' < "$scratch/artifact.json" | sed 's/busybox/host/g' > "$scratch/command"
  expect "the command to work" sh -c "cd '$scratch' && sh ./command"
  expect "the artifact" [ "$(tar -xOf "$scratch/words.tar")" = kept ]
}
large_outputs_are_sent() {
  sed 's/printf "hello %s" "$0"/python3 -c "print(chr(252) * 30000, end=str())"/' tests/pipelines/compiled/hello.yaml > "$scratch/large.yaml"
  python3 tests/pipelines/run_of.py "$scratch/large.yaml" large | kubectl create -f - > /dev/null
  expect "its end" wait_for 40 field_is pipelinerun large .status.state SUCCEEDED
  expect "the output" [ "$(kubectl get pipelinetasks -l pipelines.kubeflow.org/run=large -o 'jsonpath={.items[?(@.spec.taskName=="greet")].status.outputs.parameters.text}' | tr -d -c $'\xbc' | wc -c)" = 30000 ]
  sed 's/printf "hello %s" "$0"/python3 -c "print(str(7) * 300000)"/' tests/pipelines/compiled/hello.yaml > "$scratch/huge.yaml"
  python3 tests/pipelines/run_of.py "$scratch/huge.yaml" huge | kubectl create -f - > /dev/null
  expect "the end of one that is too large" wait_for 40 field_is pipelinerun huge .status.state FAILED
  expect "why" sh -c "kubectl get pipelinerun huge -o 'jsonpath={.status.error}' | grep -q '> 196608'"
}
no_step_speaks_for_another_one() {
  local token
  token=$(kubectl create token default --audience=pipelines.kubeflow.org --bound-object-kind=Pod --bound-object-name=first)
  expect "another pod" says '"code":7' as "$token" /pipeline/internal/tasks/default/second -d report
  expect "another namespace" says '"code":7' as "$token" /pipeline/internal/tasks/team/first -d report
  expect "a token of no pod" says '"code":7' as "$jane" /pipeline/internal/tasks/team/first -d report
  expect "no token" says '"code":16' ask /pipeline/internal/tasks/default/first -d report
  expect "bytes that are no text" says '"code":3' as "$token" /pipeline/internal/tasks/default/first --data-binary $'\xff'
  head -c 200000 /dev/zero | tr '\0' x > "$scratch/much"
  expect "too many of them" says '196608 bytes at most' as "$token" /pipeline/internal/tasks/default/first --data-binary "@$scratch/much"
  expect "its own" says '{}' as "$token" /pipeline/internal/tasks/default/first -d report
  expect "where it is" field_is pod first '.metadata.annotations.pipelines\.kubeflow\.org/report' report
}
workflows_run_there() {
  kubectl create serviceaccount pipeline-runner > /dev/null
  kubectl create role claims --verb=get,create --resource=persistentvolumeclaims > /dev/null
  kubectl create rolebinding claims --role=claims --serviceaccount=default:pipeline-runner > /dev/null
  sed 's/generateName: train-predict-/name: documents/' tests/pipelines/workflows/train_predict.yaml | kubectl create -f - > /dev/null
  expect "the documents' one" wait_for 60 field_is workflow documents .status.phase Succeeded
  kubectl create -f - > /dev/null << 'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: large}
spec:
  entrypoint: write
  templates:
  - name: write
    container: {image: host, command: [sh, -c], args: ["head -c 20000 /dev/zero | tr '\\0' x > /tmp/out"]}
    outputs: {parameters: [{name: text, valueFrom: {path: /tmp/out}}]}
YAML
  expect "one with a large output" wait_for 40 field_is workflow large .status.phase Succeeded
  expect "all of it" [ "$(kubectl get workflow large -o 'jsonpath={.status.nodes.*.outputs.parameters[0].value}' | tr -d -c x | wc -c)" = 20000 ]
}
argo_is_left_alone() {
  kubectl create namespace argo > /dev/null
  kubectl -n argo create deployment workflow-controller --image=host --replicas=0 > /dev/null
  wait_for 20 kubectl -n argo get deployment workflow-controller
  printf '%s' '{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "theirs"}, "spec": {"entrypoint": "a", "templates": [{"name": "a", "suspend": {"duration": "1"}}]}}' | kubectl create -f - > /dev/null
  python3 tests/pipelines/run_of.py tests/pipelines/compiled/hello.yaml after | kubectl create -f - > /dev/null
  expect "a run meanwhile" wait_for 40 field_is pipelinerun after .status.state SUCCEEDED
  expect "theirs is not touched" [ -z "$(field workflow theirs .status)" ]
  kubectl -n argo delete deployment workflow-controller > /dev/null
}
a_proxy_names_users_where_it_is_configured() {
  local main=$port
  kubectl create clusterrole names --verb=impersonate --resource=users,groups > /dev/null
  kubectl create clusterrolebinding names --clusterrole=names --serviceaccount=kubeflow:volcano-kubeflow-controllers > /dev/null
  kubectl -n team create rolebinding anns --role=runs --user=ann@example.com > /dev/null
  kubectl -n team create rolebinding devs --role=runs --group=dev > /dev/null
  port=$(free_port)
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/key.pem" -out "$scratch/cert.pem" -days 2 -subj /CN=ml-pipeline -addext subjectAltName=IP:127.0.0.1 2> /dev/null
  run_program proxied --enable=notebook-controller --pipelines-addr "127.0.0.1:$port" --pipelines-userid-header kubeflow-userid --pipelines-userid-prefix accounts: \
    --pipelines-groups-header kubeflow-groups --pipelines-tls-cert-file "$scratch/cert.pem" --pipelines-tls-private-key-file "$scratch/key.pem"
  proxied() { curl -s --cacert "$scratch/cert.pem" "https://127.0.0.1:$port/apis/v2beta1/runs?namespace=$1" "${@:2}"; }
  expect "it answers over TLS" wait_for 20 curl -sf --cacert "$scratch/cert.pem" "https://127.0.0.1:$port/apis/v2beta1/healthz"
  expect "a user" says '"display_name":"first"' proxied team -H 'kubeflow-userid: accounts:ann@example.com'
  expect "not elsewhere" says '"code":7' proxied default -H 'kubeflow-userid: ann@example.com'
  expect "another one" says '"code":7' proxied team -H 'kubeflow-userid: ben@example.com'
  expect "by a group" says '"display_name":"first"' proxied team -H 'kubeflow-userid: ben@example.com' -H 'kubeflow-groups: other, dev'
  expect "no user of the cluster's own" says '"code":16' proxied team -H 'kubeflow-userid: system:admin'
  expect "no group of the cluster's own" says '"code":16' proxied team -H 'kubeflow-userid: ben@example.com' -H 'kubeflow-groups: system:masters'
  expect "two names" says '"code":16' proxied team -H 'kubeflow-userid: ann@example.com' -H 'kubeflow-userid: ben@example.com'
  expect "neither" says '"code":16' proxied team
  port=$main
}
nothing_was_refused() {
  expect "no refusal in the log" sh -c "! grep -i forbidden '$scratch/program.log'"
}

port=$(free_port)
start_cluster --node-name n1 --host-rootfs --runtime runc --kubeflow-controllers=false
kubectl run first --image=host --restart=Never -- sleep 600 > /dev/null 2>&1
wait_for 30 sh -c "kubectl get pod first -o 'jsonpath={.status.podIP}' | grep -q ."
address=$(field pod first .status.podIP)
address=${address%.*}.1 # the machine, as pods see it
run_tests the_program_has_the_rights_of_the_manifest users_have_their_own_rights web_applications_are_served_when_asked_for a_run_goes_to_its_end an_artifact_of_the_volume_is_read_by_its_user large_outputs_are_sent no_step_speaks_for_another_one \
  workflows_run_there argo_is_left_alone a_proxy_names_users_where_it_is_configured nothing_was_refused
exit "${failed:-0}"
