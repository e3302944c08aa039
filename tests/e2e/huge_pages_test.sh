#!/usr/bin/env bash
# Huge pages, with stock kubectl: what the node has of them, who may ask for them, and volumes of them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pages=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages 2> /dev/null)
pod() { # pod NAME RESOURCES MEDIUM [more fields of the spec]
  kubectl apply -f - 2>&1 <<< $'---\n'"{apiVersion: v1, kind: Pod, metadata: {name: $1}, spec: {restartPolicy: Never, terminationGracePeriodSeconds: 1, volumes: [{name: v, emptyDir: {medium: $3, sizeLimit: 4Mi}}],
    containers: [{name: c, image: i, command: [sh, -c, 'grep /pages /proc/mounts; sleep 1000'], resources: $2, volumeMounts: [{name: v, mountPath: /pages}]}] ${4:+, $4}}}"
}
says() { # says POD TEXT
  local text
  text=$(kubectl describe pod "$1")
  grep -qF -- "$2" <<< "$text"
}
requests_are_judged() {
  expect "not alone" refused 'spec.containers[0].resources: Forbidden: HugePages require cpu or memory' pod bad '{limits: {hugepages-2Mi: 4Mi}}' Memory
  expect "not less than their limit" refused 'must be equal to hugepages-2Mi limit of 4Mi' pod bad '{requests: {hugepages-2Mi: 2Mi, cpu: 1m}, limits: {hugepages-2Mi: 4Mi}}' Memory
  expect "not parts of pages" refused '3Mi is not positive integer multiple of hugepages-2Mi' pod bad '{limits: {hugepages-2Mi: 3Mi, cpu: 1}}' Memory
}
the_node_tells_what_it_has() {
  local expected=""
  [ "${pages:-0}" -gt 0 ] && expected=$(kubectl get node n1 -o 'jsonpath={.status.allocatable.hugepages-2Mi}')
  [ "${pages:-0}" -gt 0 ] && expect "what the kernel says" test -n "$expected"
  expect "the same as capacity" field_is node n1 .status.capacity.hugepages-2Mi "$expected"
  pod much '{limits: {hugepages-2Mi: 1Ti, cpu: 1m}}' Memory > /dev/null
  expect "nobody to get more" wait_for 20 says much 'Insufficient hugepages-2Mi'
  kubectl delete pod much --now > /dev/null
}
volumes_are_made_of_them() {
  [ -n "$pages" ] && grep -q hugetlbfs /proc/filesystems || { skipped="this kernel has no pages of 2 MiB"; return; }
  pod mine '{limits: {hugepages-2Mi: 4Mi, memory: 64Mi}}' HugePages 'nodeName: n1' > /dev/null
  expect "a volume" wait_for 30 sh -c "kubectl logs mine | grep -q ' /pages hugetlbfs .*pagesize=2M'"
  pod other '{limits: {hugepages-2Mi: 4Mi, memory: 64Mi}}' HugePages-1Gi 'nodeName: n1' > /dev/null
  expect "no volume of pages that nobody asked for" wait_for 20 says other "medium HugePages-1Gi can't be used"
  pod none '{limits: {memory: 64Mi}}' HugePages 'nodeName: n1' > /dev/null
  expect "nor of none" wait_for 20 says none 'hugePages storage requested, but there is no resource request for huge pages.'
  local uid=$(field pod mine .metadata.uid)
  kubectl delete pod mine other none --now > /dev/null
  expect "it to be gone with its pod" wait_for 20 sh -c "! grep -q $uid /proc/mounts"
}

if [ $root = 0 ] || ! command -v runc conmon > /dev/null; then
  for name in requests_are_judged the_node_tells_what_it_has volumes_are_made_of_them; do echo "skip $name: it needs root, runc and conmon"; done
  exit
fi
start_cluster --node-name n1 --host-rootfs
wait_for 20 kubectl get node n1
run_tests requests_are_judged the_node_tells_what_it_has volumes_are_made_of_them
