#!/usr/bin/env bash
# On a machine with an NVIDIA card: what `volcano up` finds, and a job with one GPU that asks nvidia-smi for it. Prints `ok NAME` or `FAIL NAME: why`.
# usage: bench/gpu/run.sh        needs a release build, and kubectl; root, runc and conmon for containers, else plain processes
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/lib.sh"

allocatable() { field node n1 '.status.allocatable.nvidia\.com/gpu'; }
has_cards() { [ "$(allocatable)" -ge 1 ] 2> /dev/null; }
log_says() { kubectl logs gpu-t-0 2> /dev/null | grep -F -- "$1" > /dev/null; }

the_cards_are_found() {
  start_cluster --node-name n1 --host-rootfs
  wait_for 60 has_cards || { problem="no card is offered"; return; }
  grep -E 'NVIDIA GPU|no NVIDIA' "$scratch/up.log" | sed 's/^/    /'
  kubectl get node n1 -o json | grep -E '"nvidia.com/' | sed 's/^ */    /'
  if command -v nvidia-smi > /dev/null; then
    expect "as many as nvidia-smi counts" [ "$(nvidia-smi --list-gpus | grep -c '^GPU')" = "$(field node n1 '.metadata.labels.nvidia\.com/gpu\.count')" ]
  fi
}
a_job_has_its_card() {
  kubectl apply -f - > /dev/null << 'END'
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: gpu}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks:
  - name: t
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - {name: main, image: host, command: [sh, -c, 'echo "given: $NVIDIA_VISIBLE_DEVICES"; nvidia-smi -L && echo "nvidia-smi works"'], resources: {limits: {nvidia.com/gpu: 1}}}
END
  wait_for 60 log_says "given: " || problem="the job does not run"
  expect "nvidia-smi works" wait_for 60 log_says "nvidia-smi works"
  kubectl logs gpu-t-0 2> /dev/null | sed 's/^/    /'
  if [ $root = 1 ]; then
    expect "one card to be seen" [ "$(kubectl logs gpu-t-0 | grep -c '^GPU ')" = 1 ]
    expect "the one that was given" sh -c 'kubectl logs gpu-t-0 | grep -F "UUID: $(kubectl logs gpu-t-0 | sed -n "s/^given: //p")"'
  fi
}
run_tests the_cards_are_found a_job_has_its_card
exit "${failed:-0}"
