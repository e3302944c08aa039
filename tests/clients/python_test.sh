#!/usr/bin/env bash
# Clients of Python's registry, as they are, against `volcano up`: the training SDK, and kubernetes with its streams.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
clients=$PWD/build/python-clients
if ! "$clients/bin/python" -c 'import kubeflow.training, kubernetes' 2> /dev/null; then
  { python3 -m venv "$clients" && "$clients/bin/pip" install -q --disable-pip-version-check kubeflow-training==1.9.4 kubernetes==35.0.0; } > "$scratch/pip.log" 2>&1 ||
    { echo "skip clients: the Python packages cannot be fetched: $(tail -1 "$scratch/pip.log")"; exit 0; }
fi
start_cluster --host-rootfs || { echo "FAIL clients: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
timeout 200 "$clients/bin/python" tests/clients/python_clients.py > "$scratch/out" 2>&1
code=$?
grep -E '^(ok|FAIL) ' "$scratch/out"
[ $code = 0 ] || echo "FAIL clients: exit code $code: $(tail -1 "$scratch/out")"
