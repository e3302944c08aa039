#!/usr/bin/env bash
# Probes and lifecycle hooks with stock kubectl: readiness and the endpoints that follow it, restarts, hooks.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pod() { # pod NAME LABEL CONTAINER-FIELDS
  kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: "$2"}}
spec: {terminationGracePeriodSeconds: 10, containers: [{name: a, image: i, $3}]}
END
}
loop='command: [sh, -c, "trap \"exit 0\" TERM; while true; do sleep 0.1; done"]'
ready_is() { field_is pod "$1" '.status.containerStatuses[0].ready' "$2"; }
event_says() { kubectl get events -o 'jsonpath={range .items[*]}{.reason} {.message}{"\n"}{end}' | grep "$1" > /dev/null; }

readiness_opens_and_closes_a_service() {
  kubectl create service clusterip web --tcp=80:80 > /dev/null
  pod r web "$loop, readinessProbe: {exec: {command: [test, -e, $scratch/open]}, periodSeconds: 1, failureThreshold: 1}"
  expect "0/1" wait_for 20 field_is pod r .status.phase Running
  expect "an event" wait_for 10 event_says 'Unhealthy Readiness probe failed'
  expect "not ready" ready_is r false
  expect "no address" wait_for 10 sh -c '[ -n "$(kubectl get endpoints web -o "jsonpath={.subsets[0].notReadyAddresses[0].ip}")" ]'
  touch "$scratch/open"
  expect "ready" wait_for 10 ready_is r true
  expect "an address" wait_for 10 sh -c '[ -n "$(kubectl get endpoints web -o "jsonpath={.subsets[0].addresses[0].ip}")" ]'
  rm "$scratch/open"
  expect "not ready again" wait_for 10 ready_is r false
  expect "its address goes" wait_for 10 sh -c '[ -z "$(kubectl get endpoints web -o "jsonpath={.subsets[0].addresses[0].ip}")" ]'
  kubectl patch service web -p '{"spec": {"publishNotReadyAddresses": true}}' > /dev/null
  expect "an address that is published all the same" wait_for 10 sh -c '[ -n "$(kubectl get endpoints web -o "jsonpath={.subsets[0].addresses[0].ip}")" ]'
  kubectl delete pod r --now > /dev/null
}
liveness_restarts() {
  pod l l "$loop, livenessProbe: {exec: {command: [sh, -c, echo ill; exit 1]}, periodSeconds: 1, failureThreshold: 2}"
  expect "a restart" wait_for 20 sh -c '[ "$(kubectl get pod l -o "jsonpath={.status.containerStatuses[0].restartCount}")" -ge 1 ]'
  expect "its reason" event_says 'Unhealthy Liveness probe failed: ill'
  expect "its words" event_says 'Killing Container a failed liveness probe, will be restarted'
  kubectl delete pod l --now > /dev/null
}
requests_and_connections_are_probes() {
  local port other
  port=$(free_port) other=$(free_port)
  pod h h "command: [python3, -m, http.server, \"$port\"], startupProbe: {tcpSocket: {port: $port}, periodSeconds: 1, failureThreshold: 30}, readinessProbe: {httpGet: {port: $port, path: /}, periodSeconds: 1}"
  expect "ready" wait_for 20 ready_is h true
  pod missing missing "command: [python3, -m, http.server, \"$other\"], startupProbe: {tcpSocket: {port: $other}, periodSeconds: 1, failureThreshold: 30}, readinessProbe: {httpGet: {port: $other, path: /no-such-page}, periodSeconds: 1}"
  expect "404" wait_for 20 event_says 'Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 404'
  expect "started" field_is pod missing '.status.containerStatuses[0].started' true
  expect "not ready" ready_is missing false
  kubectl delete pod h missing --now > /dev/null
}
one_that_hangs_is_left() {
  pod s s "$loop, readinessProbe: {exec: {command: [sleep, \"4321.7\"]}, periodSeconds: 600, failureThreshold: 1}"
  expect "an event" wait_for 20 event_says 'Unhealthy Readiness probe failed: timed out after 1s'
  expect "nobody to be left" wait_for 5 sh -c '! pgrep -f "[s]leep 4321.7"'
  kubectl delete pod s --now > /dev/null
}
a_new_agent_goes_on() {
  pod g g "$loop, livenessProbe: {exec: {command: [sh, -c, test ! -e $scratch/ill]}, periodSeconds: 1, failureThreshold: 1}, startupProbe: {exec: {command: [\"true\"]}, periodSeconds: 1}"
  expect "ready" wait_for 20 ready_is g true
  kill_cluster
  start_cluster --node-name n1 --host-rootfs --runtime process
  expect "ready still" ready_is g true
  touch "$scratch/ill"
  expect "a restart" wait_for 20 sh -c '[ "$(kubectl get pod g -o "jsonpath={.status.containerStatuses[0].restartCount}")" -ge 1 ]'
  kubectl delete pod g --now > /dev/null
}
a_gate_holds_readiness_up() {
  kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: gated}
spec: {readinessGates: [{conditionType: x/y}], containers: [{name: a, image: i, $loop}]}
END
  expect "ready containers" wait_for 20 ready_is gated true
  expect "no ready pod" field_is pod gated '.status.conditions[?(@.type=="Ready")].reason' ReadinessGatesNotReady
  kubectl patch pod gated --subresource status -p '{"status": {"conditions": [{"type": "x/y", "status": "True"}]}}' > /dev/null
  expect "a ready pod" wait_for 10 field_is pod gated '.status.conditions[?(@.type=="Ready")].status' True
  kubectl delete pod gated --now > /dev/null
}
hooks_run() {
  pod k k "$loop, lifecycle: {postStart: {exec: {command: [touch, $scratch/began]}}, preStop: {exec: {command: [touch, $scratch/ended]}}}"
  expect "ready" wait_for 20 ready_is k true
  expect "postStart" test -e "$scratch/began"
  kubectl delete pod k > /dev/null
  expect "preStop" test -e "$scratch/ended"
}

# Plain processes see the host's files, where a probe can look for what this script does.
start_cluster --node-name n1 --host-rootfs --runtime process
wait_for 10 kubectl get node n1
run_tests readiness_opens_and_closes_a_service liveness_restarts requests_and_connections_are_probes one_that_hangs_is_left a_gate_holds_readiness_up hooks_run a_new_agent_goes_on
stop_cluster
if [ $root = 1 ]; then
  rm -rf "$scratch/data"
  start_cluster --node-name n1 --host-rootfs --runtime runc
  wait_for 10 kubectl get node n1
  echo "as runc"
  run_tests liveness_restarts requests_and_connections_are_probes one_that_hangs_is_left
fi
exit ${failed:-0}
