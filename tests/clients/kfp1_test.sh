#!/usr/bin/env bash
# Version 1 of the SDK of Kubeflow's pipelines from Python's registry, as it is, against `volcano up`: the documents' pipeline, from its upload to its print.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
[ $root = 1 ] || { echo "skip kfp1: containers need root"; exit 0; }
clients=${KFP1_CLIENTS:-$PWD/build/kfp1-clients}
if ! "$clients/bin/python" -c 'import kfp' 2> /dev/null; then
  { python3 -m venv "$clients" && "$clients/bin/pip" install -q --disable-pip-version-check kfp==1.8.22; } > "$scratch/pip.log" 2>&1 ||
    { echo "skip kfp1: the Python packages cannot be fetched: $(tail -1 "$scratch/pip.log")"; exit 0; }
fi
start_cluster --node-name n1 --host-rootfs --runtime runc || { echo "FAIL kfp1: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
export TOKEN CA=$scratch/data/keys/ca.crt HOST
TOKEN=$(cat "$scratch/data/keys/token")
HOST=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')/pipeline
timeout 280 "$clients/bin/python" tests/clients/kfp1_client.py > "$scratch/out" 2>&1
code=$?
grep -E '^(ok|FAIL) ' "$scratch/out"
[ $code = 0 ] || echo "FAIL kfp1: exit code $code: $(grep -vE "^(ok|FAIL) " "$scratch/out" | tail -${KFP_LINES:-3})"
