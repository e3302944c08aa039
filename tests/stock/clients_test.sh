#!/usr/bin/env bash
# Clients of Python's registry, as they are, against a stock kube-apiserver with our operator and scheduler and nodes of KWOK.
# Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes, and the packages, which are fetched once.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need clients etcd kube-apiserver kube-controller-manager kwok
clients=$PWD/build/python-clients
if ! "$clients/bin/python" -c 'import kubeflow.training, kubernetes' 2> /dev/null; then
  { python3 -m venv "$clients" && "$clients/bin/pip" install -q --disable-pip-version-check kubeflow-training==1.9.4 kubernetes==35.0.0; } > "$scratch/pip.log" 2>&1 ||
    { echo "skip stock clients: the Python packages cannot be fetched: $(tail -1 "$scratch/pip.log")"; exit 0; }
fi
start_server KCM_PORT="${STOCK_KCM_PORT:-10257}" KWOK_PORT="${STOCK_KWOK_PORT:-10247}"
"$bin/volcano" crd podgroups queues jobs hypernodes numatopologies nodeshards > "$scratch/crd.yaml"
kubectl apply --server-side -f "$scratch/crd.yaml" > /dev/null
kubectl create namespace volcano-system > /dev/null
kubectl apply --server-side -f deploy/training-operator.yaml > /dev/null
kubectl wait --for condition=established --timeout=30s crd --all > /dev/null 2>&1
# The server cannot reach a webhook that answers in a service of a cluster without a network.
kubectl delete validatingwebhookconfiguration validator.training-operator.kubeflow.org > /dev/null
health_port=${STOCK_HEALTH_PORT:-28447}
MY_POD_NAMESPACE=kubeflow run operator "$bin/training-operator" --kubeconfig "$KUBECONFIG" --gang-scheduler-name volcano \
  --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address "127.0.0.1:$health_port"
run scheduler "$bin/vc-scheduler" --kubeconfig "$KUBECONFIG"
check "the operator is ready for clients" wait_for 60 curl -sf "http://127.0.0.1:$health_port/readyz"
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "32", memory: 64Gi, ephemeral-storage: 100Gi, pods: "110"}, allocatable: {cpu: "32", memory: 64Gi, ephemeral-storage: 100Gi, pods: "110"}}
YAML
check "the queue of clients" wait_for 60 kubectl get queue default
timeout 300 "$clients/bin/python" tests/stock/clients.py > "$scratch/clients.log" 2>&1
code=$?
grep -E '^(ok|FAIL|skip) ' "$scratch/clients.log"
grep -q '^FAIL ' "$scratch/clients.log" && failed=1
[ $code = 0 ] || { echo "FAIL stock clients: exit code $code: $(tail -1 "$scratch/clients.log")"; failed=1; }
exit $failed
