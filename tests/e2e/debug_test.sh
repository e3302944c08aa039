#!/usr/bin/env bash
# Looking into pods with stock kubectl: ephemeral containers, copies, and process namespaces that containers share.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

loop='trap "exit 0" TERM; while true; do sleep 0.1; done'
run_pod() { # run_pod NAME COMMAND
  kubectl run "$1" --image=i --command -- sh -c "$2" > /dev/null
  wait_for 20 field_is pod "$1" .status.phase Running
}
holds() { grep -qF -- "$1" <<< "$2" || { echo "$2"; return 1; }; }
exec_says() { # exec_says TEXT POD CONTAINER COMMAND...
  local text=$1 pod=$2 container=$3
  shift 3
  holds "$text" "$(timeout 20 kubectl exec "$pod" -c "$container" -- "$@" 2>&1)"
}

a_container_joins() {
  local said
  said=$(echo 'echo "I am $(cat /proc/1/comm) and $((6 * 7))"; exit' | timeout 40 kubectl debug p --image=j --target=p -c looker -i -q -- sh 2>&1)
  expect "what is typed into it to run" holds "and 42" "$said"
  expect "its end to be reported" wait_for 20 field_is pod p '.status.ephemeralContainerStatuses[0].state.terminated.exitCode' 0
  expect "the pod to run on" field_is pod p .status.phase Running
  expect "never again" field_is pod p '.status.ephemeralContainerStatuses[0].restartCount' 0
  expect "its output" holds "and 42" "$(kubectl logs p -c looker 2>&1)"
  expect "describe to show it" holds "Ephemeral Containers:" "$(kubectl describe pod p)"
}
a_container_stays() {
  timeout 20 kubectl debug p --image=j --target=p -c stays --attach=false -- sh -c "$loop" > /dev/null 2>&1
  expect "it runs" wait_for 20 field_is pod p '.status.ephemeralContainerStatuses[?(@.name=="stays")].ready' false
  wait_for 20 kubectl exec p -c stays -- true
  expect "a command in it" exec_says hello p stays echo hello
  kill_cluster
  start_cluster --node-name n1 --host-rootfs --runtime "$runtime"
  expect "it to be there after a crash" wait_for 20 exec_says again p stays echo again
  expect "without a restart" field_is pod p '.status.ephemeralContainerStatuses[?(@.name=="stays")].restartCount' 0
}
what_cannot_join_is_refused() {
  expect "a target that is not there" refused 'targetContainerName: Not found: "none"' kubectl debug p --image=j --target=none -- true
  expect "a change of one that is there" grep -qF 'existing ephemeral containers \"stays\" may not be changed' <<< "$(api_request /api/v1/namespaces/default/pods/p/ephemeralcontainers -X PATCH -H 'Content-Type: application/strategic-merge-patch+json' -d '{"spec":{"ephemeralContainers":[{"name":"stays","image":"other"}]}}')"
  expect "the pod's own way" refused 'pod updates may not change fields' kubectl patch pod p --type=strategic -p '{"spec":{"ephemeralContainers":[{"name":"x","image":"y"}]}}'
}
copies_share_processes() {
  timeout 40 kubectl debug p --image=j --copy-to=copy --share-processes -c looker --attach=false -- sh -c "$loop" > /dev/null 2>&1
  expect "the copy to run" wait_for 30 field_is pod copy .status.phase Running
  wait_for 20 kubectl exec copy -c looker -- true
  expect "both to be seen" exec_says 2 copy looker sh -c 'cat /proc/[0-9]*/cmdline | tr "\0" "\n" | grep -c "^trap"'
  kubectl delete pod copy --grace-period=1 > /dev/null 2>&1
}

# With containers only.
the_target_is_seen() {
  expect "its processes" exec_says 'trap' p stays sh -c 'tr "\0" " " < /proc/1/cmdline'
  expect "and not the machine's" exec_says 0 p stays sh -c 'grep -l "[v]olcano.up.--data" /proc/[0-9]*/cmdline 2> /dev/null | wc -l'
}
a_pod_shares_its_processes() {
  kubectl apply -f - > /dev/null << MANIFEST
apiVersion: v1
kind: Pod
metadata: {name: shares}
spec:
  shareProcessNamespace: true
  terminationGracePeriodSeconds: 1
  containers:
    - {name: a, image: i, command: [sh, -c, 'trap "exit 0" TERM; while true; do sleep 0.1; done # first']}
    - {name: b, image: i, command: [sh, -c, '(trap "" TERM; sleep 4322.5) & trap "exit 3" TERM; while true; do sleep 0.1; done # second'], securityContext: {capabilities: {add: [SYS_PTRACE]}}}
MANIFEST
  wait_for 20 field_is pod shares .status.phase Running
  expect "the other's processes" exec_says '# first' shares b sh -c 'cat /proc/[0-9]*/cmdline | tr "\0" " "'
  expect "the first process to be the pod's" exec_says '/pause' shares a sh -c 'tr "\0" " " < /proc/1/cmdline'
  expect "nothing of the machine behind it" exec_says 'dev pause proc sys' shares b sh -c 'ls /proc/1/root | tr "\n" " "'
  expect "no way to write there" exec_says 'Read-only' shares b sh -c 'touch /proc/1/root/x'
  kubectl exec shares -c a -- sh -c 'for one in $(grep -l "# secon[d]" /proc/[0-9]*/cmdline); do kill -TERM "$(basename "$(dirname "$one")")"; done'
  expect "a restart after a signal from beside" wait_for 20 field_is pod shares '.status.containerStatuses[1].restartCount' 1
  expect "what the first attempt left to be gone" wait_for 5 sh -c '[ "$(pgrep -fc "^sleep 4322.5")" = 1 ]'
  kill_cluster
  start_cluster --node-name n1 --host-rootfs --runtime "$runtime"
  expect "the same after a crash" wait_for 20 exec_says '# first' shares b sh -c 'cat /proc/[0-9]*/cmdline | tr "\0" " "'
  kubectl delete pod shares > /dev/null 2>&1
  expect "nothing to be left" wait_for 10 sh -c '! pgrep -f "^sleep 4322.5" && ! pgrep -f "$0/data/.*/[s]andbox"' "$scratch"
}
both_namespaces_are_refused() {
  expect "a message" refused 'ShareProcessNamespace and HostPID cannot both be enabled' kubectl run both --image=i --overrides='{"spec":{"shareProcessNamespace":true,"hostPID":true}}'
}

runtimes=process
[ $root = 1 ] && runtimes="process runc"
for runtime in $runtimes; do
  echo "as $runtime"
  start_cluster --node-name n1 --host-rootfs --runtime "$runtime"
  wait_for 10 kubectl get node n1
  run_pod p "$loop"
  [ "$runtime" = runc ] && run_tests a_container_joins
  run_tests a_container_stays what_cannot_join_is_refused
  [ "$runtime" = runc ] && run_tests the_target_is_seen copies_share_processes a_pod_shares_its_processes both_namespaces_are_refused
  stop_cluster
  rm -rf "$scratch/data"
done
exit ${failed:-0}
