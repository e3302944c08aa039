#!/usr/bin/env bash
# Clients of Python's registry, as they are, against `volcano up`: the training SDK, kubernetes with its streams, and kr8s.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
clients=$PWD/build/python-clients
if ! "$clients/bin/python" -c 'import kubeflow.training, kubernetes, kr8s' 2> /dev/null; then
  { python3 -m venv "$clients" && "$clients/bin/pip" install -q --disable-pip-version-check kubeflow-training==1.9.4 kubernetes==35.0.0 kr8s==0.20.15; } > "$scratch/pip.log" 2>&1 ||
    { echo "skip clients: the Python packages cannot be fetched: $(tail -1 "$scratch/pip.log")"; exit 0; }
fi
start_cluster --host-rootfs || { echo "FAIL clients: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
for program in python_clients kr8s_client; do
  timeout 200 "$clients/bin/python" tests/clients/$program.py > "$scratch/out" 2>&1
  code=$?
  grep -E '^(ok|FAIL) ' "$scratch/out"
  [ $code = 0 ] || echo "FAIL clients: $program: exit code $code: $(tail -1 "$scratch/out")"
done
