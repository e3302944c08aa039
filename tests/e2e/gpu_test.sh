#!/usr/bin/env bash
# GPUs with a made-up driver: a library that reads its cards from a file, and device nodes of a harmless kind.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

driver=$scratch/driver
cards=$scratch/cards
export FAKE_NVML=$cards
one='GPU-11111111-aaaa|NVIDIA H100 80GB HBM3|0|81559|'
two='GPU-22222222-bbbb|NVIDIA H100 80GB HBM3|1|81559|'
write_cards() { # one line each; a reader never sees half of them
  printf '%s\n' "$@" > "$cards.new" && mv "$cards.new" "$cards"
}
make_driver() {
  mkdir -p "$driver/usr/lib64" "$driver/usr/bin" "$driver/usr/local/nvidia/bin" "$driver/dev" "$scratch/cdi"
  cp build/release/bin/libfake_nvml.so "$driver/usr/lib64/libnvidia-ml.so.1"
  echo cuda > "$driver/usr/lib64/libcuda.so.1"
  printf '#!/bin/sh\necho NVIDIA-SMI of the test\n' > "$driver/usr/local/nvidia/bin/nvidia-smi"
  # A script that calls the other is not what containers need.
  printf '#!/bin/sh\nexec /usr/local/nvidia/bin/nvidia-smi\n' > "$driver/usr/bin/nvidia-smi"
  chmod +x "$driver/usr/bin/nvidia-smi" "$driver/usr/local/nvidia/bin/nvidia-smi"
  # 1:3 is the kernel's null device, 1:5 its zero.
  mknod "$driver/dev/nvidia0" c 1 5 2> "$scratch/mknod" && mknod "$driver/dev/nvidia1" c 1 5 2>> "$scratch/mknod" && mknod "$driver/dev/nvidiactl" c 1 3 2>> "$scratch/mknod"
}
pod() { # pod NAME COMMAND LIMITS [more fields of the metadata]
  kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: "$1", ${4:-}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: some/image, command: [sh, -c, '$2'], resources: {limits: {$3}}}]
END
}
node_has() { field_is node n1 "$1" "$2"; }
allocatable_is() { node_has '.status.allocatable.nvidia\.com/gpu' "$1"; }
event_says() { kubectl get events -A -o 'jsonpath={range .items[*]}{.involvedObject.name} {.reason} {.message}{"\n"}{end}' | grep -F -- "$1" > /dev/null; }
log_says() { kubectl logs "$1" 2> /dev/null | grep -F -- "$2" > /dev/null; }
card_of() { kubectl logs "$1" 2> /dev/null | sed -n 's/^card=//p'; }
has_card() { [ -n "$(card_of "$1")" ]; }
start() { start_cluster --node-name n1 --host-rootfs --nvidia-driver-root "$driver" --cdi-spec-dirs "$scratch/cdi" "$@"; }
show='echo card=$NVIDIA_VISIBLE_DEVICES; sleep 600'

