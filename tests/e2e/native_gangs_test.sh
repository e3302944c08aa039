#!/usr/bin/env bash
# Gangs of Kubernetes' own API (scheduling.k8s.io), with stock kubectl: all or none, queues by annotation, the condition, refusals.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

apply() { kubectl apply --validate=false -f - > "$scratch/apply.out" 2>&1; }
native() { kubectl get podgroups.scheduling.k8s.io "$1" -o "jsonpath={$2}"; }
native_is() { [ "$(native "$1" "$2")" = "$3" ]; }
group() { # group NAME POLICY [annotations]
  apply <<YAML
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: $1, annotations: {${3:-}}}
spec: {schedulingPolicy: {$2}}
YAML
}
pod() { # pod NAME GROUP CPU
  apply <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  schedulingGroup: {podGroupName: $2}
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: i, command: [sleep, "1000"], resources: {requests: {cpu: $3}}}]
YAML
}
runs() { field_is pod "$1" .status.phase Running; }
waits() { [ -z "$(field pod "$1" .spec.nodeName)" ]; }

a_gang_starts_whole() {
  apply <<'YAML'
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: train, annotations: {scheduling.volcano.sh/queue-name: teams}}
spec: {podGroupTemplates: [{name: workers, schedulingPolicy: {gang: {minCount: 2}}}]}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: teams}
spec: {weight: 1}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train-workers}
spec: {workloadRef: {workloadName: train, templateName: workers}, schedulingPolicy: {gang: {minCount: 2}}}
YAML
  pod w-0 train-workers 10m
  expect "the scheduler that knows groups" field_is pod w-0 .spec.schedulerName volcano
  expect "a group with its queue" wait_for 10 field_is podgroups.scheduling.volcano.sh train-workers .spec.queue teams
  expect "a reason in its condition" wait_for 10 native_is train-workers '.status.conditions[0].reason' Unschedulable
  expect "the first pod to wait" waits w-0
  pod w-1 train-workers 10m
  expect "both to run" wait_for 20 runs w-0
  expect "both to run" wait_for 20 runs w-1
  expect "the condition" wait_for 10 native_is train-workers '.status.conditions[0].status' True
  expect "its type" native_is train-workers '.status.conditions[0].type' PodGroupInitiallyScheduled
}
a_gang_without_room_holds_nothing() {
  group large 'gang: {minCount: 2}'
  pod large-0 large 10m
  pod large-1 large 1000
  expect "a reason in its condition" wait_for 10 native_is large '.status.conditions[0].reason' Unschedulable
  expect "no pod of it to be placed" waits large-0
}
pods_of_a_basic_group_start_alone() {
  group loose 'basic: {}'
  pod loose-0 loose 10m
  pod loose-1 loose 1000
  expect "the one with room to run" wait_for 20 runs loose-0
  expect "the other one to wait" waits loose-1
}
names_lead_to_the_groups_that_people_mean() {
  expect "kubectl's podgroups to be ours" sh -c "kubectl get podgroups train-workers -o 'jsonpath={.apiVersion}' | grep -qx scheduling.volcano.sh/v1beta1"
  expect "what goes with its PodGroup" sh -c "kubectl delete podgroups.scheduling.k8s.io large > /dev/null"
  expect "the group of ours to go" wait_for 10 refused 'not found' kubectl get podgroups.scheduling.volcano.sh large
}
the_alpha_version_is_another_form() {
  kubectl apply --validate=false -f - > /dev/null 2>&1 <<< '{"apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "PodGroup", "metadata": {"name": "alpha"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}'
  pod alpha-0 alpha 10m
  expect "its pod to run" wait_for 20 runs alpha-0
  expect "the form that was asked for" sh -c "kubectl get podgroups.v1alpha3.scheduling.k8s.io alpha -o 'jsonpath={.apiVersion} {.spec.schedulingPolicy.gang.minCount}' | grep -qx 'scheduling.k8s.io/v1alpha3 1'"
  expect "the stored one" sh -c "kubectl get podgroups.v1beta1.scheduling.k8s.io alpha -o 'jsonpath={.apiVersion}' | grep -qx scheduling.k8s.io/v1beta1"
}
job() { # job NAME CPU
  apply <<YAML
apiVersion: batch/v1
kind: Job
metadata: {name: $1, annotations: {scheduling.volcano.sh/queue-name: teams}}
spec:
  parallelism: 2
  completions: 2
  completionMode: Indexed
  scheduling: {schedulingPolicy: {gang: {}}}
  template:
    spec: {restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: main, image: i, command: [sleep, "${3:-1}"], resources: {requests: {cpu: $2}}}]}
