#!/usr/bin/env bash
# Jobs that wait for what comes later, and that try again: quotas, dependsOn, maxRetry, names, claims, rolling updates.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

job() { # job NAME NAMESPACE REPLICAS COMMAND [extra yaml of the spec] [extra yaml of the task]: minAvailable is 1
  cat <<Y
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $1, namespace: $2}
spec:
  minAvailable: ${MIN:-1}
${5:-}
  tasks:
  - name: w
    replicas: $3
${6:-}
    template:
      spec:
        restartPolicy: Never
        terminationGracePeriodSeconds: 1
        automountServiceAccountToken: false
        containers:
        - {name: c, image: any, command: [sh, -c, "$4"], resources: {requests: {cpu: 10m}}}
Y
}
in_team() { kubectl get "$1" "$2" -n "$3" -o "jsonpath={$4}" 2> /dev/null; }
in_team_is() { [ "$(in_team "$1" "$2" "$3" "$4")" = "$5" ]; }
says() { in_team vcjob "$1" "$2" .status.state.message | grep -qF -- "$3"; }

a_job_completes_within_a_quota() {
  kubectl create namespace team > /dev/null
  kubectl create quota team -n team --hard=pods=4 > /dev/null
  job sweep team 20 'sleep 1' | kubectl apply -f - > /dev/null
  expect "the quota is named" wait_for 10 says sweep team 'short of pods=1'
  expect "its state is told" in_team_is vcjob sweep team .status.state.reason CreationRefused
  expect "explained" sh -c 'build/release/bin/vcctl explain job -N sweep -n team | grep -q "exceeded quota: team"'
  expect "completed" wait_for 60 in_team_is vcjob sweep team .status.state.phase Completed
  expect "all of them" in_team_is vcjob sweep team .status.succeeded 20
}
a_job_waits_for_its_quota_to_grow() {
  kubectl create namespace small > /dev/null
  kubectl create quota q -n small --hard=requests.cpu=25m > /dev/null
  MIN=4 job big small 4 'sleep 1' | kubectl apply -f - > /dev/null
  expect "why" wait_for 10 says big small 'requests.cpu'
  kubectl patch quota q -n small -p '{"spec": {"hard": {"requests.cpu": "1"}}}' > /dev/null
  expect "soon" wait_for 10 in_team_is vcjob big small .status.state.phase Completed
}
a_job_waits_for_its_service_account() {
  job later default 1 'true' | sed 's/restartPolicy/serviceAccountName: later\n        restartPolicy/' | kubectl apply -f - > /dev/null
  expect "why" wait_for 10 says later default 'serviceaccount'
  kubectl create serviceaccount later > /dev/null
  expect "soon" wait_for 10 phase_is later Completed
}
suspending_spends_no_attempt() {
  local i
  job often default 1 'sleep 100' | kubectl apply -f - > /dev/null
  for i in 1 2 3 4 5; do
    expect "running $i" wait_for 20 phase_is often Running
    build/release/bin/vcctl job suspend -N often > /dev/null
    expect "aborted $i" wait_for 20 phase_is often Aborted
    build/release/bin/vcctl job resume -N often > /dev/null
  done
  expect "still running" wait_for 20 phase_is often Running
  expect "no attempt" field_is vcjob often .status.retryCount ''
  kubectl delete vcjob often > /dev/null
}
the_last_failure_can_be_read() {
  job last default 1 'echo the reason; exit 7' '  maxRetry: 2' '    policies: [{event: PodFailed, action: RestartTask}]' |
    kubectl apply -f - > /dev/null
  expect "failed" wait_for 30 phase_is last Failed
  expect "its log" bash -c '[ "$(kubectl logs last-w-0)" = "the reason" ]'
}
a_task_that_waits_is_not_waited_for() {
  local part
  for part in master work; do
    job chain default 2 'sleep 100' | sed "s/name: w/name: $part/" > "$scratch/$part.yaml"
  done
  { cat "$scratch/master.yaml"; sed '1,/tasks:/d' "$scratch/work.yaml"; echo '    dependsOn: {name: [master]}'; } |
    grep -v minAvailable | kubectl apply -f - > /dev/null
  expect "all run" wait_for 20 phase_is chain Running
  expect "the gang has grown" sh -c 'kubectl get podgroup -o "jsonpath={.items[*].spec.minMember}" | grep -qw 4'
  kubectl delete vcjob chain > /dev/null
}
names_are_judged_at_the_door() {
  local long=$(printf 'n%.0s' $(seq 59))
  job "$long" default 101 'true' | refused "create pod with name $long-w-100 validate failed" kubectl apply -f - || problem="a pod's name"
  cat > "$scratch/cron.yaml" <<'Y'
apiVersion: batch.volcano.sh/v1alpha1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "@every 5s"
  jobTemplate:
    spec:
      queue: no-such-queue
      minAvailable: 1
      tasks: [{name: w, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: any, command: ["true"]}]}}}]
