#!/usr/bin/env bash
# Training jobs from kubectl apply to their end, with real processes that check what they are told; no framework is needed.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/e2e/training_lib.sh

a_pytorchjob_runs_to_its_end() {
  # The master's end ends the job: it waits until its workers were seen.
  local seen=/tmp/seen.$$
  { replica Master 1 OnFailure pytorch "echo \"\$RANK/\$WORLD_SIZE \$MASTER_ADDR:\$MASTER_PORT \$PET_NNODES \$PET_NPROC_PER_NODE\"; until [ -e $seen ]; do sleep 0.1; done"
    replica Worker 2 OnFailure pytorch 'echo "$RANK/$WORLD_SIZE $MASTER_ADDR:$MASTER_PORT"; sleep 1'; } |
    job PyTorchJob simple pytorchReplicaSpecs | kubectl apply -f - > /dev/null
  expect "a group before the pods" wait_for 10 field_is podgroup simple .spec.minMember 3
  expect "running" wait_for 30 sh -c "kubectl get pytorchjob simple -o 'jsonpath={.status.conditions[*].type}' | grep -q Running"
  expect "three pods" [ "$(pods_of simple)" = "simple-master-0 simple-worker-0 simple-worker-1" ]
  expect "annotations" field_is pod simple-worker-0 '.metadata.annotations.volcano\.sh/task-spec' worker
  expect "a headless service" field_is service simple-master-0 .spec.clusterIP None
  expect "the role of the master" field_is pod simple-master-0 '.metadata.labels.training\.kubeflow\.org/job-role' master
  expect "a worker's words" wait_for 60 sh -c '[ "$(kubectl logs simple-worker-1 -c pytorch)" = "2/3 simple-master-0:23456" ]'
  kubectl exec simple-master-0 -c pytorch -- touch "$seen"
  expect "succeeds" wait_for 40 state_is pytorchjob simple Succeeded
  rm -f "$seen"
  expect "in this order" field_is pytorchjob simple '.status.conditions[*].type' 'Created Running Succeeded'
  expect "the master's words" [ "$(kubectl logs simple-master-0)" = "0/3 simple-master-0:23456 3 auto" ]
  expect "the row" sh -c 'kubectl get pytorchjob simple --no-headers | grep -qE "^simple +Succeeded +"'
  expect "the event" wait_for 5 event_is 'pytorchjob-controller PyTorchJob/simple PyTorchJobSucceeded: PyTorchJob simple is successfully completed.'
  expect "the group goes" wait_for 5 sh -c '! kubectl get podgroup simple'
  expect "pods stay" [ -n "$(pods_of simple)" ]
  kubectl delete pytorchjob simple --wait=false > /dev/null
  expect "pods go with the job" wait_for 10 no_pods_of simple
}
a_tfjob_knows_its_cluster() {
  { replica PS 1 Never tensorflow 'echo "$TF_CONFIG"; sleep 600'
    replica Worker 2 Never tensorflow 'echo "$TF_CONFIG"; case $HOSTNAME in *-0) sleep 3;; esac'; } |
    job TFJob mnist tfReplicaSpecs '  runPolicy: {cleanPodPolicy: Running}' | kubectl apply -f - > /dev/null
  expect "succeeds" wait_for 40 state_is tfjob mnist Succeeded
  expect "TF_CONFIG" sh -c '[ "$(kubectl logs mnist-worker-1)" = "{\"cluster\":{\"ps\":[\"mnist-ps-0.default.svc:2222\"],\"worker\":[\"mnist-worker-0.default.svc:2222\",\"mnist-worker-1.default.svc:2222\"]},\"task\":{\"type\":\"worker\",\"index\":1},\"environment\":\"cloud\"}" ]'
  expect "what runs is cleaned up" wait_for 15 sh -c '! kubectl get pod mnist-ps-0'
  expect "what succeeded stays" field_is pod mnist-worker-0 .status.phase Succeeded
}
an_mpijob_has_its_files() {
  { replica Launcher 1 Never mpi 'cat /etc/mpi/hostfile; echo "$OMPI_MCA_plm_rsh_agent"; test -x /etc/mpi/kubexec.sh && sleep 1'
    replica Worker 2 Never mpi 'sleep 600'; } |
    job MPIJob pi mpiReplicaSpecs '  slotsPerWorker: 2
  runPolicy: {cleanPodPolicy: All}' | kubectl apply -f - > /dev/null
  expect "ran" wait_for 40 sh -c "kubectl get mpijob pi -o 'jsonpath={.status.conditions[*].type}' | grep -q Running"
  expect "hostfile" wait_for 10 sh -c 'kubectl logs pi-launcher -c mpi | tr "\n" " " | grep -q "pi-worker-0 slots=2 pi-worker-1 slots=2 /etc/mpi/kubexec.sh"'
  expect "succeeds" wait_for 30 state_is mpijob pi Succeeded
  expect "workers run until then" wait_for 5 event_is 'mpijob-controller MPIJob/pi MPIJobRunning: MPIJob default/pi is running'
  expect "all is cleaned up" wait_for 15 no_pods_of pi
}
exit_codes_decide() {
  replica Worker 1 ExitCode jax 'sleep 1; exit 137' | job JAXJob again jaxReplicaSpecs '  runPolicy: {backoffLimit: 2}' | kubectl apply -f - > /dev/null
  replica Worker 1 ExitCode jax 'exit 1' | job JAXJob never jaxReplicaSpecs | kubectl apply -f - > /dev/null
  expect "1 fails the job" wait_for 20 state_is jaxjob never Failed
  expect "why" field_is jaxjob never '.status.conditions[-1:].message' 'job "never" is failing because "Worker" replica(s) failed.'
  expect "it ended" sh -c 'kubectl get jaxjob never -o "jsonpath={.status.completionTime}" | grep -q T'
  expect "137 is tried again, twice" wait_for 40 state_is jaxjob again Failed
  expect "and counted" field_is jaxjob again .status.restartCount 2
  expect "then no more" field_is jaxjob again '.status.conditions[-1:].message' 'Job again has failed because it has reached the specified backoff limit'
  expect "nothing is left" wait_for 10 no_pods_of again
}
a_job_is_suspended_and_resumed() {
  replica Worker 2 Never jax 'sleep 600' | job JAXJob pausing jaxReplicaSpecs '  runPolicy: {suspend: false}' | kubectl apply -f - > /dev/null
  expect "running" wait_for 20 state_is jaxjob pausing Running
  kubectl patch jaxjob pausing --type merge -p '{"spec":{"runPolicy":{"suspend":true}}}' > /dev/null
  expect "suspended" wait_for 10 state_is jaxjob pausing Suspended
  expect "no pods" wait_for 15 no_pods_of pausing
  expect "no group" sh -c '! kubectl get podgroup pausing'
  expect "no services" sh -c '! kubectl get service pausing-worker-0'
  kubectl patch jaxjob pausing --type merge -p '{"spec":{"runPolicy":{"suspend":false}}}' > /dev/null
  expect "running again" wait_for 20 state_is jaxjob pausing Running
  expect "two pods" [ "$(pods_of pausing)" = "pausing-worker-0 pausing-worker-1" ]
  kubectl delete jaxjob pausing --wait=false > /dev/null
}
a_finished_job_lives_so_long() {
  replica Master 1 Never xgboost 'echo "$WORLD_SIZE $MASTER_PORT"' | job XGBoostJob short xgbReplicaSpecs '  runPolicy: {ttlSecondsAfterFinished: 2}' | kubectl apply -f - > /dev/null
  expect "succeeds" wait_for 20 state_is xgboostjob short Succeeded
  expect "and goes" wait_for 10 sh -c '! kubectl get xgboostjob short'
  expect "with its pod" wait_for 10 no_pods_of short
}
a_deadline_ends_a_job() {
  replica Worker 1 Never paddle 'sleep 600' | job PaddleJob late paddleReplicaSpecs '  runPolicy: {activeDeadlineSeconds: 3}' | kubectl apply -f - > /dev/null
  expect "fails" wait_for 25 state_is paddlejob late Failed
  expect "why" field_is paddlejob late '.status.conditions[-1:].message' 'Job late has failed because it was active longer than specified deadline'
  expect "nothing is left" wait_for 15 no_pods_of late
}
an_elastic_job_is_scaled() {
  replica Worker 2 OnFailure pytorch 'echo "$PET_NNODES $PET_RDZV_ENDPOINT $PET_RDZV_BACKEND"; sleep 600' |
    job PyTorchJob elastic pytorchReplicaSpecs '  elasticPolicy: {minReplicas: 1, maxReplicas: 3}' | kubectl apply -f - > /dev/null
  expect "running" wait_for 20 state_is pytorchjob elastic Running
  expect "the meeting place" sh -c '[ "$(kubectl logs elastic-worker-0)" = "1:3 elastic-worker-0:23456 c10d" ]'
  expect "scale up" kubectl scale pytorchjob/elastic --replicas 3
  expect "three" wait_for 20 sh -c '[ "$(kubectl get pods -l training.kubeflow.org/job-name=elastic -o name | wc -l)" = 3 ]'
  expect "all run" wait_for 20 field_is pytorchjob elastic .status.replicaStatuses.Worker.active 3
  expect "the scale" sh -c '[ "$(kubectl get pytorchjob elastic --subresource scale -o "jsonpath={.spec.replicas}/{.status.replicas}")" = 3/3 ]'
  expect "scale down" kubectl scale pytorchjob/elastic --current-replicas 3 --replicas 1
  expect "one" wait_for 20 sh -c '[ "$(kubectl get pods -l training.kubeflow.org/job-name=elastic -o name)" = pod/elastic-worker-0 ]'
  kubectl delete pytorchjob elastic --wait=false > /dev/null
}
no_pods_before_there_is_room() {
  replica Worker 2 Never jax 'echo here' | sed 's/cpu: 50m/cpu: 1000/' | job JAXJob large jaxReplicaSpecs | kubectl apply -f - > /dev/null
  expect "a pending group" wait_for 10 field_is podgroup large .status.phase Pending
  expect "what it needs" field_is podgroup large .spec.minResources.cpu 2k
  expect "created" wait_for 5 state_is jaxjob large Created
  expect "no pods" no_pods_of large
  kubectl delete jaxjob large --wait=false > /dev/null
}
what_makes_no_sense_is_refused() {
  replica Worker 1 Never other 'true' | job PyTorchJob bad pytorchReplicaSpecs > "$scratch/bad.yaml"
  expect "refused" sh -c "kubectl apply -f $scratch/bad.yaml 2>&1 | grep -qF 'admission webhook \"validator.pytorchjob.training-operator.kubeflow.org\" denied the request: spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container with name pytorch'"
  replica Worker 1 Never mpi 'true' | job MPIJob bad mpiReplicaSpecs | kubectl apply -f - > /dev/null
  expect "said" wait_for 5 event_is 'mpijob-controller MPIJob/bad MPIJobFailedValidation: MPIJob failed validation because MPIReplicaSpec is not valid: Master ReplicaSpec must be present'
  expect "no pods" no_pods_of bad
}
survives_a_kill() {
  { replica Master 1 OnFailure pytorch 'sleep 4'; replica Worker 1 OnFailure pytorch 'sleep 1'; } |
    job PyTorchJob tough pytorchReplicaSpecs | kubectl apply -f - > /dev/null
  expect "running" wait_for 30 state_is pytorchjob tough Running
  kill_cluster
  start_cluster --host-rootfs
  expect "succeeds" wait_for 40 state_is pytorchjob tough Succeeded
  expect "two pods" [ "$(pods_of tough)" = "tough-master-0 tough-worker-0" ]
}

