#!/usr/bin/env bash
# An online service beside offline load on this machine, with and without the agent: its 99th percentile, how much of the idle processors the load
# used, and how soon the first offline pod goes when memory is short. Prints a figure a line. Root and runc; nothing else should run here.
# usage: bench/colocation/run.sh [SECONDS]        seconds of each measurement (default 20)
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/lib.sh"
seconds=${1:-20}
cores=$(nproc)
service=$PWD/bench/colocation/service.py
node=$(hostname)
[ $root = 1 ] && command -v runc > /dev/null || { echo "skip colocation: containers need root and runc"; exit 0; }

is_over() { case $(field pod "$1" .status.phase) in Succeeded | Failed) ;; *) false ;; esac; }
# measure NAME: runs the service; the line "COUNT MEDIAN P99".
measure() {
  python3 - "$1" "$service" "$seconds" << 'END' | kubectl apply -f - > /dev/null 2>&1
import json, sys
name, service, seconds = sys.argv[1:]
command = ["python3", "-c", open(service).read(), seconds]
container = {"name": "c", "image": "i", "command": command, "resources": {"requests": {"cpu": "500m"}}}
print(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"restartPolicy": "Never", "containers": [container]}}))
END
  wait_for $((seconds + 60)) is_over "$1"
  kubectl logs "$1" | sed -n 's/^times //p'
}
used_by() { # nanoseconds that the groups of these pods have used
  local uid sum=0
  for uid in $(kubectl get pods -o 'jsonpath={range .items[*]}{.metadata.name}={.metadata.uid}{"\n"}{end}' | sed -n "s/^$1[^=]*=//p"); do
    sum=$((sum + $(cat /sys/fs/cgroup/cpuacct/volcano-*/pod"$uid"/cpuacct.usage 2> /dev/null || awk '/^usage_usec/ { print $2 "000" }' /sys/fs/cgroup/volcano-*/pod"$uid"/cpu.stat)))
  done
  echo "$sum"
}
idle_time() { # nanoseconds of all processors
  local ticks
  read -r _ _ _ _ ticks _ < /proc/stat
  echo $((ticks * 10000000))
}
beside_load() { # beside_load NAME FIGURE: the service beside the load that runs; how much the load used of what nobody else did
  local before after times begin end idle
  idle=$(idle_time)
  begin=$(date +%s%N) before=$(used_by load)
  times=$(measure "$1")
  end=$(date +%s%N) after=$(used_by load)
  idle=$(($(idle_time) - idle))
  read -r _ median p99 <<< "$times"
  echo "$2: service median $median us, 99th percentile $p99 us; load used $((100 * (after - before) / ((end - begin) * cores))) % of $cores processors, and $((100 * (after - before) / (after - before + idle + 1))) % of what others left idle"
}

start_cluster --host-rootfs
read -r _ median p99 <<< "$(measure alone)"
echo "service alone: median $median us, 99th percentile $p99 us"
for number in $(seq "$cores"); do "$volcano" vsub -n "load$number" --output none -R cpu=100m,memory=16Mi -- sh -c 'while :; do :; done' > /dev/null; done
wait_for 60 field_is pod "load$cores-default0-0" .status.phase Running
beside_load beside-ordinary "beside ordinary load, no agent"
stop_cluster

rm -rf "$scratch/data"
start_cluster --host-rootfs --colocation
offers() { case "$(field node "$node" '.status.allocatable.kubernetes\.io/batch-cpu')" in "" | ?) false ;; esac; } # ten and more
wait_for 120 offers
for number in $(seq "$cores"); do "$volcano" vsub --offline -n "load$number" --output none -R cpu=1m,memory=16Mi -- sh -c 'while :; do :; done' > /dev/null; done
wait_for 60 field_is pod "load$cores-default0-0" .status.phase Running
idle() { cat /sys/fs/cgroup/cpu/volcano-*/pod*/cpu.idle /sys/fs/cgroup/volcano-*/pod*/cpu.idle 2> /dev/null | grep -c 1; }
all_idle() { [ "$(idle)" -ge "$cores" ]; }
wait_for 30 all_idle
beside_load beside-offline "beside offline load, with the agent"

# Memory: watermarks below what is used, then a pod that stands still for its own memory.
kubectl annotate node "$node" volcano.sh/evicting-memory-high-watermark=2 volcano.sh/evicting-memory-low-watermark=1 \
  volcano.sh/evicting-cpu-high-watermark=100000 volcano.sh/evicting-cpu-low-watermark=1 > /dev/null
begin=$(date +%s%N)
kubectl apply -f - > /dev/null 2>&1 << END
---
{apiVersion: v1, kind: Pod, metadata: {name: thrash}, spec: {restartPolicy: Never, containers: [{name: c, image: i,
  command: [sh, -c, "while :; do cat /usr/bin/* > /dev/null; done"], resources: {limits: {memory: 16Mi}}}]}}
END
stalled() { [ "$(sed -n 's/^some.*total=//p' /proc/pressure/memory)" -gt "$((stall + 150000))" ]; }
stall=$(sed -n 's/^some.*total=//p' /proc/pressure/memory)
wait_for 30 stalled && stalled_at=$(date +%s%N)
shed() { kubectl get --raw /debug/colocation | grep -q 'memory resource pressure'; }
if wait_for 90 shed; then
  shed_at=$(kubectl get --raw /debug/colocation | python3 -c 'import json, sys, datetime; print(int(datetime.datetime.fromisoformat(json.load(sys.stdin)["evictions"][0]["time"].replace("Z", "+00:00")).timestamp() * 1e9))')
  echo "memory is short: the first offline pod was told to go $(((shed_at - begin) / 1000000)) ms after the pod that stalls was made, $(((shed_at - ${stalled_at:-$begin}) / 1000000)) ms after 150 ms of stalls"
else
  echo "memory is short: nobody went in 90 s"
fi
echo "online pods that went: $(kubectl get events --field-selector reason=Evicted -o 'jsonpath={range .items[*]}{.involvedObject.name}{"\n"}{end}' | grep -vc '^load')"
