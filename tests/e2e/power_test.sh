#!/usr/bin/env bash
# A loss of power: all processes of the program and of its pods are killed, and what the kernel keeps of the pods goes with them. What is started
# again has its surroundings anew, and init containers run again before the others.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

lose_power() {
  local mark=$scratch/data group file at name
  group=$(sed -E 's/.*"bridge":"vcbr([0-9a-f]+)".*/volcano-\1/' "$mark/node/network.json")
  kill_cluster
  for file in /proc/[0-9]*/cmdline; do # monitors
    name=${file%/cmdline}
    tr '\0' ' ' < "$file" 2> /dev/null | grep -q "conmon.*$mark" && kill -9 "${name#/proc/}"
  done
  for file in $(find /sys/fs/cgroup -path "*$group*" -name cgroup.procs 2> /dev/null); do # shellcheck disable=SC2013
    for at in $(cat "$file"); do kill -9 "$at" 2> /dev/null; done
  done
  wait_for 10 sh -c "! find /sys/fs/cgroup -path '*$group*' -name cgroup.procs -exec cat {} + | grep -q ."
  grep -o " $mark[^ ]*" /proc/self/mountinfo | sort -r | while read -r at; do umount -l "$at"; done
  find /sys/fs/cgroup -depth -type d -path "*$group*" -exec rmdir {} + 2> /dev/null
  start_cluster --node-name n1 --host-rootfs
}
ready() { field_is "$1" "$2" '.status.conditions[?(@.type=="Ready")].status' True; }
restarts() { field pod "$1" ".status.${2}[*].restartCount"; }
says() { kubectl logs "$1" -c "$2" 2> /dev/null | grep -qxF -- "$3"; }

pods_are_initialized_again() {
  local name
  kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: configured}
  spec:
    terminationGracePeriodSeconds: 1
    volumes: [{name: conf, emptyDir: {medium: Memory}}, {name: kept, emptyDir: {}}]
    initContainers:
    - {name: render, image: b, command: [sh, -c, "echo port=80 > /conf/app.conf; echo once >> /kept/runs"], volumeMounts: [{name: conf, mountPath: /conf}, {name: kept, mountPath: /kept}]}
    - {name: proxy, image: b, restartPolicy: Always, command: [sh, -c, "cat /conf/app.conf && touch /conf/proxy; sleep 100000"], volumeMounts: [{name: conf, mountPath: /conf}],
       startupProbe: {exec: {command: [test, -e, /conf/proxy]}, periodSeconds: 1}}
    containers: [{name: app, image: b, command: [sh, -c, "test -e /conf/proxy && cat /conf/app.conf || exit 9; wc -l < /kept/runs; sleep 100000"], volumeMounts: [{name: conf, mountPath: /conf}, {name: kept, mountPath: /kept}]}]
- apiVersion: v1
  kind: Pod
  metadata: {name: routed}
  spec:
    terminationGracePeriodSeconds: 1
    initContainers: [{name: route, image: b, command: [sh, -c, "ip addr add 192.0.2.77/32 dev lo"], securityContext: {capabilities: {add: [NET_ADMIN]}}}]
    containers: [{name: app, image: b, command: [sh, -c, "ip addr show lo | grep -q 192.0.2.77 || { echo no address; exit 9; }; sleep 100000"]}]
- apiVersion: v1
  kind: Pod
  metadata: {name: on-the-host}
  spec:
    terminationGracePeriodSeconds: 1
    hostNetwork: true
    volumes: [{name: kept, emptyDir: {}}]
    initContainers: [{name: count, image: b, command: [sh, -c, "echo once >> /kept/runs"], volumeMounts: [{name: kept, mountPath: /kept}]}]
    containers: [{name: app, image: b, command: [sh, -c, "wc -l < /kept/runs; sleep 100000"], volumeMounts: [{name: kept, mountPath: /kept}]}]
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: service}
  spec:
    selector: {matchLabels: {app: service}}
    template:
      metadata: {labels: {app: service}}
      spec:
        terminationGracePeriodSeconds: 1
        volumes: [{name: m, emptyDir: {medium: Memory}}]
        initContainers: [{name: i, image: b, command: [touch, /m/there], volumeMounts: [{name: m, mountPath: /m}]}]
        containers: [{name: app, image: b, command: [sh, -c, "test -e /m/there && sleep 100000"], volumeMounts: [{name: m, mountPath: /m}]}]
- apiVersion: batch/v1
  kind: Job
  metadata: {name: task}
  spec:
    template:
      spec:
        restartPolicy: OnFailure
        terminationGracePeriodSeconds: 1
        volumes: [{name: m, emptyDir: {medium: Memory}}, {name: kept, emptyDir: {}}]
        initContainers: [{name: i, image: b, command: [touch, /m/there], volumeMounts: [{name: m, mountPath: /m}]}]
        containers: [{name: app, image: b, command: [sh, -c, "test -e /m/there || exit 9; echo x >> /kept/runs; [ $(wc -l < /kept/runs) = 2 ] || sleep 100000"], volumeMounts: [{name: m, mountPath: /m}, {name: kept, mountPath: /kept}]}]
YAML
  for name in configured routed on-the-host; do expect "$name to be ready" wait_for 30 ready pod $name; done
  expect "the service" wait_for 30 field_is deployment service .status.readyReplicas 1
  expect "the task" wait_for 30 field_is job task .status.ready 1
  lose_power
  for name in configured routed on-the-host; do
    expect "$name to have started again" wait_for 40 field_is pod $name '.status.containerStatuses[0].restartCount' 1
    expect "$name to be ready again" wait_for 40 ready pod $name
  done
  expect "one restart of each: $(restarts configured initContainerStatuses)" [ "$(restarts configured initContainerStatuses)" = "1 1" ]
  expect "the volume on disk to be kept" says configured app 2
  expect "the init container of a pod on the host's network to have run again" says on-the-host app 2
  expect "the service again" wait_for 40 field_is deployment service .status.readyReplicas 1
  expect "its pod to be the same" field_is pod "$(kubectl get pod -l app=service -o name | cut -d/ -f2)" '.status.initContainerStatuses[0].restartCount' 1
  expect "the task to end" wait_for 60 field_is job task .status.succeeded 1
  expect "no failure of the task" field_is job task .status.failed ""
}
# Only the agent ends: what runs, runs on, and nothing is initialized again.
an_agent_that_is_killed_begins_nothing_anew() {
  kill_cluster
  start_cluster --node-name n1 --host-rootfs
  expect "the pod to be ready" wait_for 20 ready pod configured
  expect "no further restart" [ "$(restarts configured initContainerStatuses) $(restarts configured containerStatuses)" = "1 1 1" ]
}
# A part of the sandbox goes while the pod runs: the next start finds that out.
a_network_that_is_gone_is_made_anew() {
  local uid
  uid=$(field pod routed .metadata.uid)
  umount -l "$scratch/data/node/pods/$uid/netns"
  kubectl exec routed -- sh -c 'kill -9 $(pidof sleep)' > /dev/null 2>&1
  expect "the init container to run again" wait_for 40 field_is pod routed '.status.initContainerStatuses[0].restartCount' 2
  expect "the pod to be ready" wait_for 40 ready pod routed
}

if [ $root = 0 ]; then
  echo "skip power: it needs root"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs
wait_for 10 kubectl get node n1
run_tests pods_are_initialized_again an_agent_that_is_killed_begins_nothing_anew a_network_that_is_gone_is_made_anew
exit ${failed:-0}
