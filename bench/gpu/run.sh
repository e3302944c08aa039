#!/usr/bin/env bash
# On a machine with an NVIDIA card: what `volcano up` finds, and what pods do with it. Prints `ok NAME`, `skip NAME: why` or `FAIL NAME: why`.
# usage: bench/gpu/run.sh        needs a release build, and kubectl; root, runc and conmon for containers, else plain processes;
#                                a python3 with PyTorch for the rows that train
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/lib.sh"

containers=0
python=$(command -v python3)
allocatable() { field node n1 '.status.allocatable.nvidia\.com/gpu'; }
has_cards() { [ "$(allocatable)" -ge 1 ] 2> /dev/null; }
log_says() { kubectl logs "$1" 2> /dev/null | grep -F -- "$2" > /dev/null; }
show_log() { kubectl logs "$1" 2>&1 | sed 's/^/    /' | tail -n 25; }
is_over() { case $(field pod "$1" .status.phase) in Succeeded | Failed) ;; *) false ;; esac; }
succeeded() { wait_for 120 is_over "$1" && field_is pod "$1" .status.phase Succeeded; }
says_why() { kubectl get pod "$1" -o 'jsonpath={.status.conditions[*].message}' | grep -F -- "$2" > /dev/null; }
has_torch() { "$python" -c 'import torch; assert torch.cuda.is_available()' 2> /dev/null; }
vcjob() { # vcjob NAME LIMITS COMMAND [IMAGE]
  kubectl apply -f - > /dev/null << END
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $1}
spec:
  schedulerName: volcano
  minAvailable: 1
  tasks:
  - name: t
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        terminationGracePeriodSeconds: 1
        containers:
        - {name: main, image: "${4:-host}", command: [sh, -c, '$3'], resources: {limits: {$2}}}
END
}
say_what='echo "given: $NVIDIA_VISIBLE_DEVICES"; nvidia-smi -L && echo "nvidia-smi works"'
card='nvidia.com/gpu: 1'

