#!/usr/bin/env bash
# Stock kube-controller-manager and KWOK against `volcano up --components=apiserver`: what Kubernetes' own controllers do converges on our server.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
built=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
for program in kube-controller-manager kwok; do
  [ -x "$built/bin/$program" ] || { echo "skip outside controller-manager: $program is not built (tests/stock/build.sh)"; exit 0; }
done
programs=()
stop_programs() {
  local pid
  for pid in "${programs[@]}"; do kill "$pid" 2> /dev/null; done
  for pid in "${programs[@]}"; do wait "$pid" 2> /dev/null; done
}
trap 'stop_programs; end_of_tests' EXIT
run() { # run NAME PROGRAM...: in the background, until the end
  local name=$1
  shift
  "$@" > "$scratch/$name.log" 2>&1 &
  programs+=($!)
}

kwok_configuration() {
  cat << 'Y'
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  manageAllNodes: false
  manageNodesWithAnnotationSelector: 'kwok.x-k8s.io/node=fake'
  enablePodsOnNodeSyncStreamWatch: true
  cidr: 10.64.0.1/16
  nodeLeaseDurationSeconds: 40
  nodeLeaseParallelism: 4
  podPlayStageParallelism: 4
  nodePlayStageParallelism: 4
Y
  local stage
  for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
    echo ---
    cat "$built/stages/$stage.yaml"
  done
}
start_programs() {
  local keys=$scratch/data/keys
  run kcm "$built/bin/kube-controller-manager" --kubeconfig="$KUBECONFIG" --authentication-kubeconfig="$KUBECONFIG" --authorization-kubeconfig="$KUBECONFIG" \
    --secure-port=0 --leader-elect=true --use-service-account-credentials=${OWN_ACCOUNTS:-true} --service-account-private-key-file="$keys/sa.key" --root-ca-file="$keys/ca.crt" \
    --cluster-signing-cert-file="$keys/ca.crt" --cluster-signing-key-file="$keys/ca.key" --cert-dir="$scratch" --kube-api-qps=500 --kube-api-burst=500
  kwok_configuration > "$scratch/kwok.yaml"
  run kwok "$built/bin/kwok" --config="$scratch/kwok.yaml" --kubeconfig="$KUBECONFIG" --node-ip=127.0.0.1 --server-address=127.0.0.1:0
}

