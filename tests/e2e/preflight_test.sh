#!/usr/bin/env bash
# What `volcano preflight` reads of an installation: the flags of its Deployments, and the file that they name.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

deployment() { # deployment NAMESPACE NAME APP CONTAINER [POD]: the fields of both as a flow of YAML
  cat << YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: $2, namespace: $1, labels: {app: $3}}
spec:
  replicas: 1
  selector: {matchLabels: {app: $3}}
  template:
    metadata: {labels: {app: $3}}
    spec: {containers: [{name: c, image: i, $4}]${5:+, $5}}
YAML
}
look() { "$volcano" preflight --kubeconfig "$KUBECONFIG" > "$scratch/preflight" 2>&1; }
says() { look; grep -qE -- "$1" "$scratch/preflight" || { cat "$scratch/preflight"; false; }; }

the_file_that_the_flags_name_is_checked() {
  kubectl create configmap volcano-scheduler-configmap -n volcano-system --from-literal=volcano-scheduler.conf='actions: "first"' \
    --from-literal=z.conf='actions: "last"' > /dev/null
  kubectl create configmap own -n volcano-system --from-literal=k='actions: "chosen"' > /dev/null
  expect "without a Deployment that of the chart" says 'ConfigMap volcano-system/volcano-scheduler-configmap, file "volcano-scheduler.conf": .*first'
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [--scheduler-conf, /conf/s.conf, "2>&1"], volumeMounts: [{name: v, mountPath: /conf}]' \
    'volumes: [{name: v, configMap: {name: own, items: [{key: k, path: s.conf}]}}]' | kubectl apply -f - > /dev/null
  expect "that of the flag" says 'ConfigMap volcano-system/own, file "k": .*chosen'
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [--scheduler-conf=/elsewhere/s.conf]' | kubectl apply -f - > /dev/null
  expect "what cannot be seen" says '^change .*--scheduler-conf=/elsewhere/s.conf is in no ConfigMap'
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [-v=3]' | kubectl apply -f - > /dev/null
  expect "none" says '^ok .*no --scheduler-conf: the built-in configuration is used'
}
scheduler_names_are_read_as_the_program_reads_them() {
  kubectl create namespace second > /dev/null
  local flags
  for flags in 'args: [--scheduler-name=fast]' 'args: [--scheduler-name, fast]' 'command: [/vc-scheduler, -scheduler_name, fast]'; do
    deployment second volcano-scheduler volcano-scheduler "$flags" | kubectl replace --force -f - > /dev/null 2>&1
    expect "$flags" says '^ok .*Deployment second/volcano-scheduler .* cares for the pods of scheduler fast$'
  done
  deployment second volcano-controllers volcano-controller 'args: [--scheduler-name, volcano]' | kubectl apply -f - > /dev/null
  expect "controllers" says '^problem .*Deployment second/volcano-controllers .* cares for the pods of scheduler volcano'
}
admission_is_asked_for_namespaces() {
  kubectl create serviceaccount poor > /dev/null
  cp "$KUBECONFIG" "$scratch/poor"
  kubectl --kubeconfig "$scratch/poor" config set-credentials poor --token="$(kubectl create token poor)" > /dev/null
  kubectl --kubeconfig "$scratch/poor" config set-context --current --user poor > /dev/null
  "$volcano" preflight --kubeconfig "$scratch/poor" --program admission > "$scratch/rights" 2>&1
  expect "it is named" grep -q '^change .*may not list namespaces: it does not begin where --enabled-admission has /podgroups/mutate (admission)' "$scratch/rights"
}

start_cluster --components apiserver
run_tests the_file_that_the_flags_name_is_checked scheduler_names_are_read_as_the_program_reads_them admission_is_asked_for_namespaces
exit "${failed:-0}"
