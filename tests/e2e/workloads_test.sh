#!/usr/bin/env bash
# Deployments, DaemonSets, Jobs and CronJobs from kubectl to running pods and back.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

start_cluster --host-rootfs --runtime process

pods_are() { # pods_are SELECTOR COUNT: so many pods run, and no others are there
  [ "$(kubectl get pods -l "$1" -o 'jsonpath={.items[*].status.phase}' | tr ' ' '\n' | sort | uniq -c | tr -s ' ')" = " $2 Running" ]
}
no_pods() { [ -z "$(kubectl get pods -l "$1" -o name)" ]; }
rolled_out() { timeout 40 kubectl rollout status "$1"; }
warns_not() { ! "$@" 2>&1 | grep Warning > /dev/null; }

a_deployment_rolls_out_and_back() {
  cat > "$scratch/web.yaml" <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulerName: volcano
      terminationGracePeriodSeconds: 0
      containers: [{name: c, image: "one:1", command: [sleep, "600"]}]
Y
  expect "created" kubectl apply -f "$scratch/web.yaml"
  expect "rolls out" rolled_out deployment/web
  expect "three pods" pods_are app=web 3
  expect "the row" sh -c 'kubectl get deployment web --no-headers | grep -qE "^web +3/3 +3 +3 "'
  expect "a new image" warns_not kubectl set image deployment/web c=two:2
  expect "rolls out again" rolled_out deployment/web
  expect "revision 2" field_is deployment web '.metadata.annotations.deployment\.kubernetes\.io/revision' 2
  expect "undone" kubectl rollout undo deployment/web
  expect "rolls back" rolled_out deployment/web
  expect "the old image" field_is deployment web '.spec.template.spec.containers[0].image' one:1
  expect "its old set" [ "$(kubectl get rs -l app=web -o name | wc -l)" = 2 ]
  expect "history" sh -c 'kubectl rollout history deployment/web | grep -qE "^3 "'
  expect "scaled" kubectl scale deployment/web --replicas=5
  expect "five pods" wait_for 20 pods_are app=web 5
  expect "nothing more" rolled_out deployment/web
  expect "deleted" kubectl delete deployment web --wait=false
  expect "all goes" wait_for 20 no_pods app=web
}
what_makes_no_sense_is_refused() {
  expect "labels that are not selected" sh -c "sed 's/labels: {app: web}/labels: {app: db}/' '$scratch/web.yaml' | kubectl create -f - 2>&1 | grep -qF '\`selector\` does not match template \`labels\`'"
  expect "a restart policy" sh -c "sed 's/schedulerName: volcano/restartPolicy: Never/' '$scratch/web.yaml' | kubectl create -f - 2>&1 | grep -qF 'spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"'"
}
a_job_runs_to_completion() {
  cat <<Y | kubectl apply -f - > /dev/null
apiVersion: batch/v1
kind: Job
metadata: {name: pi}
spec:
  completions: 4
  parallelism: 2
  completionMode: Indexed
  template:
    spec:
      schedulerName: volcano
      restartPolicy: Never
      containers: [{name: c, image: i, command: [sh, -c, 'echo index \$JOB_COMPLETION_INDEX']}]
Y
  expect "completes" kubectl wait --for=condition=complete job/pi --timeout=40s
  expect "every index" field_is job.batch pi .status.completedIndexes 0-3
  expect "conditions in order" field_is job.batch pi '.status.conditions[*].type' 'SuccessCriteriaMet Complete'
  expect "the row" sh -c 'kubectl get jobs.batch pi --no-headers | grep -qE "^pi +Complete +4/4 "'
  expect "knows its index" sh -c '[ "$(kubectl logs -l batch.kubernetes.io/job-completion-index=2)" = "index 2" ]'
  expect "deleted" kubectl delete job.batch pi --wait=false
  expect "its pods go" wait_for 20 no_pods job-name=pi
}
a_job_that_fails_says_why() {
  cat <<Y | kubectl apply -f - > /dev/null
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: 0
  template:
    spec: {schedulerName: volcano, restartPolicy: Never, containers: [{name: c, image: i, command: [sh, -c, exit 3]}]}
Y
  expect "fails" kubectl wait --for=condition=failed job/bad --timeout=40s
  expect "why" field_is job.batch bad '.status.conditions[?(@.type=="Failed")].reason' BackoffLimitExceeded
  expect "one pod" field_is job.batch bad .status.failed 1
}
indexed_job() { # indexed_job NAME FIELDS COMMAND
  kubectl apply -f - > /dev/null <<Y
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  completions: 3
  parallelism: 3
  completionMode: Indexed
  $2
  template:
    spec: {restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{name: c, image: i, command: [sh, -c, '$3']}]}
