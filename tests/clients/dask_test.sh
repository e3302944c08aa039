#!/usr/bin/env bash
# Dask's operator and its KubeCluster, as the Python registry has them, against `volcano up`.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
operator=""
trap '[ -n "$operator" ] && kill "$operator" 2> /dev/null; stop_cluster; rm -rf "$scratch"' EXIT
[ $root = 1 ] || { echo "skip dask: pods need a network of their own, and thus root"; exit 0; }
clients=${DASK_CLIENTS:-$PWD/build/dask-clients}
if ! "$clients/bin/python" -c 'import dask_kubernetes, distributed' 2> /dev/null; then
  { python3 -m venv "$clients" && "$clients/bin/pip" install -q --disable-pip-version-check dask-kubernetes==2026.3.0 distributed==2026.8.0; } > "$scratch/pip.log" 2>&1 ||
    { echo "skip dask: the Python packages cannot be fetched: $(tail -1 "$scratch/pip.log")"; exit 0; }
fi
start_cluster --host-rootfs || { echo "FAIL dask: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
"$clients/bin/python" tests/clients/dask_client.py --definitions | kubectl apply -f - > "$scratch/definitions" 2>&1 || { echo "FAIL dask: its definitions: $(tail -1 "$scratch/definitions")"; exit 1; }
kubectl wait --for=condition=Established --timeout=30s crd --all > /dev/null
"$clients/bin/kopf" run -m dask_kubernetes.operator.controller --all-namespaces > "$scratch/operator.log" 2>&1 &
operator=$!
timeout 240 "$clients/bin/python" tests/clients/dask_client.py > "$scratch/out" 2>&1
code=$?
grep -E '^(ok|FAIL) ' "$scratch/out"
[ $code = 0 ] || { echo "FAIL dask: exit code $code: $(tail -1 "$scratch/out")"; tail -5 "$scratch/operator.log"; kubectl get pods -o wide; }
[ $code = 0 ]
