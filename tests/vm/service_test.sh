#!/usr/bin/env bash
# `volcano up` as a service of systemd, as docs/one-machine.md sets it up, and from the scope of a login: whose pods live how long.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
unit=volcano-test.service

pod() { # pod NAME SCRIPT
  kubectl apply -f - > "$scratch/apply.out" 2>&1 << YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec: {restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{name: main, image: i, command: [sh, -c, '$2'], resources: {limits: {memory: 32Mi}}}]}
YAML
}
running() { wait_for 20 field_is pod "$1" .status.phase Running; }
unrestarted() { running "$1" && field_is pod "$1" '.status.containerStatuses[0].restartCount' 0; }
code_is() { field_is pod "$1" '.status.containerStatuses[0].state.terminated.exitCode' "$2"; }
main_pid() { systemctl show -P MainPID $unit; }
answers() { kubectl get --raw /readyz; }
loop='until [ -e /dev/shm/go ]; do sleep 0.1; done; exit 7'

a_service_starts() {
  "$volcano" up --systemd --data "$scratch/data" --kubeconfig "$KUBECONFIG" --node-name n1 --host-rootfs --runtime runc --port 0 > /etc/systemd/system/$unit
  expect "a unit that systemd understands" sh -c "systemd-analyze verify /etc/systemd/system/$unit 2>&1 | grep -v -i man || true"
  systemctl daemon-reload
  expect "its start" systemctl start $unit
  expect "an answer" wait_for 30 answers
  pod keeps "$loop"
  pod ends "$loop"
  expect "a pod" running keeps
  expect "another" running ends
}
containers_are_not_in_the_units_group() {
  local group
  group=/sys/fs/cgroup$(systemctl show -P ControlGroup $unit)
  expect "the program in it" grep -qx "$(main_pid)" "$group/cgroup.procs"
  local pid
  pid=$(pgrep -f '[d]ev/shm/go' | head -1)
  expect "no container in it" sh -c "! grep -qx '$pid' $group/cgroup.procs"
  expect "but in a group of its own" grep -q '^0::/volcano-' "/proc/$pid/cgroup"
}
pods_outlive_a_restart() {
  expect "a restart" systemctl restart $unit
  expect "an answer" wait_for 30 answers
  expect "the pod as before" unrestarted keeps
}
pods_outlive_a_crash() {
  kill -9 "$(main_pid)"
  expect "systemd to start it again" wait_for 30 systemctl is-active $unit
  expect "an answer" wait_for 30 answers
  expect "the pod as before" unrestarted keeps
  wait_for 10 kubectl exec ends -- touch /dev/shm/go
  expect "an end with its own exit code" wait_for 30 code_is ends 7
}
pods_outlive_a_stop() {
  expect "a stop" systemctl stop $unit
  expect "a monitor to live" sh -c "pgrep -f '[c]onmon.*$scratch'"
  touch "/proc/$(pgrep -f '[d]ev/shm/go' | head -1)/root/dev/shm/go"
  wait_for 20 sh -c "! pgrep -f '[c]onmon.*$scratch'"
  expect "a start" systemctl start $unit
  expect "what ended meanwhile to be told" wait_for 30 code_is keeps 7
}
a_login_can_start_it() {
  systemctl stop $unit
  rm -f /etc/systemd/system/$unit
  systemctl daemon-reload
  rm -rf "$scratch/data"
  rmdir /sys/fs/cgroup/volcano-* 2> /dev/null # who leaves pods leaves the group of all of them, too
  systemd-run --quiet --scope --slice=user.slice "$volcano" up --data "$scratch/data" --kubeconfig "$KUBECONFIG" --node-name n1 --host-rootfs --runtime runc --port 0 >> "$scratch/up.log" 2>&1 &
  cluster=$!
  expect "an answer" wait_for 30 answers
  pod here "$loop"
  expect "a pod" running here
  expect "its limit" grep -qx 33554432 /sys/fs/cgroup/volcano-*/pod*/memory.max
  kill "$(pgrep -f "[v]olcano up --data $scratch/data")"
  wait "$cluster" 2> /dev/null
  cluster=""
  expect "nothing left" sh -c '! find /sys/fs/cgroup -maxdepth 1 -name "volcano-*" | grep -q .'
}
# In a container of others the top of the control groups is not the machine's: it has processes, and such a group cannot give controllers on.
a_namespace_of_control_groups_can_be_its_machine() {
  systemd-run --quiet --scope -p Delegate=yes unshare --cgroup --mount sh -c 'umount /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"' x \
    "$volcano" up --data "$scratch/inner" --kubeconfig "$KUBECONFIG" --node-name n1 --host-rootfs --runtime runc --port 0 >> "$scratch/up.log" 2>&1 &
  cluster=$!
  expect "an answer" wait_for 30 answers
  pod inside 'cat /sys/fs/cgroup/memory.max; sleep 1000'
  expect "a pod" running inside
  expect "its limit" wait_for 10 sh -c 'kubectl logs inside | grep -qx 33554432'
  kill "$(pgrep -f "[v]olcano up --data $scratch/inner")"
  wait "$cluster" 2> /dev/null
  cluster=""
}

command -v systemctl > /dev/null || { echo "skip service: no systemd here"; exit 0; }
run_tests a_service_starts containers_are_not_in_the_units_group pods_outlive_a_restart pods_outlive_a_crash pods_outlive_a_stop a_login_can_start_it \
  a_namespace_of_control_groups_can_be_its_machine
exit ${failed:-0}
