#!/usr/bin/env bash
# Addresses of the node and of pods: those that others reach, on a machine that has some, and on one that has its loopback alone. In a network namespace of its own.
if [ "$(id -u)" != 0 ] || ! unshare -n true 2> /dev/null; then
  echo "skip addresses: they need root"
  exit 0
fi
[ -n "${INSIDE:-}" ] || INSIDE=1 exec unshare -n "$0" "$@"
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

address_is() { [ "$(kubectl get node n1 -o 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}')" = "$1" ]; }
says() { kubectl logs "$1" 2> /dev/null | grep -qxF -- "$2"; }
pods() { # shows the addresses that a pod is told; serves on the host's network, and behind a node port
  kubectl apply -f - > /dev/null 2>&1 << 'YAML'
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80, targetPort: 8080, nodePort: 30080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: b, command: [sh, -c, "echo $HOST; exec python3 -m http.server 8080"], env: [{name: HOST, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}],
    readinessProbe: {httpGet: {port: 8080}, periodSeconds: 1}}]
---
apiVersion: v1
kind: Pod
metadata: {name: on-the-host}
spec:
  terminationGracePeriodSeconds: 0
  hostNetwork: true
  containers: [{name: c, image: b, command: [sh, -c, "curl -sk -m 5 https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/version | grep -q gitVersion && echo server; exec python3 -m http.server 8081"],
    readinessProbe: {httpGet: {port: 8081}, periodSeconds: 1}}]
YAML
}
addresses_are() { # addresses_are IP
  expect "the node at $1" wait_for 10 address_is "$1"
  pods
  expect "pods that are ready" kubectl wait --for=condition=Ready pod/web pod/on-the-host --timeout=30s
  expect "the host's address in a status" field_is pod web .status.hostIP "$1"
  expect "the host's address in a pod" wait_for 10 says web "$1"
  expect "the address of a pod on the host's network" field_is pod on-the-host .status.podIP "$1"
  expect "the server for a pod on the host's network" wait_for 10 says on-the-host server
  expect "the node port" wait_for 10 curl -sf -m 3 "http://$1:30080/"
  expect "the node port on the loopback" wait_for 10 curl -sf -m 3 http://127.0.0.1:30080/
  kubectl delete pod --all --wait > /dev/null
  expect "no node port without pods" wait_for 10 sh -c '! curl -sf -m 3 http://127.0.0.1:30080/'
}

a_loopback_alone_is_enough() {
  start_cluster --node-name n1 --host-rootfs
  expect "the node" wait_for 10 address_is 127.0.0.1
  pods
  expect "pods that are ready" kubectl wait --for=condition=Ready pod/web pod/on-the-host --timeout=30s
  expect "the server for a pod on the host's network" wait_for 10 says on-the-host server
  expect "the node port on the loopback" wait_for 10 curl -sf -m 3 http://127.0.0.1:30080/
  kubectl delete pod --all --wait > /dev/null
  stop_cluster
}
an_address_of_the_machine_comes_before_the_loopback() {
  ip link add out0 type veth peer name out1 && ip link set out1 up
  ip addr add 198.51.100.7/24 dev out0 && ip addr add 198.51.100.8/24 dev out0 && ip link set out0 up
  ip link add docker0 type bridge && ip addr add 172.17.0.1/16 dev docker0 && ip link set docker0 up
  start_cluster --node-name n1 --host-rootfs
  addresses_are 198.51.100.7
  stop_cluster
}
the_servers_address_is_the_nodes() {
  start_cluster --node-name n1 --host-rootfs --address 198.51.100.8
  addresses_are 198.51.100.8
  stop_cluster
}
all_addresses_are_none() {
  ip route add default via 198.51.100.1 src 198.51.100.8
  start_cluster --node-name n1 --host-rootfs --address 0.0.0.0
  addresses_are 198.51.100.8
  stop_cluster
}
an_address_can_be_chosen() {
  start_cluster --node-name n1 --host-rootfs --node-ip 198.51.100.7
  addresses_are 198.51.100.7
  stop_cluster
  expect "one of another machine to be refused" refused '--node-ip: "203.0.113.1" is not an address of this machine' "$volcano" up --data "$scratch/data" --node-ip 203.0.113.1
  expect "none to be refused" refused '--node-ip: "0.0.0.0"' "$volcano" up --data "$scratch/data" --node-ip 0.0.0.0
}

ip link set lo up
run_tests a_loopback_alone_is_enough an_address_of_the_machine_comes_before_the_loopback the_servers_address_is_the_nodes all_addresses_are_none an_address_can_be_chosen
exit ${failed:-0}