no_driver_is_said() {
  start_cluster --node-name n1 --host-rootfs --nvidia-driver-root "$scratch/nothing"
  expect "words" wait_for 10 grep -F 'no NVIDIA driver found' "$scratch/up.log"
  expect "no amount" node_has '.status.allocatable.nvidia\.com/gpu' ''
  stop_cluster
  refused '--nvidia-driver-root: "here" is not an absolute path' "$volcano" up --nvidia-driver-root here || problem="a relative root"
  refused '--gpu-sharing: "much" is none of none, gpu-share, vgpu' "$volcano" up --gpu-sharing much || problem="a bad word"
}
cards_are_offered_and_described() {
  write_cards "$one" "$two"
  start
  expect "two" wait_for 20 allocatable_is 2
  expect "capacity" node_has '.status.capacity.nvidia\.com/gpu' 2
  expect "the model" node_has '.metadata.labels.nvidia\.com/gpu\.product' NVIDIA-H100-80GB-HBM3
  expect "memory" node_has '.metadata.labels.nvidia\.com/gpu\.memory' 81559
  expect "count" node_has '.metadata.labels.nvidia\.com/gpu\.count' 2
  expect "the driver" node_has '.metadata.labels.nvidia\.com/cuda\.driver\.major' 550
  expect "CUDA" node_has '.metadata.labels.nvidia\.com/cuda\.runtime-version\.full' 12.4
  expect "words" grep -F '2 NVIDIA GPUs (NVIDIA H100 80GB HBM3), driver 550.54.15' "$scratch/up.log"
}
jobs_get_different_cards_and_a_third_waits() {
  local name
  for name in a b; do
    kubectl apply -f - > /dev/null << END
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $name}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks: [{name: t, replicas: 1, template: {spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: some/image, command: [sh, -c, '$show'], resources: {limits: {nvidia.com/gpu: 1}}}]}}}]
END
  done
  expect "a card" wait_for 20 has_card a-t-0
  expect "another" wait_for 20 has_card b-t-0
  expect "two different ones" [ "$(card_of a-t-0)" != "$(card_of b-t-0)" ]
  expect "ids" grep -E '^GPU-' <<< "$(card_of a-t-0)"
  pod third "$show" 'nvidia.com/gpu: 1'
  expect "a reason" wait_for 20 event_says 'Insufficient nvidia.com/gpu'
  expect "to wait" field_is pod third .status.phase Pending
  expect "both in the use since the start" wait_for 30 sh -c "kubectl get --raw /debug/usage | grep -q ',2\]'"
}
containers_have_their_card_only() {
  [ $root = 1 ] && [ ! -s "$scratch/mknod" ] || { skipped="no root, or no device nodes here"; return; }
  local pod=a-t-0 card other
  card=0 other=1
  [ "$(card_of $pod)" = GPU-22222222-bbbb ] && card=1 other=0
  expect "its node" kubectl exec $pod -- sh -c "head -c 1 /dev/nvidia$card | wc -c | grep 1"
  expect "the common one" kubectl exec $pod -- test -c /dev/nvidiactl
  expect "no other" kubectl exec $pod -- test ! -e /dev/nvidia$other
  expect "libraries" kubectl exec $pod -- grep cuda /usr/local/nvidia/lib64/libcuda.so.1
  expect "that cannot be written" kubectl exec $pod -- sh -c '! echo x > /usr/local/nvidia/lib64/libcuda.so.1'
  expect "where the linker looks" kubectl exec $pod -- sh -c 'echo $LD_LIBRARY_PATH | grep /usr/local/nvidia/lib64'
  expect "nvidia-smi" kubectl exec $pod -- sh -c 'nvidia-smi | grep "of the test"'
  # Who starts the cluster may not be allowed to raise what he has.
  expect "locked memory" kubectl exec $pod -- sh -c '[ "$(ulimit -l)" = unlimited ] || [ "$(ulimit -l)" = '"$(ulimit -Hl)"' ]'
}
a_new_agent_knows_who_has_what() {
  local before
  before=$(card_of a-t-0)/$(card_of b-t-0)
  kill_cluster
  start
  expect "two again" wait_for 20 allocatable_is 2
  expect "the same cards" [ "$(card_of a-t-0)/$(card_of b-t-0)" = "$before" ]
  expect "the third to wait" field_is pod third .status.phase Pending
  local of_a
  of_a=$(card_of a-t-0)
  kubectl delete vcjob a > /dev/null
  expect "the card that is free" wait_for 30 has_card third
  expect "that of the first job" [ "$(card_of third)" = "$of_a" ]
}
what_is_bound_past_the_scheduler_is_refused() {
  kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: pushy}
