#!/usr/bin/env bash
# The MPI operator (kubeflow/mpi-operator), unchanged, against `volcano up` without its own: hosts, keys, a launcher after its workers, gangs in our queues.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
stock=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
[ -x "$stock/bin/mpi-operator" ] && [ -d "$stock/mpi-operator" ] || { echo "skip outside mpi-operator: it is not built (tests/stock/build.sh mpi-operator)"; exit 0; }
. tests/outside/operator_lib.sh

mpi() { # mpi NAME CPU COMMAND [more of the specification] [more of its policy]
  apply <<YAML
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: $1, annotations: {scheduling.volcano.sh/queue-name: training}}
spec:
  slotsPerWorker: 2
  runPolicy: {cleanPodPolicy: Running, backoffLimit: 0${5:-}}
  ${4:-}
  mpiReplicaSpecs:
    Launcher:
      template: {spec: {terminationGracePeriodSeconds: 0, containers: [{name: launcher, image: i, command: [sh, -c, '$3'], resources: {requests: {cpu: 10m}}}]}}
    Worker:
      replicas: 2
      template: {spec: {terminationGracePeriodSeconds: 0, containers: [{name: worker, image: i, command: [sleep, "1000"], resources: {requests: {cpu: $2}}}]}}
YAML
}
has() { [ "$(kubectl get mpijob "$1" -o "jsonpath={.status.conditions[?(@.type==\"$2\")].status}")" = True ]; }

it_starts() {
  kubectl create namespace mpi-operator > /dev/null
  kubectl apply --validate=false -f - > /dev/null <<< '{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "training"}, "spec": {"weight": 1}}'
  expect "its definition to be taken" kubectl create -f "$stock/mpi-operator/kubeflow.org_mpijobs.yaml"
  expect "the rights that it asks for" kubectl apply --validate=false -f "$stock/mpi-operator/cluster-role.yaml"
  "$stock/bin/mpi-operator" --gang-scheduling=volcano --lock-namespace=mpi-operator > "$scratch/operator-mpi.log" 2>&1 &
  managers+=($!)
  expect "it to lead" wait_for 30 sh -c '[ -n "$(kubectl get lease -n mpi-operator mpi-operator -o "jsonpath={.spec.holderIdentity}")" ]'
}
a_launcher_knows_its_workers() {
  mpi hosts 10m 'cat /etc/mpi/hostfile && test -s /root/.ssh/id_rsa && for i in 0 1; do until getent hosts hosts-worker-$i.hosts.default.svc; do sleep 0.2; done; done' 'launcherCreationPolicy: WaitForWorkersReady' ', schedulingPolicy: {minAvailable: 2}'
  expect "its end" wait_for 60 has hosts Succeeded
  expect "its hosts" sh -c '[ "$(kubectl logs -l job-name=hosts-launcher | grep slots | tr "\n" " ")" = "hosts-worker-0.hosts.default.svc slots=2 hosts-worker-1.hosts.default.svc slots=2 " ]'
  expect "what it counted" field_is mpijob hosts .status.replicaStatuses.Launcher.succeeded 1
  expect "no worker that runs on" wait_for 20 sh -c '[ -z "$(kubectl get pods -l training.kubeflow.org/job-name=hosts,training.kubeflow.org/job-role=worker -o name)" ]'
}
it_is_a_gang_in_its_queue() {
  mpi gang 10m 'exec sleep 1000'
  expect "a group of three in its queue that runs" wait_for 60 sh -c '[ "$(kubectl get podgroup gang -o "jsonpath={.spec.minMember}/{.spec.queue}/{.status.phase}")" = 3/training/Running ]'
  expect "its pods to be placed by us" sh -c '[ "$(kubectl get pods -l training.kubeflow.org/job-name=gang -o "jsonpath={.items[*].spec.schedulerName}")" = "volcano volcano volcano" ]'
  kubectl patch mpijob gang --type merge -p '{"spec": {"runPolicy": {"suspend": true}}}' > /dev/null
  expect "it to rest without pods" wait_for 60 sh -c '[ -z "$(kubectl get pods -l training.kubeflow.org/job-name=gang -o name)" ]'
  expect "it to say so" wait_for 10 has gang Suspended
  kubectl delete mpijob gang --wait > /dev/null
  expect "no group without it" wait_for 30 sh -c '! kubectl get podgroup gang'
}
a_gang_without_room_waits_whole() {
  mpi large $(($(nproc) * 700))m 'exit 0'
  expect "its group to say why" wait_for 20 sh -c 'kubectl get podgroup large -o "jsonpath={.status.conditions[*].message}" | grep -q "can never start: asks for"'
  expect "no pod of it on a node" sh -c '[ -z "$(kubectl get pods -l training.kubeflow.org/job-name=large -o "jsonpath={.items[*].spec.nodeName}")" ]'
  kubectl delete mpijob large --wait > /dev/null
}
a_launcher_that_fails_fails_it() {
  mpi fails 10m 'exit 3'
  expect "it to fail" wait_for 60 has fails Failed
}
what_it_made_goes_with_it() {
  kubectl delete mpijob --all --wait > /dev/null
  expect "no Job, Secret, ConfigMap or Service of its own" wait_for 30 sh -c '! kubectl get jobs,secrets,configmaps,services -o name | grep -E "hosts|fails"'
}

if [ $root = 0 ]; then
  echo "skip outside mpi-operator: pods have names of their own with root alone"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc --mpi-job-version v2beta1 --training-operator=false
run_tests it_starts
[ -z "${failed:-}" ] || exit 1
run_tests a_launcher_knows_its_workers it_is_a_gang_in_its_queue a_gang_without_room_waits_whole a_launcher_that_fails_fails_it what_it_made_goes_with_it
exit "${failed:-0}"
