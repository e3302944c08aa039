#!/usr/bin/env bash
# Workflows of Argo at their corners on one machine: the table is tests/pipelines/workflow_corners.py.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
[ $root = 1 ] || { echo "skip workflow_corners: containers need root"; exit 0; }
start_cluster --node-name n1 --host-rootfs --runtime runc || { echo "FAIL workflow_corners: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
kubectl create configmap corner-config --from-literal=level=high > /dev/null
kubectl create serviceaccount corner-runner > /dev/null
kubectl create role corner-runner --verb=get,create,delete,patch --resource=configmaps,jobs.batch > /dev/null
kubectl create rolebinding corner-runner --role=corner-runner --serviceaccount=default:corner-runner > /dev/null
timeout 300 python3 tests/pipelines/workflow_corners.py "$@"
# The artifacts of one of them, by the program.
what() { "$volcano" pipeline artifacts artifacts "$@"; }
saved() { what --download "$scratch/saved" > /dev/null && [ "$(cat "$scratch/saved/m/file")" = file ] && [ "$(tar -xOf "$scratch/saved/m/folder.tar" one two)" = "one
two" ]; }
[ $# -gt 0 ] && exit
what | grep -qE '^m +folder +- +artifacts/artifacts/.*/d$' && echo "ok workflow_corners: the list of artifacts" || echo "FAIL workflow_corners: the list of artifacts: $(what 2>&1)"
saved && echo "ok workflow_corners: a file and a folder are saved" || echo "FAIL workflow_corners: a file and a folder are saved: $(what --download "$scratch/again" 2>&1)"
