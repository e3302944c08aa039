#!/usr/bin/env bash
# Kubeflow's Trainer v2 (kubeflow/trainer), unchanged, with JobSet beside it, against `volcano up`: its own runtimes, gangs in our queues.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
stock=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
for one in trainer jobset; do
  [ -x "$stock/bin/$one" ] && [ -d "$stock/$one" ] || { echo "skip outside trainer: $one is not built (tests/stock/build.sh $one)"; exit 0; }
done
. tests/outside/operator_lib.sh

train() { # train NAME RUNTIME NODES COMMAND [more of the specification]
  apply <<YAML
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: $1}
spec:
  runtimeRef: {name: $2}
  trainer:
    image: i
    numNodes: $3
    command: [sh, -c, '$4']
    resourcesPerNode: {requests: {cpu: ${cpu:-10m}}}
  ${5:-}
YAML
}
has() { # has JOB CONDITION: it is true
  [ "$(kubectl get trainjob "$1" -o "jsonpath={.status.conditions[?(@.type==\"$2\")].status}")" = True ]
}
output() { kubectl logs -l "jobset.sigs.k8s.io/jobset-name=$1" --tail=-1 --prefix=false | sort | tr '\n' ' '; }
says() { [ "$(output "$1")" = "$2" ]; }

its_controllers_start() {
  make_keys
  kubectl create namespace kubeflow-system > /dev/null
  expect "the definition of JobSet to be taken" kubectl create -f "$stock/jobset/crd/bases/jobset.x-k8s.io_jobsets.yaml"
  { printf 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n'; settings "certDir: $scratch/certs, "; } > "$scratch/jobset.yaml"
  expect "JobSet to answer" start_operator "$stock/bin/jobset" --config "$scratch/jobset.yaml"
  expect "the webhooks of JobSet to be taken" webhooks jobset "$stock/jobset/webhook/manifests.yaml" jobset.sigs.k8s.io/jobset-name

  port=$(free_port)
  expect "its definitions to be taken" kubectl create -f "$stock/trainer/crds/trainer.kubeflow.org_clustertrainingruntimes.yaml" -f "$stock/trainer/crds/trainer.kubeflow.org_trainingruntimes.yaml" -f "$stock/trainer/crds/trainer.kubeflow.org_trainjobs.yaml"
  mkdir -p "$scratch/k8s-webhook-server" && ln -s "$scratch/certs" "$scratch/k8s-webhook-server/serving-certs"
  cat > "$scratch/trainer.yaml" <<YAML
apiVersion: config.trainer.kubeflow.org/v1alpha1
kind: Configuration
leaderElection: {leaderElect: true, resourceName: trainer.kubeflow.org, resourceNamespace: kubeflow-system, leaseDuration: 15s, renewDeadline: 10s, retryPeriod: 2s}
certManagement: {enable: false}
webhook: {port: $port, host: 127.0.0.1}
metrics: {bindAddress: "127.0.0.1:0"}
health: {healthProbeBindAddress: "127.0.0.1:0"}
YAML
  TMPDIR=$scratch expect "it to answer" start_operator "$stock/bin/trainer" --config "$scratch/trainer.yaml"
  expect "its webhooks to be taken" webhooks trainer "$stock/trainer/webhook/manifests.yaml" none
  kubectl apply --validate=false -f - > /dev/null <<< '{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "training"}, "spec": {"weight": 1}}'
}
its_own_runtimes_are_taken() {
  for one in torch jax deepspeed xgboost; do
    expect "the runtime of $one" kubectl apply --validate=false --server-side -f "$stock/trainer/runtimes/${one}_distributed.yaml"
  done
  # The same of PyTorch as a gang in a queue of ours.
  sed -e 's/name: torch-distributed/name: torch-gang/' -e 's/^spec:/spec:\n  podGroupPolicy: {volcano: {}}/' -e 's/^  template:/&\n    metadata: {annotations: {scheduling.volcano.sh\/queue-name: training}}/' -e 's/^\( *\)containers:/\1schedulerName: volcano\n&/' "$stock/trainer/runtimes/torch_distributed.yaml" | apply
  expect "a runtime with a gang" kubectl get clustertrainingruntime torch-gang
}
nodes_of_torch_know_their_ranks() {
  train torch torch-distributed 2 'echo $PET_NODE_RANK of $PET_NNODES'
  expect "its end" wait_for 60 has torch Complete
  expect "two ranks" wait_for 20 says torch "0 of 2 1 of 2 "
  expect "what it says of its Jobs" field_is trainjob torch '.status.jobsStatus[?(@.name=="node")].succeeded' 1
}
nodes_find_the_first_one_by_name() {
  train names jax-distributed 2 'for i in $(seq 100); do getent hosts ${JAX_COORDINATOR_ADDRESS%:*} > /dev/null && exit 0; sleep 0.2; done; exit 1'
  expect "its end" wait_for 60 has names Complete
}
a_gang_is_one_of_our_groups() {
  train gang torch-gang 2 'while [ ! -e /tmp/gang-ends ]; do sleep 0.1; done'
  expect "a group of two in its queue that runs" wait_for 60 sh -c '[ "$(kubectl get podgroup gang -o "jsonpath={.spec.minMember}/{.spec.queue}/{.status.phase}/{.spec.minResources.cpu}")" = 2/training/Running/20m ]'
  expect "its pods to be placed by us" sh -c '[ "$(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=gang -o "jsonpath={.items[*].spec.schedulerName}")" = "volcano volcano" ]'
  kubectl delete trainjob gang --wait > /dev/null
  expect "no group without it" wait_for 30 sh -c '! kubectl get podgroup gang'
}
a_gang_without_room_waits_whole() {
  cpu=$(($(nproc) * 700))m train large torch-gang 2 'exit 0'
  expect "its group to say why" wait_for 20 sh -c 'kubectl get podgroup large -o "jsonpath={.status.conditions[*].message}" | grep -q "can never start: asks for"'
  expect "no pod of it on a node" sh -c '[ -z "$(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=large -o "jsonpath={.items[*].spec.nodeName}")" ]'
  kubectl delete trainjob large --wait > /dev/null
}
a_job_rests_and_goes_on() {
  train rests torch-gang 1 'exit 0' 'suspend: true'
  expect "it to rest" wait_for 30 has rests Suspended
  expect "no pod of it" [ -z "$(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=rests -o name)" ]
  kubectl patch trainjob rests --type merge -p '{"spec": {"suspend": false}}' > /dev/null
  expect "its end" wait_for 60 has rests Complete
}
a_deadline_ends_it() {
  train late torch-distributed 1 'exec sleep 1000' 'activeDeadlineSeconds: 2'
  expect "it to fail" wait_for 60 has late Failed
  expect "no JobSet that runs on" wait_for 10 sh -c '! kubectl get jobset late'
}
mpi_has_keys_and_hosts() {
  train mpi deepspeed-distributed 2 'cat /etc/mpi/hostfile; test -s /home/mpiuser/.ssh/id_rsa'
  expect "its keys" wait_for 30 field_is secret mpi-mpi-ssh-auth .type kubernetes.io/ssh-auth
  expect "its hosts" wait_for 30 sh -c 'kubectl get configmap mpi-mpi-hostfile -o "jsonpath={.data.hostfile}" | grep -q "^mpi-launcher-0-0.mpi slots=1"'
}
mistakes_are_refused_by_its_webhook() {
  expect "a runtime that there is not" refused 'denied the request' kubectl apply --validate=false -f - <<< '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "x"}, "spec": {"runtimeRef": {"name": "none"}}}'
  expect "a name that its definition does not take" refused 'metadata.name must match' kubectl apply --validate=false -f - <<< '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "1x"}, "spec": {"runtimeRef": {"name": "torch-distributed"}}}'
}
what_it_made_goes_with_it() {
  kubectl delete trainjob --all --wait > /dev/null
  expect "no JobSet, Job or Secret of its own" wait_for 30 sh -c '[ -z "$(kubectl get jobsets,jobs,secrets -o name)" ]'
}

if [ $root = 0 ]; then
  echo "skip outside trainer: pods have names of their own with root alone"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc
run_tests its_controllers_start
[ -z "${failed:-}" ] || exit 1
run_tests its_own_runtimes_are_taken nodes_of_torch_know_their_ranks nodes_find_the_first_one_by_name a_gang_is_one_of_our_groups a_gang_without_room_waits_whole a_job_rests_and_goes_on a_deadline_ends_it mpi_has_keys_and_hosts mistakes_are_refused_by_its_webhook what_it_made_goes_with_it
exit "${failed:-0}"
