#!/usr/bin/env bash
# The controllers of notebooks, TensorBoards, viewers, profiles and runs of pipelines work with the rights of deploy/kubeflow-controllers.yaml, and ask for no others.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The roles and the account of the manifest, without the Deployment, whose program runs here.
install_rights() {
  kubectl apply -f deploy/kubeflow-controllers.yaml > /dev/null && kubectl delete deployment -n kubeflow volcano-kubeflow-controllers > /dev/null
  cp "$KUBECONFIG" "$scratch/account"
  kubectl --kubeconfig "$scratch/account" config set-credentials account --token="$(kubectl create token -n kubeflow volcano-kubeflow-controllers)" > /dev/null
  kubectl --kubeconfig "$scratch/account" config set-context --current --user account > /dev/null
}
the_rights_of_the_manifest_suffice() {
  expect "the manifest" install_rights
  expect "an account without further rights" refused Forbidden kubectl --kubeconfig "$scratch/account" get secrets -A
  # Claims of runs are made with the rights of the account of their pods.
  kubectl create role claims --verb=get,create,delete --resource=persistentvolumeclaims > /dev/null
  kubectl create rolebinding claims --role=claims --serviceaccount=default:default > /dev/null
  for role in admin edit view; do kubectl create clusterrole kubeflow-$role --verb=get --resource=pods > /dev/null; done
  MY_POD_NAMESPACE=kubeflow "$volcano" kubeflow-controllers --kubeconfig "$scratch/account" --enable-leader-election --leader-election-namespace kubeflow \
    --metrics-addr 0 --probe-addr 0 > "$scratch/program.log" 2>&1 &
  program=$!
  kubectl apply -f - > /dev/null 2>&1 << 'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: kubeflow.org/v1
kind: Notebook
metadata: {name: one, annotations: {notebooks.volcano.sh/idle-after: 1h}}
spec: {template: {spec: {containers: [{name: one, image: i}]}}}
---
apiVersion: tensorboard.kubeflow.org/v1alpha1
kind: Tensorboard
metadata: {name: runs}
spec: {logspath: "pvc://data/logs"}
---
apiVersion: kubeflow.org/v1alpha1
kind: PVCViewer
metadata: {name: look}
spec: {pvc: data, networking: {targetPort: 8080, basePrefix: /pvcviewers}}
---
apiVersion: kubeflow.org/v1
kind: Profile
metadata: {name: ann}
spec: {owner: {kind: User, name: ann}, resourceQuotaSpec: {hard: {pods: "5"}}}
YAML
  for one in hello claims files; do
    python3 tests/pipelines/run_of.py "tests/pipelines/compiled/$one.yaml" "$one" | kubectl create -f - > /dev/null
  done
  python3 tests/pipelines/run_of.py tests/pipelines/compiled/hello.yaml hourly |
    sed 's/"kind": "PipelineRun"/"kind": "RecurringRun"/; s/"spec": {/"spec": {"trigger": {"periodicSchedule": {"intervalSecond": 1}}, /' | kubectl create -f - > /dev/null
  python3 tests/pipelines/run_of.py tests/pipelines/compiled/hello.yaml ends | kubectl create -f - > /dev/null
  expect "the notebook's server" wait_for 30 kubectl get statefulset one
  expect "its service" wait_for 30 kubectl get service one
  expect "its status" wait_for 30 sh -c "kubectl get notebook one -o 'jsonpath={.status}' | grep -q readyReplicas"
  expect "the TensorBoard's server" wait_for 30 kubectl get deployment runs
  expect "the viewer's server" wait_for 30 sh -c "kubectl get deployment -o name | grep -q look"
  expect "the pod of a step" wait_for 30 sh -c "kubectl get pipelinetasks -l pipelines.kubeflow.org/run=hello -o 'jsonpath={.items[*].status}' | grep -q podName"
  expect "the claim of a run" wait_for 30 sh -c "kubectl get pvc -o name | grep -q -e -work"
  expect "the claim of artifacts" wait_for 30 kubectl get pvc mlpipeline-artifacts
  expect "a run by the clock" wait_for 30 sh -c "kubectl get pipelineruns -o name | grep -q hourly"
  expect "its recurring run's status" wait_for 30 sh -c "kubectl get recurringrun hourly -o 'jsonpath={.status}' | grep -q lastRunTime"
  kubectl patch recurringrun hourly --type merge -p '{"spec": {"mode": "DISABLE"}}' > /dev/null
  expect "a step of it" wait_for 30 sh -c "kubectl get pipelinetasks -l pipelines.kubeflow.org/run=ends -o 'jsonpath={.items[*].status}' | grep -q podName"
  kubectl patch pipelinerun ends --type merge -p '{"spec": {"terminate": true}}' > /dev/null
  expect "a run that somebody ends" wait_for 60 field_is pipelinerun ends .status.state CANCELED
  expect "the profile's namespace" wait_for 30 kubectl get namespace ann
  expect "its owner's role" wait_for 30 kubectl get rolebinding namespaceAdmin -n ann
  expect "its accounts" wait_for 30 kubectl get serviceaccount default-editor -n ann
  expect "its quota" wait_for 30 sh -c "kubectl get quota -n ann -o name | grep -q kf-resource-quota"
  kubectl annotate notebook one notebooks.volcano.sh/restart=true > /dev/null
  expect "the restart, done" wait_for 30 sh -c "[ -z \"\$(kubectl get notebook one -o 'jsonpath={.metadata.annotations.notebooks\\.volcano\\.sh/restart}')\" ]"
  kubectl delete profile ann --wait=false > /dev/null
  expect "the namespace's end" wait_for 40 sh -c "! kubectl get namespace ann"
  expect "no refusal in the log" sh -c "! grep -i forbidden '$scratch/program.log'"
  kill "$program"
  wait "$program" 2> /dev/null
}

start_cluster --kubeflow-controllers=false
run_tests the_rights_of_the_manifest_suffice
exit ${failed:-0}
