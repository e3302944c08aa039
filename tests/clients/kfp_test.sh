#!/usr/bin/env bash
# The SDK of Kubeflow's pipelines from Python's registry, as it is, against `volcano up`: pipelines, versions, experiments, runs, recurring runs.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
clients=${KFP_CLIENTS:-$PWD/build/kfp-clients}
if ! "$clients/bin/python" -c 'import kfp, kfp.kubernetes' 2> /dev/null; then
  { python3 -m venv "$clients" && "$clients/bin/pip" install -q --disable-pip-version-check kfp==2.17.3 kfp-kubernetes==2.17.3; } > "$scratch/pip.log" 2>&1 ||
    { echo "skip kfp: the Python packages cannot be fetched: $(tail -1 "$scratch/pip.log")"; exit 0; }
fi
start_cluster --host-rootfs || { echo "FAIL kfp: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
export TOKEN CA=$scratch/data/keys/ca.crt HOST
TOKEN=$(cat "$scratch/data/keys/token")
HOST=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')/pipeline
timeout 200 "$clients/bin/python" tests/clients/kfp_client.py > "$scratch/out" 2>&1
code=$?
grep -E '^(ok|FAIL) ' "$scratch/out"
[ $code = 0 ] || echo "FAIL kfp: exit code $code: $(grep -vE "^(ok|FAIL) " "$scratch/out" | tail -${KFP_LINES:-3})"

# Pipelines that are compiled by the SDK and run through its client, each with its outputs.
export KUBECONFIG PYTHONDONTWRITEBYTECODE=1
timeout 400 "$clients/bin/python" -W ignore tests/clients/kfp_outputs.py > "$scratch/outputs" 2>&1
code=$?
grep -E '^(ok|FAIL) ' "$scratch/outputs"
[ $code = 0 ] || echo "FAIL kfp outputs: exit code $code: $(grep -vE "^(ok|FAIL) " "$scratch/outputs" | tail -3)"
