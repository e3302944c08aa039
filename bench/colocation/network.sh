#!/usr/bin/env bash
# An online pod that asks a machine behind an uplink of 100 Mbps, alone, beside an offline pod that sends twice as much as fits, and beside the same
# with network QoS: how long answers take, and how many never come. Prints a figure a line. Root, runc, tc; the uplink and what is behind it are made here.
# usage: bench/colocation/network.sh [SECONDS]        seconds of each measurement (default 20)
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/lib.sh"
seconds=${1:-20}
[ $root = 1 ] && command -v runc > /dev/null && command -v tc > /dev/null || { echo "skip colocation: root, runc and tc are needed"; exit 0; }

# The machine behind the uplink answers at port 7, and takes all else. A packet waits for 50 ms at most.
mkfifo "$scratch/connected"
unshare --net python3 -c '
import socket, subprocess, sys
open(sys.argv[1]).readline()
subprocess.run("ip link set lo up && ip addr add 10.98.0.2/30 dev vcbench1 && ip link set vcbench1 up && ip route add default via 10.98.0.1", shell=True, check=True)
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.bind(("10.98.0.2", 7))
while True:
    data, sender = port.recvfrom(2048)
    port.sendto(data[:64], sender)' "$scratch/connected" &
outside=$!
inside_another_network() { [ "$(readlink "/proc/$outside/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
wait_for 10 inside_another_network
ip link add vcbench0 type veth peer name vcbench1 netns "/proc/$outside/ns/net"
ip addr add 10.98.0.1/30 dev vcbench0
ip link set vcbench0 up
tc qdisc add dev vcbench0 root tbf rate 100mbit burst 64kb latency 50ms
echo > "$scratch/connected"
end_of_bench() {
  ip link del vcbench0 2> /dev/null
  kill "$outside" 2> /dev/null
  end_of_tests
}
trap end_of_bench EXIT

pod() { # pod NAME LEVEL PROGRAM: of Python
  python3 - "$@" << 'END' | kubectl apply -f - > /dev/null 2>&1
import json, sys
name, level, program = sys.argv[1:]
container = {"name": "c", "image": "i", "command": ["python3", "-c", program]}
metadata = {"name": name, "annotations": {"volcano.sh/qos-level": level}}
print(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}}))
END
}
asker='
import socket, time
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.settimeout(0.5)
times, lost, end = [], 0, time.monotonic() + '$seconds'
while time.monotonic() < end:
    begin = time.monotonic()
    port.sendto(b"x" * 1200, ("10.98.0.2", 7))
    try:
        port.recv(2048)
        times.append(int((time.monotonic() - begin) * 1e6))
        time.sleep(0.02)
    except socket.timeout:
        lost += 1
times.sort()
print("answers", times[len(times) // 2], times[int(len(times) * 0.99)], lost, len(times) + lost) if times else print("answers 0 0", lost, lost)'
sender='
import socket, time
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    for _ in range(18):
        port.sendto(b"x" * 1400, ("10.98.0.2", 9))
    time.sleep(0.001)'
is_over() { case $(field pod "$1" .status.phase) in Succeeded | Failed) ;; *) false ;; esac; }
measure() { # measure NAME FIGURE
  local median p99 lost all
  pod "$1" LS "$asker"
  wait_for $((seconds + 60)) is_over "$1"
  read -r median p99 lost all <<< "$(kubectl logs "$1" | sed -n 's/^answers //p')"
  echo "$2: answers in $median us, 99th percentile $p99 us; $lost of $all never came"
}
holds() { kubectl get --raw /debug/colocation | grep -q '"limit": 5000000'; }

start_cluster --host-rootfs --colocation
measure alone "online pod alone on an uplink of 100 Mbps"
pod load BE "$sender"
wait_for 60 field_is pod load .status.phase Running
measure beside "beside an offline pod that sends 200 Mbps, no network QoS"
kubectl annotate node "$(hostname)" volcano.sh/network-bandwidth-rate=100 > /dev/null
kubectl patch configmap volcano-agent-configuration -n volcano-system --type merge \
  -p '{"data":{"colocation-config":"{\"globalConfig\":{\"cpuQosConfig\":{\"enable\":true},\"networkQosConfig\":{\"enable\":true},\"overSubscriptionConfig\":{},\"evictingConfig\":{\"evictingCPUHighWatermark\":100000}}}"}}' > /dev/null
wait_for 30 holds
measure held "beside the same, with network QoS"
