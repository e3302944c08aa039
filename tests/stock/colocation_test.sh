#!/usr/bin/env bash
# Co-location on a stock kube-apiserver from end to end: vc-agent, with the rights that the chart gives it and a machine that is made up, offers what is idle;
# our scheduler places offline pods on the offer; short memory takes them back one after the other, and no online pod; then a crash and the end of the offer.
# Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/e2e/made_up_groups.sh
need colocation etcd kube-apiserver kube-controller-manager kwok
start_server
kubectl create namespace volcano-system > /dev/null
"$bin/volcano" crd > "$scratch/crd.yaml"
kubectl apply --server-side -f "$scratch/crd.yaml" > /dev/null
check "deploy/volcano-agent.yaml" kubectl apply --server-side --validate=strict -f deploy/volcano-agent.yaml
kubectl -n volcano-system delete daemonset --all > /dev/null # no image of it is here
kubectl wait --for condition=established --timeout=30s crd --all > /dev/null 2>&1
kubectl apply -f - > /dev/null <<< $'---\n''{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {volcano.sh/oversubscription: "true"}, annotations: {kwok.x-k8s.io/node: fake}},
  status: {capacity: {cpu: "10", memory: 10Gi, pods: "50"}, allocatable: {cpu: "10", memory: 10Gi, pods: "50"}}}'

machine=$scratch/machine
best_effort=$machine/sys/cgroup/kubepods.slice/kubepods-besteffort.slice
memory_left() { printf 'MemTotal: 10485760 kB\nMemAvailable: %s kB\n' "$1" > "$machine/meminfo.new" && mv "$machine/meminfo.new" "$machine/meminfo"; }
group "$machine/sys/cgroup/kubepods.slice" $((2 << 30))
group "$best_effort"
printf 'cpu  10 0 10 1000 0 0 0 0 0 0\n' > "$machine/stat"
memory_left 8000000
cp "$KUBECONFIG" "$scratch/agent.kubeconfig"
kubectl --kubeconfig "$scratch/agent.kubeconfig" config set-credentials agent --token="$(kubectl -n volcano-system create token volcano-agent)" > /dev/null
kubectl --kubeconfig "$scratch/agent.kubeconfig" config set-context --current --user agent > /dev/null
port=${STOCK_HEALTH_PORT:-28645}
agent() { # agent LOG
  SYS_FS_PATH=$machine/sys PROC_STAT_PATH=$machine/stat MEM_INFO_PATH_ENV=$machine/meminfo KUBELET_ROOT_DIR=$machine/kubelet CGROUP_DRIVER=systemd \
    VOLCANO_TEST_CGROUP_VERSION=v2 KUBE_NODE_NAME=n1 KUBE_POD_NAME=agent-1 KUBE_POD_NAMESPACE=volcano-system run "$1" "$bin/vc-agent" --kubeconfig "$scratch/agent.kubeconfig" \
    --supported-features='*' --healthz-address=127.0.0.1 --healthz-port="$port" --state-dir="$scratch/state"
  agent_pid=${programs[-1]}
}
agent agent
run scheduler "$bin/vc-scheduler" --kubeconfig "$KUBECONFIG" --healthz-address "127.0.0.1:$((port + 1))" --listen-address "127.0.0.1:$((port + 2))"
run controllers "$bin/vc-controller-manager" --kubeconfig "$KUBECONFIG" --healthz-address "127.0.0.1:$((port + 3))" --listen-address "127.0.0.1:$((port + 4))"
offered() { field_is node n1 '.status.allocatable.kubernetes\.io/batch-cpu' "$1"; }
says() { kubectl get events -A | grep -qF -- "$1"; }
check "the agent makes its configuration" wait_for 30 kubectl get configmap volcano-agent-configuration -n volcano-system
check "the machine offers sixty percent of its idle processors" wait_for 40 offered 6k
check "and memory" sh -c "kubectl get node n1 -o 'jsonpath={.status.allocatable.kubernetes\.io/batch-memory}' | grep -q ."
check "the queue default opens" wait_for 40 field_is queue default .status.state Open

pod() { # pod NAME FIELDS-OF-METADATA REQUESTS
  kubectl create -f - <<< $'---\n'"{apiVersion: v1, kind: Pod, metadata: {name: $1, $2}, spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {$3}, limits: {$3}}}]}}"
}
offline='annotations: {volcano.sh/qos-level: BE}'
check "an online pod" pod web 'annotations: {volcano.sh/qos-level: LS}' "cpu: '9', memory: 4Gi"
for one in small large; do
  [ $one = small ] && memory=1073741824 || memory=2147483648
  check "an offline pod, $one" pod $one "$offline" "kubernetes.io/batch-cpu: '2500', kubernetes.io/batch-memory: '$memory'"
done
for one in web small large; do check "$one runs" wait_for 40 field_is pod $one .status.phase Running; done
check "a third one" pod third "$offline" "kubernetes.io/batch-cpu: '2500'"
unplaced() { kubectl get podgroups -o yaml | grep -q 'batch-cpu'; }
check "does not fit what is offered, and its group says so" wait_for 40 unplaced
check "and is not placed" [ -z "$(kubectl get pod third -o 'jsonpath={.spec.nodeName}')" ]
for one in small large; do
  folder=$best_effort/kubepods-besteffort-pod$(kubectl get pod $one -o 'jsonpath={.metadata.uid}' | tr - _).slice
  group "$folder" $((1 << 30))
done
reads() { [ "$(cat "$1")" = "$2" ]; }

memory_left 300000
gone() { ! kubectl get pod "$1"; }
check "short memory takes the offline pod that asks for most" wait_for 20 gone large
check "with an event" wait_for 10 says "Evict offline pod due to memory resource pressure"
check "the node takes no more offline pods" wait_for 10 sh -c "kubectl get node n1 -o 'jsonpath={.spec.taints}' | grep -q volcano.sh/offline-job-evicting"
check "the other goes while memory stays short" wait_for 20 gone small
check "the online pod stays" field_is pod web .status.phase Running
check "the third one is not placed meanwhile" [ -z "$(kubectl get pod third -o 'jsonpath={.spec.nodeName}')" ]
memory_left 9000000
printf 'anon %s\nfile 0\n' $((1 << 30)) > "$machine/sys/cgroup/kubepods.slice/memory.stat"
check "with memory the taint goes" wait_for 60 sh -c "! kubectl get node n1 -o 'jsonpath={.spec.taints}' | grep -q volcano.sh/offline-job-evicting"
check "and the third one runs" wait_for 60 field_is pod third .status.phase Running

kill -9 "$agent_pid" && wait "$agent_pid" 2> /dev/null
check "a crash leaves the offer" offered 6k
agent again
check "the next start takes over" wait_for 30 curl -sf "http://127.0.0.1:$port/readyz"
kubectl patch configmap volcano-agent-configuration -n volcano-system --type merge -p '{"data":{"colocation-config":"{\"globalConfig\":{\"overSubscriptionConfig\":{\"enable\":false},\"evictingConfig\":{}}}"}}' > /dev/null
check "switched off it offers nothing" wait_for 40 offered ""
check "and what ran on the offer goes" wait_for 40 gone third
check "the online pod stays as it was" field_is pod web .status.phase Running
check "nothing was forbidden to the agent" sh -c "! grep -i forbidden '$scratch'/agent.log '$scratch'/again.log"
exit $failed
