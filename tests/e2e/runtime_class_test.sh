#!/usr/bin/env bash
# Pods of RuntimeClasses, with stock kubectl: what admission adds, which program runs them, and what is said of unknown ones.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

class() { # class NAME HANDLER [more fields]
  kubectl apply -f - > /dev/null <<< $'---\n'"{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $1}, handler: $2 ${3:+, $3}}"
}
pod() { # pod NAME CLASS [more fields of the spec]
  kubectl apply -f - 2>&1 <<< $'---\n'"{apiVersion: v1, kind: Pod, metadata: {name: $1}, spec: {runtimeClassName: $2, restartPolicy: Never, terminationGracePeriodSeconds: 1,
    containers: [{name: c, image: i, command: [sleep, '1000'], resources: {limits: {memory: 64Mi}}}] ${3:+, $3}}}"
}
event_has() { # event_has POD REASON TEXT
  local text
  text=$(kubectl get events --field-selector "involvedObject.name=$1,reason=$2" -o 'jsonpath={range .items[*]}{.message}{"\n"}{end}' 2> /dev/null)
  grep -qF -- "$3" <<< "$text"
}
admission_adds_what_the_class_says() {
  expect "no class that is not there" refused 'pods "bad" is forbidden: pod rejected: RuntimeClass "none" not found' pod bad none
  expect "no overhead without a class" refused 'Pod Overhead set without corresponding RuntimeClass defined Overhead' pod bad plain 'overhead: {cpu: "1"}'
  expect "no labels against it" refused 'conflict: runtimeClass.scheduling.nodeSelector[kubernetes.io/os] = linux; pod.spec.nodeSelector[kubernetes.io/os] = plan9' \
    pod bad second 'nodeSelector: {kubernetes.io/os: plan9}'
  pod second second > /dev/null
  expect "its overhead" [ "$(field pod second .spec.overhead.memory)" = 8Mi ]
  expect "its labels" [ "$(field pod second '.spec.nodeSelector.kubernetes\.io/os')" = linux ]
  expect "its tolerations" grep -q '"key":"second"' <<< "$(field pod second .spec.tolerations)"
  kubectl create quota small --hard=limits.memory=1Gi > /dev/null
  expect "the overhead counted" wait_for 10 field_is quota small '.status.used.limits\.memory' 136Mi
  kubectl delete quota small > /dev/null
}
the_class_names_the_program() {
  expect "the node to name its handlers" wait_for 10 field_is node n1 '.status.runtimeHandlers[*].name' ' runc gone second'
  expect "a pod of runc's class" wait_for 30 field_is pod plain .status.phase Running
  expect "a pod of another" wait_for 30 field_is pod second .status.phase Running
  expect "it to be made by that program" grep -q ' create ' "$scratch/second.log"
  expect "its group to have the overhead" grep -qx $((72 << 20)) <<< "$(cat /sys/fs/cgroup/memory/volcano-*/pod"$(field pod second .metadata.uid)"/memory.limit_in_bytes /sys/fs/cgroup/volcano-*/pod"$(field pod second .metadata.uid)"/memory.max 2> /dev/null)"
  expect "commands in it to go the same way" kubectl exec second -- true
  expect "that to be seen" grep -q ' exec ' "$scratch/second.log"
  kubectl delete pod second plain > /dev/null
  expect "its end to go the same way" wait_for 10 grep -q ' delete ' "$scratch/second.log"
}
unknown_handlers_are_said() {
  pod lost lost > /dev/null
  expect "an event" wait_for 20 event_has lost FailedCreatePodSandBox 'Failed to create pod sandbox: failed to get sandbox runtime: no runtime for "absent" is configured'
  expect "the pod to wait" field_is pod lost .status.phase Pending
  pod gone gone > /dev/null
  expect "a program that is gone" wait_for 20 event_has gone FailedCreatePodSandBox 'the program /no/such of runtime "gone" cannot be found'
  kubectl delete pod lost gone --now > /dev/null
}
flags_are_checked() {
  expect "no program" refused '--runtime-handlers: "a" is not HANDLER=PROGRAM' "$volcano" up --data "$scratch/x" --runtime-handlers a
  expect "no name" refused '--runtime-handlers: "A_" is not a handler' "$volcano" up --data "$scratch/x" --runtime-handlers A_=/bin/true
  expect "two" refused '--runtime-handlers: "a" is there twice' "$volcano" up --data "$scratch/x" --runtime-handlers a=/bin/true,a=/bin/false
}

if [ $root = 0 ] || ! command -v runc conmon > /dev/null; then
  for name in admission_adds_what_the_class_says the_class_names_the_program unknown_handlers_are_said; do echo "skip $name: it needs root, runc and conmon"; done
  run_tests flags_are_checked
  exit
fi
printf '#!/bin/sh\necho "$0 $*" >> %s/second.log\nexec runc "$@"\n' "$scratch" > "$scratch/second"
chmod +x "$scratch/second"
start_cluster --node-name n1 --host-rootfs --runtime-handlers "second=$scratch/second,gone=/no/such"
class plain runc
class second second 'overhead: {podFixed: {memory: 8Mi}}, scheduling: {nodeSelector: {kubernetes.io/os: linux}, tolerations: [{key: second, operator: Exists}]}'
class lost absent
class gone gone
pod plain plain > /dev/null
run_tests admission_adds_what_the_class_says the_class_names_the_program unknown_handlers_are_said flags_are_checked