Y
}
indexes_of_a_job_fail_alone_or_suffice() {
  indexed_job limits "backoffLimitPerIndex: 0" '[ $JOB_COMPLETION_INDEX != 1 ]'
  expect "fails in the end" kubectl wait --for=condition=failed job/limits --timeout=40s
  expect "why" field_is job.batch limits '.status.conditions[?(@.type=="Failed")].reason' FailedIndexes
  expect "the index" field_is job.batch limits .status.failedIndexes 1
  expect "the others" field_is job.batch limits .status.completedIndexes 0,2
  indexed_job enough 'successPolicy: {rules: [{succeededIndexes: "0"}]}' '[ $JOB_COMPLETION_INDEX = 0 ] || sleep 1000'
  expect "completes" kubectl wait --for=condition=complete job/enough --timeout=40s
  expect "by its policy" field_is job.batch enough '.status.conditions[?(@.type=="Complete")].reason' SuccessPolicy
  expect "no pod at work" wait_for 20 field_is job.batch enough .status.terminating 0
  expect "no index that it has not" refused 'too large index: "3"' kubectl create -f - <<< '{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "wrong"}, "spec": {"completions": 3, "completionMode": "Indexed", "successPolicy": {"rules": [{"succeededIndexes": "3"}]}, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}'
}
a_cronjob_and_a_job_made_from_it() {
  cat <<Y | kubectl apply -f - > /dev/null
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate:
    spec:
      template:
        spec: {schedulerName: volcano, restartPolicy: Never, containers: [{name: c, image: i, command: [echo, tick]}]}
Y
  expect "made from it" kubectl create job by-hand --from=cronjob/tick
  expect "completes" kubectl wait --for=condition=complete job/by-hand --timeout=40s
  expect "is not a run" field_is cronjob.batch tick .status.active ''
  expect "the row" sh -c 'kubectl get cronjobs.batch tick --no-headers | grep -qE "^tick +0 0 1 1 \* +<none> +False +0 +<none>"'
  expect "deleted" kubectl delete cronjob.batch tick --wait=false
  expect "its Jobs go" wait_for 20 sh -c '! kubectl get job.batch by-hand'
}

a_stateful_set_mounts_what_it_claims() {
  expect "it to be taken" kubectl create --dry-run=server -f - <<Y
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: claiming}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: "one:1", volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
Y
}
a_stateful_set_keeps_its_order() {
  cat <<Y | kubectl apply -f - > /dev/null
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      schedulerName: volcano
      terminationGracePeriodSeconds: 0
      containers: [{name: c, image: "one:1", command: [sleep, "600"]}]
Y
  expect "rolls out" rolled_out statefulset/db
  expect "names" [ "$(kubectl get pods -l app=db -o 'jsonpath={.items[*].metadata.name}')" = "db-0 db-1" ]
  expect "in order" [ "$(kubectl get pods -l app=db --sort-by=.metadata.creationTimestamp -o 'jsonpath={.items[0].metadata.name}')" = db-0 ]
  expect "a new image" kubectl set image statefulset/db c=two:2
  expect "rolls out again" rolled_out statefulset/db
  expect "is everywhere" [ "$(kubectl get pods -l app=db -o 'jsonpath={.items[*].spec.containers[0].image}')" = "two:2 two:2" ]
  expect "undone" kubectl rollout undo statefulset/db
  expect "rolls back" rolled_out statefulset/db
  expect "the old image" [ "$(kubectl get pods -l app=db -o 'jsonpath={.items[*].spec.containers[0].image}')" = "one:1 one:1" ]
  expect "fewer" kubectl scale statefulset/db --replicas=1
  expect "the highest goes" wait_for 20 sh -c '! kubectl get pod db-1'
  expect "deleted" kubectl delete statefulset db --wait=false
  expect "all goes" wait_for 20 no_pods app=db
}