the_cards_are_found() {
  start_cluster --node-name n1 --host-rootfs
  wait_for 60 has_cards || { problem="no card is offered"; return; }
  grep -E 'NVIDIA GPU|no NVIDIA' "$scratch/up.log" | sed 's/^/    /'
  grep 'pods are containers' "$scratch/up.log" > /dev/null && containers=1
  kubectl get node n1 -o json | grep -E '"nvidia.com/' | sed 's/^ */    /'
  if command -v nvidia-smi > /dev/null; then
    expect "as many as nvidia-smi counts" [ "$(nvidia-smi --list-gpus | grep -c '^GPU')" = "$(field node n1 '.metadata.labels.nvidia\.com/gpu\.count')" ]
  fi
}
a_job_has_its_card() {
  vcjob gpu "$card" "$say_what"
  wait_for 60 log_says gpu-t-0 "given: " || problem="the job does not run"
  expect "nvidia-smi works" wait_for 60 log_says gpu-t-0 "nvidia-smi works"
  show_log gpu-t-0
  if [ $containers = 1 ]; then
    expect "one card to be seen" [ "$(kubectl logs gpu-t-0 | grep -c '^GPU ')" = 1 ]
    expect "the one that was given" sh -c 'kubectl logs gpu-t-0 | grep -F "UUID: $(kubectl logs gpu-t-0 | sed -n "s/^given: //p")"'
  fi
}
who_asks_for_none_sees_none() {
  [ $containers = 1 ] || { skipped="plain processes see all cards"; return; }
  vcjob none 'cpu: 100m' 'if [ -e /dev/nvidia0 ] || nvidia-smi -L; then echo "sees one"; else echo "sees none"; fi'
  expect "none" wait_for 60 log_says none-t-0 "sees none"
  [ -n "$problem" ] && show_log none-t-0
}
# The driver's files come from the agent: the image has a shell and what that needs, nothing else.
an_image_of_its_own() {
  [ $containers = 1 ] || { skipped="plain processes have no images"; return; }
  local file tree=$scratch/tree
  for file in /bin/sh $(ldd /bin/sh | grep -oE '/[^ ]+') /lib*/*/lib{m,dl,pthread,rt,c}.so.[0-9] /lib64/ld-linux-x86-64.so.2; do
    [ -e "$file" ] && mkdir -p "$tree$(dirname "$file")" && cp -L "$file" "$tree$file"
  done
  tar -C "$tree" -cf "$scratch/small.tar" .
  "$volcano" image import --data "$scratch/data" small:1 "$scratch/small.tar" > "$scratch/import.log" 2>&1 || { problem="import"; cat "$scratch/import.log"; return; }
  vcjob small "$card" "$say_what" small:1
  expect "nvidia-smi works" wait_for 60 log_says small-t-0 "nvidia-smi works"
  [ -n "$problem" ] && show_log small-t-0
}
one_card_serves_one_at_a_time() {
  [ "$(allocatable)" = 1 ] || { skipped="the machine has several cards"; return; }
  vcjob first "$card" 'echo here; while [ ! -e /tmp/go ]; do sleep 0.2; done'
  expect "the first to run" wait_for 60 log_says first-t-0 here
  vcjob second "$card" 'echo mine: $NVIDIA_VISIBLE_DEVICES'
  expect "a reason" wait_for 30 says_why second-t-0 'nvidia.com/gpu'
  expect "the second to wait" field_is pod second-t-0 .status.phase Pending
  kubectl exec first-t-0 -- touch /tmp/go
  expect "its turn" wait_for 60 log_says second-t-0 'mine: GPU-'
  rm -f /tmp/go
}
a_network_is_trained() {
  [ $containers = 1 ] || { skipped="plain processes do not find one another by name"; return; }
  has_torch || { skipped="no PyTorch that sees a card"; return; }
  cat > "$scratch/train.py" << 'END'
import os, sys, time
import torch, torch.distributed as dist
dist.init_process_group("nccl" if "MASTER_ADDR" in os.environ else "gloo")
torch.manual_seed(1)
print("card", torch.cuda.get_device_name(0), "of", torch.cuda.device_count(), "rank", dist.get_rank(), "of", dist.get_world_size())
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
for _ in range(3): a @ a
torch.cuda.synchronize(); start = time.time()
for _ in range(20): a @ a
torch.cuda.synchronize()
print(f"matrix products: {20 * 2 * 8192**3 / (time.time() - start) / 1e12:.0f} TFLOP/s")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1)).cuda())
x = torch.randn(4096, 256, device="cuda"); y = x.sum(1, keepdim=True)
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(300):
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    if step in (0, 299): print(f"step {step} loss {loss.item():.4f}")
assert loss.item() < 10
print("trained")
dist.destroy_process_group()
END
  chmod -R a+rX "$scratch"
  kubectl apply -f - > /dev/null << END
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - {name: pytorch, image: host, command: ["$python", -u, "$scratch/train.py"], resources: {limits: {$card}}}
END
  expect "to be trained" succeeded train-master-0
  show_log train-master-0
  expect "the job to have succeeded" wait_for 30 field_is pytorchjob train '.status.conditions[?(@.type=="Succeeded")].status' True
  kubectl delete pytorchjob train > /dev/null
}
# A wild pointer in a kernel is an error of the program (Xid 31 or 13): the card stays.
an_error_of_a_program_does_not_take_the_card() {
  "$python" -c 'import cupy' 2> /dev/null || { skipped="no CuPy"; return; }
  printf 'import cupy\nk = cupy.RawKernel("extern \\"C\\" __global__ void wild() { *(int*)0x10 = 1; }", "wild")\nk((1,), (1,), ())\ncupy.cuda.Device().synchronize()\n' > "$scratch/wild.py"
  chmod a+r "$scratch/wild.py"
  vcjob wild "$card" "HOME=/tmp $python $scratch/wild.py; echo ended \$?"
  expect "to end" wait_for 90 log_says wild-t-0 "ended 1"
  show_log wild-t-0 | tail -n 3
  dmesg 2> /dev/null | grep -i xid | tail -n 2 | sed 's/^/    /'
  expect "the illegal access" log_says wild-t-0 "llegal"
  sleep 7 # the agent's next report is 5 s away
  expect "the card to stay" has_cards
  expect "no event" sh -c '! kubectl get events -A | grep GPUUnhealthy'
  vcjob after "$card" "$say_what"
  expect "the next job" wait_for 60 log_says after-t-0 "nvidia-smi works"
}
two_share_a_card() { # two_share_a_card MODE LIMITS
  local name
  stop_cluster
  start_cluster --node-name n1 --host-rootfs --gpu-sharing "$1"
  for name in share-a share-b; do vcjob "$1-$name" "$2" "$say_what; sleep 20"; done
  for name in share-a share-b; do expect "$name" wait_for 60 log_says "$1-$name-t-0" "nvidia-smi works"; done
  expect "both at once" [ "$(kubectl get pods --field-selector=status.phase=Running -o name | grep -c share-)" = 2 ]
  [ -n "$problem" ] && show_log "$1-share-a-t-0"
  kubectl get node n1 -o json | grep -E '"volcano.sh/' | sed 's/^ */    /'
}
two_share_it_by_memory() { two_share_a_card gpu-share 'volcano.sh/gpu-memory: 8192'; }
two_share_it_as_vgpus() { two_share_a_card vgpu 'volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 8192, volcano.sh/vgpu-cores: 20'; }

run_tests the_cards_are_found a_job_has_its_card who_asks_for_none_sees_none an_image_of_its_own one_card_serves_one_at_a_time \
  a_network_is_trained an_error_of_a_program_does_not_take_the_card two_share_it_by_memory two_share_it_as_vgpus
exit "${failed:-0}"
