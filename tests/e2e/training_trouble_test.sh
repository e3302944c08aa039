#!/usr/bin/env bash
# Training jobs that cannot run: each is told what to do, and none leaves pods behind.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/e2e/training_lib.sh

runs_to_its_end() { wait_for 40 state_is "$1" "$2" Succeeded; }
has_nothing() { # has_nothing JOB: neither pods nor services
  no_pods_of "$1" && [ -z "$(kubectl get services -l "training.kubeflow.org/job-name=$1" -o name)" ]
}

a_priority_class_is_missing() {
  replica Worker 2 Never jax 'true' | job JAXJob urgent jaxReplicaSpecs '  runPolicy: {schedulingPolicy: {priorityClass: urgent}}' | kubectl apply -f - > /dev/null
  replica Worker 1 Never tensorflow 'true' | sed 's/        spec:/        spec:\n          priorityClassName: urgent/' | job TFJob hurried tfReplicaSpecs | kubectl apply -f - > /dev/null
  expect "said" wait_for 10 event_is 'jaxjob-controller JAXJob/urgent PriorityClassNotFound: spec.runPolicy.schedulingPolicy.priorityClass: no PriorityClass with name urgent was found; create it, or name another one: until then the job has no pods'
  expect "of a template" wait_for 10 event_is 'tfjob-controller TFJob/hurried PriorityClassNotFound: spec.tfReplicaSpecs[Worker].template.spec.priorityClassName: no PriorityClass with name urgent was found; create it, or name another one: until then the job has no pods'
  expect "no pods" sh -c '[ -z "$(kubectl get pods,services,podgroups -l volcano.sh/none!=x -o name | grep -E "urgent|hurried")" ]'
  expect "created" state_is jaxjob urgent Created
  expect "the class" kubectl create priorityclass urgent --value 1000
  expect "runs then" runs_to_its_end jaxjob urgent
  expect "the other one, too" runs_to_its_end tfjob hurried
  kubectl delete jaxjob/urgent tfjob/hurried priorityclass/urgent --wait=false > /dev/null
}
a_queue_is_closed() {
  kubectl apply -f - > /dev/null <<'Y'
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: night}
spec: {weight: 1}
Y
  expect "open" wait_for 10 field_is queue night .status.state Open
  expect "closed" build/release/bin/vcctl queue operate --action close --name night
  expect "is closed" wait_for 10 field_is queue night .status.state Closed
  replica Worker 1 Never jax 'true' | job JAXJob nightly jaxReplicaSpecs '  runPolicy: {schedulingPolicy: {queue: night}}' | kubectl apply -f - > /dev/null
  expect "said" wait_for 10 event_is 'jaxjob-controller JAXJob/nightly FailedCreatePodGroup: Error creating: admission webhook "validatepodgroup.volcano.sh" denied the request: can only submit PodGroup to queue with state `Open`, queue `night` status is `Closed`'
  expect "nothing is there" has_nothing nightly
  expect "created" state_is jaxjob nightly Created
  expect "opened" build/release/bin/vcctl queue operate --action open --name night
  expect "runs then" runs_to_its_end jaxjob nightly
  kubectl delete jaxjob nightly --wait=false > /dev/null
}
a_name_is_too_long() {
  local name=a-name-of-sixty-characters-which-is-one-that-a-job-may-have
  replica Worker 1 Never jax 'true' | job JAXJob $name jaxReplicaSpecs > "$scratch/long.yaml"
  expect "refused" refused "will not able to create pod and service with invalid DNS label \"$name-worker-0\"" kubectl apply -f "$scratch/long.yaml"
}
a_group_of_the_name_is_somebody_elses() {
  kubectl apply -f - > /dev/null <<'Y'
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: taken}
spec: {minMember: 1}
Y
  replica Worker 1 Never jax 'true' | job JAXJob taken jaxReplicaSpecs | kubectl apply -f - > /dev/null
  expect "said" wait_for 10 event_is 'jaxjob-controller JAXJob/taken FailedCreatePodGroup: PodGroup default/taken exists and does not belong to this job; delete it, or give the job another name'
  expect "nothing is there" has_nothing taken
  kubectl delete podgroup taken > /dev/null
  expect "runs when it is gone" runs_to_its_end jaxjob taken
  kubectl delete jaxjob taken --wait=false > /dev/null
}
a_container_has_another_name() {
  replica Worker 1 Never other 'true' | job PyTorchJob bad pytorchReplicaSpecs > "$scratch/bad.yaml"
  expect "refused" refused 'admission webhook "validator.pytorchjob.training-operator.kubeflow.org" denied the request: spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container with name pytorch' kubectl apply -f "$scratch/bad.yaml"
  replica Worker 1 Never mpi 'true' | job MPIJob bad mpiReplicaSpecs | kubectl apply -f - > /dev/null
  expect "said" wait_for 5 event_is 'mpijob-controller MPIJob/bad MPIJobFailedValidation: MPIJob failed validation because MPIReplicaSpec is not valid: Master ReplicaSpec must be present'
  expect "nothing is there" has_nothing bad
  kubectl delete mpijob bad > /dev/null
}
a_worker_fails_for_ever() {
  { replica Master 1 OnFailure pytorch 'sleep 600'; replica Worker 1 ExitCode pytorch 'sleep 0.5; exit 200'; } |
    job PyTorchJob doomed pytorchReplicaSpecs '  runPolicy: {backoffLimit: 1}' | kubectl apply -f - > /dev/null
  expect "fails" wait_for 60 state_is pytorchjob doomed Failed
  expect "why" field_is pytorchjob doomed '.status.conditions[-1:].message' 'Job doomed has failed because it has reached the specified backoff limit'
  expect "which code" event_is 'pytorchjob-controller PyTorchJob/doomed ExitedWithCode: Pod: default.doomed-worker-0 exited with code 200'
  expect "nothing is left" wait_for 15 has_nothing doomed
  expect "no group" wait_for 5 sh -c '! kubectl get podgroup doomed'
  kubectl delete pytorchjob doomed > /dev/null
}
a_master_never_resolves() {
  stop_cluster
  start_cluster --host-rootfs --training-operator=false
  build/release/bin/training-operator --kubeconfig "$KUBECONFIG" --gang-scheduler-name volcano --pytorch-init-container-max-tries 2 \
    --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 0 2>> "$scratch/up.log" &
  local operator=$!
  # What is not ready has no name.
  { replica Master 1 OnFailure pytorch 'sleep 600' | sed 's/resources:/readinessProbe: {exec: {command: ["false"]}}, resources:/'
    replica Worker 1 OnFailure pytorch 'true'; } |
    job PyTorchJob lonely pytorchReplicaSpecs '  runPolicy: {backoffLimit: 1}' | kubectl apply -f - > /dev/null
  expect "said" wait_for 40 event_is "pytorchjob-controller PyTorchJob/lonely MasterNotResolved: Pod lonely-worker-0 waited in vain for the name lonely-master-0 to resolve; look at that pod, its service, and the cluster's DNS"
  expect "fails" wait_for 60 state_is pytorchjob lonely Failed
  expect "nothing is left" wait_for 15 has_nothing lonely
  kill $operator
  wait $operator
}

start_cluster --host-rootfs || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
tests="a_priority_class_is_missing a_queue_is_closed a_name_is_too_long a_group_of_the_name_is_somebody_elses a_container_has_another_name"
if [ $root = 0 ]; then
  echo "skip a_worker_fails_for_ever a_master_never_resolves: workers resolve their master, which needs root"
  run_tests $tests
else
  run_tests $tests a_worker_fails_for_ever a_master_never_resolves
fi
