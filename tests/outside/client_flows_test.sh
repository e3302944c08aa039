#!/usr/bin/env bash
# What programs do with client-go (tests/stock/client-flows), against `volcano up`.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
flows=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}/bin/client-flows
[ -x "$flows" ] || { echo "skip outside client-flows: it is not built (tests/stock/build.sh client-flows)"; exit 0; }
pods=--pods
[ $root = 1 ] || pods="" # plain processes: no streams into a network of their own
flow() { # flow NAME FLAG [VARIABLE=VALUE...]: what the program says with that flag, and these variables of its environment, on a new cluster
  local name=$1 flag=$2 code
  shift 2
  stop_cluster
  rm -rf "$scratch/data"
  start_cluster --host-rootfs
  env "$@" timeout 300 "$flows" --kubeconfig "$KUBECONFIG" $pods $flag > "$scratch/out" 2> "$scratch/flows.log"
  code=$?
  grep -E '^(ok|FAIL) ' "$scratch/out" | sed "s/^\(ok\|FAIL\) /&$name/"
  [ $code = 0 ] || { failed=1; grep -q '^FAIL' "$scratch/out" || echo "FAIL client-flows $name: exit code $code: $(tail -1 "$scratch/flows.log")"; }
}
flow "" ""
flow "protobuf: " --content-type=application/vnd.kubernetes.protobuf
flow "CBOR: " "" KUBE_FEATURE_ClientsAllowCBOR=true KUBE_FEATURE_ClientsPreferCBOR=true