the_operator_runs_beside_a_cluster() {
  stop_cluster
  start_cluster --host-rootfs --training-operator=false
  local ports="--metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 0"
  build/release/bin/training-operator --kubeconfig "$KUBECONFIG" --enable-scheme JAXJob --gang-scheduler-name volcano $ports 2>> "$scratch/up.log" &
  local operator=$!
  replica Worker 2 Never jax 'echo "$PROCESS_ID/$NUM_PROCESSES $COORDINATOR_ADDRESS"' | job JAXJob beside jaxReplicaSpecs | kubectl apply -f - > /dev/null
  replica Worker 1 Never tensorflow 'true' | job TFJob left tfReplicaSpecs | kubectl apply -f - > /dev/null
  expect "succeeds" wait_for 30 state_is jaxjob beside Succeeded
  expect "its words" [ "$(kubectl logs beside-worker-1)" = "1/2 beside-worker-0" ]
  expect "a kind that is not enabled is left alone" state_is tfjob left ''
  kill $operator
  expect "it ends when it is told to" wait $operator
}

start_cluster --host-rootfs || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
tests="a_tfjob_knows_its_cluster an_mpijob_has_its_files exit_codes_decide a_job_is_suspended_and_resumed a_finished_job_lives_so_long a_deadline_ends_a_job an_elastic_job_is_scaled no_pods_before_there_is_room what_makes_no_sense_is_refused the_operator_runs_beside_a_cluster"
if [ $root = 0 ]; then
  echo "skip a_pytorchjob_runs_to_its_end survives_a_kill: workers resolve their master, which needs root"
  run_tests $tests
else
  run_tests a_pytorchjob_runs_to_its_end survives_a_kill $tests
fi