YAML
}
group_of_job() { kubectl get podgroups.scheduling.k8s.io -o json | python3 -c '
import json, sys
for one in json.load(sys.stdin)["items"]:
    if any(owner["kind"] == "Job" and owner["name"] == sys.argv[1] for owner in one["metadata"].get("ownerReferences", [])): print(one["metadata"]["name"])' "$1"; }
jobs_make_their_group() {
  job pair 10m
  expect "its end" wait_for 40 field_is job pair .status.succeeded 2
  expect "its minimum, which is its parallelism" native_is "$(group_of_job pair)" .spec.schedulingPolicy.gang.minCount 2
  expect "its queue" field_is podgroups.scheduling.volcano.sh "$(group_of_job pair)" .spec.queue teams
  expect "that it was placed" wait_for 10 native_is "$(group_of_job pair)" '.status.conditions[0].status' True
  expect "events" sh -c "kubectl get events | grep -q 'Created PodGroup .* for Job pair'"
  job wide 1000
  expect "a group" wait_for 10 sh -c "kubectl get events | grep -q 'Created PodGroup .* for Job wide'"
  expect "a reason in its condition" wait_for 20 native_is "$(group_of_job wide)" '.status.conditions[0].reason' Unschedulable
  expect "no pod of it to run" [ -z "$(kubectl get pods -l job-name=wide -o 'jsonpath={.items[*].spec.nodeName}')" ]
  expect "more of them" kubectl patch job wide --type merge -p '{"spec": {"completions": 3, "parallelism": 3}}'
  expect "a minimum that follows" wait_for 20 field_is podgroups.scheduling.volcano.sh "$(group_of_job wide)" .spec.minMember 3
  kubectl patch job wide --type merge -p '{"spec": {"parallelism": 2}}' > /dev/null
  expect "a minimum over its parallelism to be refused" refused "must not be greater than parallelism (2)" kubectl patch job wide --type merge -p '{"spec": {"scheduling": {"schedulingPolicy": {"gang": {"minCount": 3}}}}}'
  kubectl delete job pair wide --wait=false > /dev/null
  expect "the groups to go" wait_for 20 sh -c "! kubectl get podgroups.scheduling.k8s.io -o name | grep -E 'pair|wide'"
}
disrupted() { # disrupted NAME MODE: a gang of two pods of 600m each
  group "$1" "gang: {minCount: 2}}, disruptionMode: {$2: {}"
  pod "$1-0" "$1" 600m
  pod "$1-1" "$1" 600m
  expect "$1 to run" wait_for 20 runs "$1-0"
  expect "$1 to run" wait_for 20 runs "$1-1"
}
important() { # important NAME [CLASS]: a pod of a more important group, with room once 600m are given back
  apply <<YAML
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: modest}
value: 1000
preemptionPolicy: Never
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: $1}
spec: {priorityClassName: ${2:-urgent}, schedulingPolicy: {gang: {minCount: 1}}}
YAML
  pod "$1-0" "$1" "$(($(kubectl get node n1 -o 'jsonpath={.status.allocatable.cpu}') * 1000 - 900))m"
}
a_gang_stays_in_one_domain() {
  kubectl label node n1 example.com/rack=a > /dev/null
  group racked 'gang: {minCount: 1}}, schedulingConstraints: {topology: [{key: example.com/rack}]'
  pod racked-0 racked 10m
  expect "a pod in the rack to run" wait_for 20 runs racked-0
  group rowed 'gang: {minCount: 1}}, schedulingConstraints: {topology: [{key: example.com/row}]'
  pod rowed-0 rowed 10m
  expect "a reason that names the label" wait_for 10 sh -c "kubectl get podgroups.scheduling.k8s.io rowed -o 'jsonpath={.status.conditions[0].message}' | grep -q 'no node has the label example.com/row'"
  expect "its pod to wait" waits rowed-0
  kubectl label node n1 example.com/row=1 > /dev/null
  expect "its pod to run where a node has the label" wait_for 20 runs rowed-0
  kubectl delete pod racked-0 rowed-0 > /dev/null
}
pods_left() { kubectl get pods --no-headers 2> /dev/null | grep -c "^$1-"; }
groups_go_whole_or_pod_by_pod() {
  disrupted whole all
  important modest modest
  expect "a reason in its condition" wait_for 10 native_is modest '.status.conditions[0].reason' Unschedulable
  expect "nobody to go for it" [ "$(pods_left whole)" = 2 ]
  kubectl delete podgroups.scheduling.k8s.io modest > /dev/null && kubectl delete pod modest-0 > /dev/null
  important urgent-a
  expect "the important pod to run" wait_for 30 runs urgent-a-0
  expect "the priority of its class" native_is urgent-a .spec.priority 1000
  expect "the whole group to be gone" [ "$(pods_left whole)" = 0 ]
  kubectl delete pod urgent-a-0 > /dev/null
  disrupted each single
  important urgent-b
  expect "the important pod to run" wait_for 30 runs urgent-b-0
  expect "one pod to be gone" [ "$(pods_left each)" = 1 ]
}
mistakes_are_named() {
  expect "no policy" sh -c '! kubectl apply --validate=false -f - 2>&1' <<< '{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "bad"}, "spec": {"schedulingPolicy": {}}}'
  expect "a policy to stay" refused "the policy is immutable after creation" kubectl patch podgroups.scheduling.k8s.io loose --type merge -p '{"spec": {"schedulingPolicy": {"basic": null, "gang": {"minCount": 3}}}}'
  expect "another priority than that of the class" refused 'must match the priority computed (1000)' kubectl create --validate=false -f - <<< '{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "bad"}, "spec": {"schedulingPolicy": {"basic": {}}, "priorityClassName": "urgent", "priority": 7}}'
  expect "a class that is not there" refused 'no PriorityClass with name nothing was found' kubectl create --validate=false -f - <<< '{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "bad"}, "spec": {"schedulingPolicy": {"basic": {}}, "priorityClassName": "nothing"}}'
  kubectl apply --validate=false -f - > /dev/null 2>&1 <<< '{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "taken"}, "spec": {"minMember": 1}}'
  group taken 'gang: {minCount: 1}'
  pod taken-0 taken 10m
  expect "a name that another owner has" wait_for 10 sh -c "kubectl get events | grep GroupNameTaken | grep -q 'podgroups.scheduling.volcano.sh \"taken\" is of another owner'"
}

cat > "$scratch/scheduler.yaml" <<'YAML'
actions: "enqueue, allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: nodeorder}]
YAML
start_cluster --node-name n1 --host-rootfs --runtime process --scheduler-conf "$scratch/scheduler.yaml"
run_tests a_gang_starts_whole a_gang_without_room_holds_nothing pods_of_a_basic_group_start_alone names_lead_to_the_groups_that_people_mean the_alpha_version_is_another_form jobs_make_their_group a_gang_stays_in_one_domain groups_go_whole_or_pod_by_pod mistakes_are_named
exit "${failed:-0}"