Y
  expect "a queue that is not there" refused 'spec.jobTemplate.spec.queue: unable to find job queue' kubectl apply -f "$scratch/cron.yaml"
}
a_rolling_update_of_a_gang_ends() {
  cat > "$scratch/web.yaml" <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {scheduling.volcano.sh/group-min-member: "2"}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulerName: volcano
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: any, command: [sleep, "1000"], resources: {requests: {cpu: 10m}}}]
Y
  kubectl apply -f "$scratch/web.yaml" > /dev/null
  expect "runs" timeout 20 kubectl rollout status deployment web
  kubectl set env deployment web A=B > /dev/null
  expect "is updated" timeout 30 kubectl rollout status deployment web
  kubectl delete deployment web > /dev/null
}
a_claim_without_a_provisioner_is_told() {
  kubectl apply -f - > /dev/null <<'Y'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: nobody}
provisioner: example.com/nobody
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: nobody, resources: {requests: {storage: 1Gi}}}
Y
  job claims default 1 'true' '  volumes: [{mountPath: /data, volumeClaimName: data}]' | kubectl apply -f - > /dev/null
  local missing='claim default/data has no volume yet'
  expect "the job says it" wait_for 10 says claims default "$missing"
  expect "an event of the pod" wait_for 5 sh -c "kubectl get events | grep FailedScheduling | grep pod/claims-w-0 | grep -q '$missing'"
  expect "an event of the group" sh -c "kubectl get events | grep podgroup/claims- | grep -q '$missing'"
  expect "an event of the claim" sh -c "kubectl get events | grep persistentvolumeclaim/data | grep -q \"external provisioner 'example.com/nobody'\""
  expect "the scheduler's own words" sh -c "kubectl get --raw /debug/waiting | grep -q '$missing'"
  expect "explained" sh -c 'build/release/bin/vcctl explain job -N claims | grep -q "the provisioner example.com/nobody of its class nobody has made none"'
  kubectl delete vcjob claims > /dev/null
}

rehearsal() { # rehearsal CPU [curl flags...]: the scheduler's answer to a job of one pod
  local cpu=$1 job
  shift
  job='{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"maybe","namespace":"default"},"spec":{"tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"'$cpu'"}}}]}}}]}}'
  api_request /debug/rehearsal -X POST -H 'Content-Type: application/json' -d "$job" "$@"
}
rehearsal_of() { # rehearsal_of OBJECT [curl flags...]
  local object=$1
  shift
  api_request /debug/rehearsal -X POST -H 'Content-Type: application/json' -d "$object" "$@"
}
of_group='"annotations":{"scheduling.k8s.io/group-name":"gang"}'
small='"resources":{"requests":{"cpu":"10m"}}'
group='{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"gang","namespace":"default"},"spec":{"minMember":2}}'
batch='{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"maybe","namespace":"default"},"spec":{"parallelism":2,"completions":2,"template":{"metadata":{'$of_group'},"spec":{"schedulerName":"volcano","restartPolicy":"Never","containers":[{"name":"c","image":"i",'$small'}]}}}}'
train='{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"maybe","namespace":"default"},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"pytorch","image":"i",'$small'}]}}}}}}'
pod_of_group() { # pod_of_group NAME
  echo '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'"$1"'","namespace":"default",'$of_group'},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i",'$small'}]}}'
}
would_start() { rehearsal 10m | grep -q '"pods":1,"starting":1,"nodes":1,"evictions":0,"reason":null'; }
a_job_is_rehearsed() {
  expect "it would start" wait_for 20 would_start # once the node is ready
  expect "it would wait" grep -q '"starting":0,.*can never start: asks for 4k cpu' <<< "$(rehearsal 4k)"
  expect "what admission refuses" grep -q 'spec.task\[0\].*cpu' <<< "$(rehearsal -1)"
  expect "whoever may create none" grep -q 'forbidden' <<< "$(rehearsal 10m -H 'Impersonate-User: ann')"
  expect "another kind" grep -q 'kind: Secret of v1 is not rehearsed' <<< "$(api_request /debug/rehearsal -X POST -d '{"kind":"Secret","apiVersion":"v1"}')"
  expect "a training job" grep -q '"pods":2,"starting":2,' <<< "$(rehearsal_of "$train")"
  expect "who may not create one of its objects" grep -q 'forbidden' <<< "$(rehearsal_of "$train" -H 'Impersonate-User: ann')"
  expect "pods and their group" grep -q '"pods":2,"starting":2,' <<< "$(rehearsal_of "{\"kind\":\"List\",\"items\":[$group,$(pod_of_group a),$(pod_of_group b)]}")"
  expect "a Job of its group" grep -q '"pods":2,"starting":2,' <<< "$(rehearsal_of "{\"kind\":\"List\",\"items\":[$group,$batch]}")"
  expect "text" grep -q message <<< "$(api_request /debug/rehearsal -X POST -d 'x')"
  expect "a question without a job" grep -q 'status.*405\|POST' <<< "$(api_request /debug/rehearsal)"
  expect "nothing to be left of it" sh -c '[ -z "$(kubectl get vcjob maybe --ignore-not-found)" ]'
}

start_cluster --host-rootfs
run_tests a_job_is_rehearsed a_job_completes_within_a_quota a_job_waits_for_its_quota_to_grow a_job_waits_for_its_service_account \
  suspending_spends_no_attempt the_last_failure_can_be_read a_task_that_waits_is_not_waited_for \
  names_are_judged_at_the_door a_rolling_update_of_a_gang_ends a_claim_without_a_provisioner_is_told
[ "${failed:-0}" = 0 ]