nodes_are_ready() { # a Node that is only told of becomes Ready by KWOK, and loses its taint by the node controller
  kubectl apply -f - > /dev/null << 'Y'
apiVersion: v1
kind: Node
metadata: {name: fake-1, annotations: {kwok.x-k8s.io/node: fake}}
Y
  expect "the node is not Ready" wait_for 60 kubectl wait node/fake-1 --for=condition=Ready --timeout=1s
  expect "the node is still tainted" wait_for 60 field_is node fake-1 .spec.taints ""
}
# Nobody schedules here: pods name their node, which needs no scheduler.
template='metadata: {labels: {app: NAME}}, spec: {nodeName: fake-1, containers: [{name: c, image: busybox}]}'
a_deployment_rolls() {
  kubectl apply -f - > /dev/null << Y
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {${template/NAME/web}}}}
Y
  expect "3 replicas" wait_for 60 field_is deployment web .status.readyReplicas 3
  kubectl set image deployment/web c=busybox:2 > /dev/null
  expect "the second revision" kubectl rollout status deployment/web --timeout=60s
  expect "two revisions" wait_for 10 test "$(kubectl get replicaset -l app=web -o name | wc -l)" = 2
  kubectl rollout undo deployment/web > /dev/null
  expect "undone" kubectl rollout status deployment/web --timeout=60s
  kubectl scale deployment/web --replicas=1 > /dev/null
  expect "scaled down" wait_for 60 field_is deployment web .status.replicas 1
}
a_service_has_slices() {
  kubectl expose deployment web --port=80 > /dev/null
  slice_is() { [ "$(kubectl get endpointslice -l kubernetes.io/service-name=web -o 'jsonpath={.items[0].endpoints[*].conditions.ready}')" = "$1" ]; }
  expect "an endpoint in the slice" wait_for 30 slice_is true
  expect "an address in the Endpoints" wait_for 30 kubectl get endpoints web -o 'jsonpath={.subsets[0].addresses[0].ip}'
}
a_stateful_set_counts_up() {
  kubectl apply -f - > /dev/null << Y
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, serviceName: db, selector: {matchLabels: {app: db}}, template: {${template/NAME/db}}}}
Y
  expect "2 pods" wait_for 60 field_is statefulset db .status.readyReplicas 2
  expect "their names" kubectl get pod db-0 db-1
}
a_daemon_set_covers_nodes() {
  kubectl apply -f - > /dev/null << 'Y'
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: busybox}]}}}}
Y
  expect "a pod wanted" wait_for 60 field_is daemonset agent .status.desiredNumberScheduled 1
}
job_template='metadata: {annotations: {}}, spec: {nodeName: fake-1, restartPolicy: Never, containers: [{name: c, image: busybox}]}'
a_job_completes() {
  kubectl apply -f - > /dev/null << Y
---
{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {completions: 3, parallelism: 2, template: {$job_template}}}
Y
  expect "Complete" kubectl wait job/pi --for=condition=Complete --timeout=60s
  expect "3 succeeded" field_is job pi .status.succeeded 3
}
a_cron_job_makes_jobs() {
  kubectl apply -f - > /dev/null << Y
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: tick}, spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {$job_template}}}}}
Y
  expect "a Job within a minute" wait_for 100 test_cron_job
}
test_cron_job() { [ -n "$(kubectl get cronjob tick -o 'jsonpath={.status.lastSuccessfulTime}')" ]; }
owners_take_children_along() {
  kubectl delete deployment web --cascade=foreground --timeout=60s > /dev/null
  expect "no pod of it is left" wait_for 60 none_left pod app=web
  kubectl delete statefulset db --cascade=orphan --timeout=60s > /dev/null
  expect "orphans are left" test "$(kubectl get pod -l app=db -o name | wc -l)" = 2
  expect "orphans have no owner" wait_for 30 field_is pod db-0 .metadata.ownerReferences ""
}
none_left() { [ -z "$(kubectl get "$1" -l "$2" -o name)" ]; }
namespaces_go_with_what_is_in_them() {
  kubectl create namespace gone > /dev/null
  expect "its account" wait_for 30 kubectl -n gone get serviceaccount default
  expect "the CA in it" wait_for 30 kubectl -n gone get configmap kube-root-ca.crt
  kubectl -n gone create configmap a --from-literal=a=b > /dev/null
  kubectl -n gone create deployment web --image=busybox --replicas=2 > /dev/null
  expect "its pods" wait_for 30 two_replicas_gone
  expect "gone" kubectl delete namespace gone --timeout=90s
}
two_replicas_gone() { [ "$(kubectl -n gone get deployment web -o "jsonpath={.status.replicas}")" = 2 ]; }
claims_are_bound_and_protected() {
  kubectl apply -f - > /dev/null << 'Y'
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: manual, hostPath: {path: /tmp}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c1}, spec: {storageClassName: manual, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
Y
  expect "Bound" wait_for 60 field_is pvc c1 .status.phase Bound
}
quotas_count() {
  kubectl create quota small --hard=configmaps=5 > /dev/null
  expect "what is used" wait_for 60 field_is quota small .status.hard.configmaps 5
}
nothing_is_missed() { # lists and watches that fail are tried again for ever: none may
  local missed
  # IPAddress and ServiceCIDR are not served (docs/compat/apiserver.md).
  missed=$(grep -vE 'IPAddress|ServiceCIDR' "$scratch/kcm.log" | grep -oE 'Failed to watch.*|forbidden: .*' | grep -oE 'type="[^"]*"|forbidden: .{0,160}' | sort | uniq -c)
  [ -z "$missed" ] || problem="${problem:+$problem; }$missed"
}
start_cluster --components=apiserver
start_programs
run_tests nodes_are_ready a_deployment_rolls a_service_has_slices a_stateful_set_counts_up a_daemon_set_covers_nodes a_job_completes a_cron_job_makes_jobs \
  owners_take_children_along namespaces_go_with_what_is_in_them claims_are_bound_and_protected quotas_count nothing_is_missed