a_daemon_set_has_a_pod_on_the_node() {
  cat > "$scratch/agent.yaml" <<Y
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: c, image: "one:1", command: [sleep, "600"]}]
Y
  expect "created" kubectl apply -f "$scratch/agent.yaml"
  expect "rolls out" rolled_out daemonset/agent
  expect "one pod" pods_are app=agent 1
  expect "the row" sh -c 'kubectl get ds agent --no-headers | grep -qE "^agent +1 +1 +1 +1 +1 "'
  expect "a new image" warns_not kubectl set image daemonset/agent c=two:2
  expect "rolls out again" rolled_out daemonset/agent
  expect "two revisions" sh -c 'kubectl rollout history daemonset/agent | grep -qE "^2 "'
  expect "the first one's image" sh -c 'kubectl rollout history daemonset/agent --revision=1 | grep -q one:1'
  expect "undone" kubectl rollout undo daemonset/agent
  expect "rolls back" rolled_out daemonset/agent
  expect "the old image" sh -c 'kubectl get pods -l app=agent -o "jsonpath={.items[*].spec.containers[0].image}" | grep -qx one:1'
  expect "deleted" kubectl delete daemonset agent
  expect "all goes" wait_for 20 no_pods app=agent
}

a_budget_keeps_pods_from_eviction() {
  kubectl apply -f "$scratch/web.yaml" > /dev/null
  kubectl create poddisruptionbudget web --selector=app=web --min-available=3 > /dev/null
  expect "three pods" rolled_out deployment/web
  expect "the row" wait_for 20 sh -c 'kubectl get pdb web --no-headers | grep -qE "^web +3 +N/A +0 "'
  local pods eviction='{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "%s", "namespace": "default"}}'
  pods=($(kubectl get pods -l app=web -o 'jsonpath={.items[*].metadata.name}'))
  evict() { printf "$eviction" "$1" | kubectl create --raw "/api/v1/namespaces/default/pods/$1/eviction" -f - 2>&1; }
  expect "a refusal" grep -q "violate the pod's disruption budget" <<< "$(evict "${pods[0]}")"
  kubectl patch pdb web --type merge -p '{"spec": {"minAvailable": 2}}' > /dev/null
  expect "one to be allowed" wait_for 20 sh -c 'kubectl get pdb web --no-headers | grep -qE "^web +2 +N/A +1 "'
  expect "it to go" grep -q Success <<< "$(evict "${pods[0]}")"
  expect "the next one to be allowed in time" wait_for 20 sh -c 'kubectl get pdb web --no-headers | grep -qE "^web +2 +N/A +1 "'
  kubectl delete pdb web > /dev/null
  kubectl delete deployment web > /dev/null
  expect "all goes" wait_for 20 no_pods app=web
}

foreground_deletion_ends_with_the_last_pod() {
  sed -e 's/: web/: slow/g' -e 's/PeriodSeconds: 0/PeriodSeconds: 3/' -e 's/\[sleep, "600"\]/[sh, -c, "trap : TERM; while true; do sleep 1; done"]/' "$scratch/web.yaml" | kubectl apply -f - > /dev/null
  expect "rolls out" rolled_out deployment/slow
  expect "deleted" timeout 30 kubectl delete deployment slow --cascade=foreground
  expect "no pod, and nobody waited for them here" no_pods app=slow
}

