#!/usr/bin/env bash
# LeaderWorkerSet's controller (sigs.k8s.io/lws), unchanged, against `volcano up`, with `volcano` as its gang scheduler.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
stock=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
[ -x "$stock/bin/lws" ] && [ -d "$stock/lws" ] || { echo "skip outside lws: it is not built (tests/stock/build.sh lws)"; exit 0; }
. tests/outside/operator_lib.sh

lws() { # lws NAME REPLICAS SIZE CPU
  apply <<YAML
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: $1, annotations: {scheduling.volcano.sh/queue-name: serving}}
spec:
  replicas: $2
  leaderWorkerTemplate:
    size: $3
    workerTemplate:
      spec:
        schedulerName: volcano
        terminationGracePeriodSeconds: 0
        containers: [{name: main, image: i, command: [sleep, "1000"], resources: {requests: {cpu: $4}}}]
YAML
}
is_ready() { [ "$(kubectl get lws "$1" -o "jsonpath={.status.readyReplicas}")" = "$2" ]; }
groups_of() { kubectl get podgroups -l leaderworkerset.sigs.k8s.io/name="$1" -o "jsonpath={range .items[*]}{.spec.queue}/{.spec.minMember}/{.status.phase} {end}"; }
have_groups() { [ "$(groups_of "$1")" = "$2" ]; }

its_controller_starts() {
  make_keys
  kubectl create namespace lws-system > /dev/null
  expect "its definition to be taken" kubectl create -f "$stock/lws/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"
  kubectl apply --validate=false -f - > /dev/null <<< '{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "serving"}, "spec": {"weight": 1}}'
  { printf 'apiVersion: config.lws.x-k8s.io/v1alpha1\nkind: Configuration\ngangSchedulingManagement: {schedulerProvider: volcano}\n'; settings; } > "$scratch/lws.yaml"
  expect "it to answer" start_operator "$stock/bin/lws" --config "$scratch/lws.yaml"
  expect "its webhooks to be taken" webhooks lws "$stock/lws/webhook/manifests.yaml" leaderworkerset.sigs.k8s.io/name
}
leaders_and_workers_start_as_gangs() {
  lws serve 2 2 10m
  expect "two groups to be ready" wait_for 60 is_ready serve 2
  expect "a gang each, in its queue" wait_for 10 have_groups serve "serving/2/Running serving/2/Running "
  expect "a worker that knows its leader" sh -c "kubectl exec serve-0-1 -- sh -c 'echo \$LWS_LEADER_ADDRESS \$LWS_GROUP_SIZE \$LWS_WORKER_INDEX' | grep -qx 'serve-0.serve.default 2 1'"
  expect "its leader by name" wait_for 20 kubectl exec serve-0-1 -- getent hosts serve-0.serve.default
}
a_gang_without_room_waits_whole() {
  lws large 1 2 1500m
  expect "its group to wait" wait_for 20 sh -c "kubectl get podgroups -l leaderworkerset.sigs.k8s.io/name=large -o name | grep -q ."
  expect "its leader to be placed nowhere" sh -c "[ -z \"\$(kubectl get pod large-0 -o 'jsonpath={.spec.nodeName}')\" ]"
  kubectl delete lws large --wait > /dev/null
}
a_set_grows() {
  kubectl scale lws serve --replicas=3 > /dev/null
  expect "a third group" wait_for 60 is_ready serve 3
}
# It compares the bytes of its ControllerRevisions with those that it would write.
a_change_of_its_template_reaches_its_pods() {
  expect "one revision" sh -c "kubectl get controllerrevisions -o name | grep -c -- '/serve-[a-z0-9]*-[0-9]*\$' | grep -qx 1"
  expect "a change to be taken" kubectl patch lws serve --type merge -p '{"spec": {"leaderWorkerTemplate": {"workerTemplate": {"metadata": {"labels": {"version": "two"}}}}}}'
  expect "six new pods" wait_for 60 sh -c '[ "$(kubectl get pods -l version=two -o name | wc -l)" = 6 ]'
  expect "its groups to be ready again" wait_for 60 is_ready serve 3
}
mistakes_are_refused_by_its_webhook() {
  expect "a size of none" refused 'admission webhook "vleaderworkerset.kb.io" denied the request' kubectl patch lws serve --type merge -p '{"spec": {"replicas": -1}}'
}
what_it_made_goes_with_it() {
  kubectl delete lws --all --wait > /dev/null
  expect "no pod" wait_for 60 sh -c '[ -z "$(kubectl get pods -o name)" ]'
  expect "no group" wait_for 30 sh -c '[ -z "$(kubectl get podgroups -o name)" ]'
}

if [ $root = 0 ]; then
  echo "skip outside lws: pods have names of their own with root alone"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc
run_tests its_controller_starts leaders_and_workers_start_as_gangs a_gang_without_room_waits_whole a_set_grows a_change_of_its_template_reaches_its_pods mistakes_are_refused_by_its_webhook what_it_made_goes_with_it
exit "${failed:-0}"