spec: {nodeName: n1, restartPolicy: Never, containers: [{name: main, image: i, command: ["true"], resources: {limits: {nvidia.com/gpu: 1}}}]}
END
  expect "to fail" wait_for 20 field_is pod pushy .status.reason UnexpectedAdmissionError
  expect "a reason" event_says 'requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0'
}
a_card_that_fails_is_not_given_out() {
  local bad line health='.status.containerStatuses[0].allocatedResourcesStatus[0]'
  bad=$(card_of b-t-0)
  expect "its health" field_is pod b-t-0 "$health" "{\"name\":\"nvidia.com/gpu\",\"resources\":[{\"health\":\"Healthy\",\"resourceID\":\"$bad\"}]}"
  for line in xid=79 lost; do
    if [ "$bad" = GPU-11111111-aaaa ]; then write_cards "$one$line" "$two"; else write_cards "$one" "$two$line"; fi
    expect "one less ($line)" wait_for 20 allocatable_is 1
  done
  expect "an event" event_says "n1 GPUUnhealthy GPU $bad (NVIDIA H100 80GB HBM3"
  expect "its reason" event_says 'Xid 79'
  expect "the status of its pod says it" wait_for 20 field_is pod b-t-0 "$health.resources[0].health" Unhealthy
  expect "capacity stays" node_has '.status.capacity.nvidia\.com/gpu' 2
  expect "the pod stays" field_is pod b-t-0 .status.phase Running
  write_cards "$(grep -v "$bad" "$cards")"
  expect "it is gone" wait_for 20 event_says 'it is gone from the bus'
  kubectl delete vcjob b --wait=false > /dev/null
  kubectl delete pod third pushy > /dev/null
}
a_driver_that_crashes_takes_nobody_along() {
  write_cards "${one}crash" "$two"
  expect "no card" wait_for 30 allocatable_is 0
  expect "the agent lives" kubectl get --raw /readyz
  expect "an event" wait_for 10 event_says 'no GPU can be given to pods'
  stop_cluster
}
specs_of_cdi_come_first() {
  [ $root = 1 ] && [ ! -s "$scratch/mknod" ] || { skipped="no root, or no device nodes here"; return; }
  rm -rf "$scratch/data"
  write_cards "$one" "$two"
  cat > "$scratch/cdi/nvidia.yaml" << END
cdiVersion: 0.5.0
kind: nvidia.com/gpu
containerEdits:
  env: [FROM_CDI=everywhere]
  deviceNodes: [{path: /dev/nvidiactl, hostPath: $driver/dev/nvidiactl}]
  mounts: [{hostPath: $driver/usr/bin/nvidia-smi, containerPath: /opt/nvidia-smi, options: [ro, nosuid, bind]}]
  hooks: [{hookName: createContainer, path: /bin/sh, args: [sh, -c, 'cat > $scratch/hook-ran']}]
devices:
  - {name: "0", containerEdits: {env: [INDEX=zero], deviceNodes: [{path: /dev/nvidia0, hostPath: $driver/dev/nvidia0}]}}
  - {name: "1", containerEdits: {env: [INDEX=one], deviceNodes: [{path: /dev/nvidia1, hostPath: $driver/dev/nvidia1}]}}
END
  echo '{"cdiVersion": "0.5.0", "kind": "nonsense"}' > "$scratch/cdi/broken.json"
  start
  expect "two" wait_for 20 allocatable_is 2
  pod cdi 'echo $FROM_CDI $INDEX; ls /dev/nvidia* /opt; sleep 600' 'nvidia.com/gpu: 1'
  expect "variables" wait_for 20 log_says cdi 'everywhere zero'
  expect "a node" log_says cdi /dev/nvidia0
  expect "a mount" log_says cdi nvidia-smi
  expect "a hook" test -s "$scratch/hook-ran"
  expect "the broken one is named" grep -F 'broken.json: kind: "nonsense" is not VENDOR/CLASS' "$scratch/up.log"
  rm "$scratch"/cdi/*
  kubectl delete pod cdi > /dev/null
  stop_cluster
}
parts_of_cards_are_devices() {
  rm -rf "$scratch/data"
  write_cards "$one" "${two}mig=1g.10gb:MIG-c0ffee:7:0,mig=1g.10gb:MIG-decade:8:0"
  start
  expect "one whole card" wait_for 20 allocatable_is 1
  expect "two parts" node_has '.status.allocatable.nvidia\.com/mig-1g\.10gb' 2
  expect "their label" node_has '.metadata.labels.nvidia\.com/mig-1g\.10gb\.count' 2
  pod part "$show" 'nvidia.com/mig-1g.10gb: 2'
  expect "both" wait_for 20 log_says part 'card=MIG-c0ffee,MIG-decade'
  kubectl delete pod part > /dev/null
  stop_cluster
}
a_stopped_notebook_gives_its_card_back() {
  rm -rf "$scratch/data"
  write_cards "$one"
  start
  expect "one" wait_for 20 allocatable_is 1
  kubectl apply -f - > /dev/null << END
apiVersion: kubeflow.org/v1
kind: Notebook
metadata: {name: book}
spec:
  template:
    spec:
      schedulerName: volcano
      terminationGracePeriodSeconds: 1
      containers: [{name: book, image: some/image, command: [sh, -c, '$show'], resources: {limits: {nvidia.com/gpu: 1}}}]
END
  expect "its card" wait_for 30 has_card book-0
  kubectl create -f - > /dev/null << END
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: after}
spec:
  schedulerName: volcano
  tasks: [{name: t, replicas: 1, template: {spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: some/image, command: [sh, -c, '$show'], resources: {limits: {nvidia.com/gpu: 1}}}]}}}]
END
  expect "the job to say what it waits for" wait_for 30 sh -c "kubectl get podgroups -o 'jsonpath={.items[*].status.conditions}' | grep -F nvidia.com/gpu"
  kubectl annotate notebook book kubeflow-resource-stopped=now > /dev/null
  expect "the job to have it" wait_for 30 has_card after-t-0
  kubectl annotate notebook book kubeflow-resource-stopped- > /dev/null
  expect "the notebook to say what it waits for" wait_for 30 sh -c "kubectl get notebook book -o 'jsonpath={.status.conditions}' | grep -F nvidia.com/gpu"
  kubectl delete vcjob after > /dev/null
  expect "its card again" wait_for 60 has_card book-0
  kubectl delete notebook book --wait=false > /dev/null
  stop_cluster
}
a_driver_that_is_removed_leaves_nothing() {
  rm -rf "$scratch/data"
  write_cards "$one" "$two"
  start
  expect "two" wait_for 20 allocatable_is 2
  stop_cluster
  start_cluster --node-name n1 --host-rootfs --nvidia-driver-root "$scratch/nothing"
  expect "no amount" wait_for 20 allocatable_is ''
  expect "no capacity" node_has '.status.capacity.nvidia\.com/gpu' ''
  expect "no label" wait_for 20 node_has '.metadata.labels.nvidia\.com/gpu\.count' ''
  expect "a socket for plugins" test -S "$scratch/data/device-plugins/kubelet.sock"
  stop_cluster
}
shared_cards_are_those_of_the_annotation() {
  rm -rf "$scratch/data"
  write_cards "$one" "$two"
  start --gpu-sharing gpu-share
  expect "memory" wait_for 20 node_has '.status.allocatable.volcano\.sh/gpu-memory' 163118
  expect "no whole ones" node_has '.status.allocatable.nvidia\.com/gpu' ''
  kubectl apply -f - > /dev/null << END
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: shared}
spec:
  schedulerName: volcano
  minAvailable: 2
  tasks: [{name: t, replicas: 2, template: {spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: i, command: [sh, -c, 'echo card=\$NVIDIA_VISIBLE_DEVICES mib=\$VOLCANO_GPU_ALLOCATED of=\$VOLCANO_GPU_MEMORY_TOTAL; sleep 600'], resources: {limits: {volcano.sh/gpu-memory: 1024}}}]}}}]
END
  expect "a share" wait_for 30 log_says shared-t-0 'card=0 mib=1024 of=81559'
  expect "another of the same card" wait_for 30 log_says shared-t-1 'card=0 mib=1024 of=81559'
  kubectl delete vcjob shared > /dev/null
  stop_cluster
}
virtual_cards_are_those_of_the_annotation() {
  rm -rf "$scratch/data"
  start --gpu-sharing vgpu
  expect "ten of each card" wait_for 20 node_has '.status.allocatable.volcano\.sh/vgpu-number' 20
  kubectl apply -f - > /dev/null << 'END'
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: virtual}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks: [{name: t, replicas: 1, template: {spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: i, command: [sh, -c, 'echo mib=$CUDA_DEVICE_MEMORY_LIMIT_0 cores=$CUDA_DEVICE_SM_LIMIT card=$NVIDIA_VISIBLE_DEVICES; sleep 600'], resources: {limits: {volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 1024, volcano.sh/vgpu-cores: 20}}}]}}}]
END
  expect "a share" wait_for 30 log_says virtual-t-0 'mib=1024m cores=20 card=GPU-'
  kubectl delete vcjob virtual > /dev/null
  stop_cluster
}
shared_memory_is_as_large_as_asked() {
  [ $root = 1 ] || { skipped="no root"; return; }
  rm -rf "$scratch/data"
  start_cluster --node-name n1 --host-rootfs
  kubectl apply -f - > /dev/null << 'END'
apiVersion: v1
kind: Pod
metadata: {name: shm}
spec:
  restartPolicy: Never
  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 200Mi}}]
  containers:
  - {name: large, image: i, command: [sh, -c, 'df -k /dev/shm | tail -1'], volumeMounts: [{name: shm, mountPath: /dev/shm}]}
  - {name: plain, image: i, command: [sh, -c, 'df -k /dev/shm | tail -1']}
END
  expect "an end" wait_for 20 field_is pod shm .status.phase Succeeded
  expect "200 MiB" sh -c 'kubectl logs shm -c large | grep " 204800 "'
  expect "64 MiB" sh -c 'kubectl logs shm -c plain | grep " 65536 "'
}

make_driver
run_tests no_driver_is_said cards_are_offered_and_described jobs_get_different_cards_and_a_third_waits containers_have_their_card_only a_new_agent_knows_who_has_what \
  what_is_bound_past_the_scheduler_is_refused a_card_that_fails_is_not_given_out a_driver_that_crashes_takes_nobody_along specs_of_cdi_come_first parts_of_cards_are_devices a_stopped_notebook_gives_its_card_back a_driver_that_is_removed_leaves_nothing \
  shared_cards_are_those_of_the_annotation virtual_cards_are_those_of_the_annotation shared_memory_is_as_large_as_asked
exit "${failed:-0}"