bound() { # bound NAME TOLERATIONS: a pod on $node
  kubectl run "$1" --image=i --overrides="{\"spec\": {\"nodeName\": \"$node\", \"terminationGracePeriodSeconds\": 0, \"tolerations\": [$2]}}" --command -- sleep 600 > /dev/null
}
a_taint_evicts_who_does_not_tolerate_it() {
  local node said="kubectl get events --field-selector reason=TaintManagerEviction,source=taint-eviction-controller"
  node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
  bound plain ""
  bound patient '{"key": "down", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 600}'
  bound brief '{"key": "down", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 2}'
  bound staying '{"key": "down", "operator": "Exists"}'
  expect "four pods" kubectl wait pod/plain pod/patient pod/brief pod/staying --for=condition=Ready --timeout=30s
  expect "tainted" kubectl taint node "$node" down=yes:NoExecute
  expect "one to go at once" wait_for 10 sh -c '! kubectl get pod plain'
  expect "its event" wait_for 10 sh -c "$said | grep -q 'Marking for deletion Pod default/plain'"
  expect "one to go in time" wait_for 20 sh -c '! kubectl get pod brief'
  expect "one to have more time" field_is pod patient .status.phase Running
  expect "one to stay" field_is pod staying .status.phase Running
  expect "untainted" kubectl taint node "$node" down-
  expect "it to be called off" wait_for 10 sh -c "$said | grep -q 'Cancelling deletion of Pod default/patient'"
  kubectl delete pod patient staying > /dev/null
}

# Made at the beginning, for they have 40 seconds.
node=nowhere bound lost "" && node=nowhere bound ending ""
kubectl delete pod ending --wait=false > /dev/null
pods_of_no_node_go() {
  expect "both to be there at first" [ -n "$lost_at_first" ]
  expect "one to go" wait_for 60 sh -c '! kubectl get pod lost'
  expect "the one that was deleted to go, too" wait_for 10 sh -c '! kubectl get pod ending'
}
lost_at_first=$(kubectl get pod lost ending -o name)

run_tests a_deployment_rolls_out_and_back a_taint_evicts_who_does_not_tolerate_it foreground_deletion_ends_with_the_last_pod what_makes_no_sense_is_refused a_job_runs_to_completion a_job_that_fails_says_why indexes_of_a_job_fail_alone_or_suffice a_cronjob_and_a_job_made_from_it a_stateful_set_mounts_what_it_claims a_stateful_set_keeps_its_order a_daemon_set_has_a_pod_on_the_node a_budget_keeps_pods_from_eviction pods_of_no_node_go
stop_cluster

controllers_can_be_left_off() {
  start_cluster --host-rootfs --runtime process --controllers=-replicaset,-taint-eviction
  kubectl apply -f "$scratch/web.yaml" > /dev/null
  expect "a set is made" wait_for 10 sh -c 'kubectl get rs -l app=web -o name | grep -q web'
  expect "that nobody looks at" [ -z "$(kubectl get rs -l app=web -o 'jsonpath={.items[*].status.observedGeneration}')" ]
  expect "and no pods" no_pods app=web
  expect "a name that is none" sh -c "! '$volcano' up --controllers=-nonsense --data '$scratch/other' 2>&1 | grep -q 'is up'"
}
# Beside the controller that evicts it would be gone at once.
a_tainted_node_refuses_pods() {
  local node
  node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
  bound before ""
  expect "a pod" kubectl wait pod/before --for=condition=Ready --timeout=30s
  expect "tainted" kubectl taint node "$node" down=yes:NoExecute
  bound after ""
  expect "a refusal" wait_for 10 field_is pod after .status.reason TaintToleration
  expect "its words" field_is pod after .status.message "Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
  expect "its phase" field_is pod after .status.phase Failed
  expect "nobody to evict" field_is pod before .status.phase Running
  kubectl taint node "$node" down- > /dev/null
  kubectl delete pod before after > /dev/null
}
run_tests controllers_can_be_left_off a_tainted_node_refuses_pods
