#!/usr/bin/env bash
# An operator of controller-runtime (tests/outside/reconciler) against `volcano up`: manager, leader election, caches, owners, finalizers.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
reconciler=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}/bin/reconciler
[ -x "$reconciler" ] || { echo "skip outside reconciler: it is not built (tests/stock/build.sh reconciler)"; exit 0; }
start_cluster --host-rootfs
timeout 200 "$reconciler" --kubeconfig "$KUBECONFIG" > "$scratch/out" 2> "$scratch/reconciler.log"
code=$?
grep -E '^(ok|FAIL) ' "$scratch/out"
[ $code = 0 ] || { failed=1; grep -q '^FAIL' "$scratch/out" || echo "FAIL reconciler: exit code $code: $(tail -1 "$scratch/reconciler.log")"; }
