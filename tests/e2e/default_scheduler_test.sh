#!/usr/bin/env bash
# Pods that name no scheduler, as `kubectl run` makes them, are placed at once; --default-scheduler=false leaves them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

big='{"spec": {"containers": [{"name": "big", "image": "i", "command": ["sleep", "1"], "resources": {"requests": {"cpu": "100k"}}}]}}'

a_plain_pod_runs() {
  expect "kubectl run" kubectl run plain --image=i --restart=Never --command -- sh -c 'exit 0'
  expect "it to end well" wait_for 10 field_is pod plain .status.phase Succeeded
  expect "the scheduler's event" wait_for 5 sh -c 'kubectl get events --field-selector reason=Scheduled,involvedObject.name=plain -o "jsonpath={.items[*].source.component}{.items[*].reportingComponent}" | grep -q default-scheduler'
}
a_pod_without_room_says_so() {
  expect "kubectl run" kubectl run big --image=i --overrides="$big"
  expect "the reason" wait_for 10 sh -c 'kubectl get pod big -o "jsonpath={.status.conditions[?(@.type==\"PodScheduled\")].message}" | grep -q cpu'
  kubectl delete pod big > /dev/null
}
they_are_left_to_others() {
  stop_cluster
  start_cluster --node-name n1 --host-rootfs --runtime process --default-scheduler=false
  kubectl run left --image=i --restart=Never --command -- true > /dev/null
  kubectl apply -f - > /dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: taken}
spec: {schedulerName: volcano, restartPolicy: Never, containers: [{name: main, image: i, command: ["true"]}]}
YAML
  # Ours came later and is over: whoever schedules would have taken the other one by then.
  expect "volcano's own pod to run" wait_for 20 field_is pod taken .status.phase Succeeded
  expect "no node" field_is pod left .spec.nodeName ""
}

start_cluster --node-name n1 --host-rootfs --runtime process
wait_for 10 kubectl get node n1
run_tests a_plain_pod_runs a_pod_without_room_says_so they_are_left_to_others
exit ${failed:-0}
