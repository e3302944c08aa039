#!/usr/bin/env bash
# The client of npm's registry, as it is, against `volcano up`: a command in a pod, and a forwarded port.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
export CLIENTS=$PWD/build/javascript-clients
command -v npm > /dev/null || { echo "skip clients: there is no npm"; exit 0; }
if ! [ -d "$CLIENTS/node_modules/@kubernetes/client-node" ]; then
  mkdir -p "$CLIENTS" && npm install --prefix "$CLIENTS" --no-audit --no-fund @kubernetes/client-node@1.4.0 > "$scratch/npm.log" 2>&1 ||
    { echo "skip clients: the packages of npm cannot be fetched: $(tail -1 "$scratch/npm.log")"; exit 0; }
fi
start_cluster --host-rootfs || { echo "FAIL clients: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
timeout 120 node tests/clients/javascript_client.mjs > "$scratch/out" 2>&1
code=$?
grep -E '^(ok|FAIL) ' "$scratch/out"
[ $code = 0 ] || echo "FAIL clients: exit code $code: $(tail -3 "$scratch/out")"
