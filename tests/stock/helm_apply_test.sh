#!/usr/bin/env bash
# A stock kube-apiserver takes what the chart makes of each set of values, with no field that it does not know, and deploy/volcano.yaml,
# once more without a change. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes, and its helm-template.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
built=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
for program in etcd kube-apiserver helm-template; do
  [ -x "$built/bin/$program" ] || { echo "skip stock chart: $program is not built (tests/stock/build.sh)"; exit 0; }
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-stock.XXXXXX")
export STOCK_DIR=$scratch KUBECONFIG=$scratch/kubeconfig
ln -s "$built/bin" "$scratch/bin"
failed=0
finish() {
  tests/stock/down.sh > /dev/null 2>&1
  if [ $failed = 0 ]; then rm -rf "$scratch"; else echo "logs are in $scratch"; fi
}
trap finish EXIT
check() { # check NAME COMMAND...
  local name=$1
  shift
  if "$@" > "$scratch/check.log" 2>&1; then echo "ok stock: $name"; else echo "FAIL stock: $name: $(tail -1 "$scratch/check.log")"; failed=1; fi
}
PORT=${STOCK_PORT:-26443} ETCD_PORT=${STOCK_ETCD_PORT:-22379} PEER_PORT=${STOCK_PEER_PORT:-22380} FSYNC=0 KCM=0 KWOK=0 tests/stock/up.sh > "$scratch/up.log" 2>&1 ||
  { echo "FAIL stock: the control plane does not start: $(tail -1 "$scratch/up.log")"; failed=1; exit 1; }
for namespace in volcano-system jobs kube-agents; do kubectl create namespace $namespace > /dev/null; done
for values in tests/golden/chart/*.in.yaml; do
  name=$(basename "$values" .in.yaml)
  namespace=volcano-system
  [ "$name" = hooks ] && namespace=jobs
  [ "$name" = agents ] && namespace=kube-agents
  # Without the kinds of the Prometheus operator, which the server does not have, and without CRDs, which are in volcano.yaml.
  "$built/bin/helm-template" -namespace $namespace -api admissionregistration.k8s.io/v1/MutatingAdmissionPolicy -values "$values" \
    -set custom.crds_enable=false,custom.service_monitor_enable=false,custom.prometheus_rules_enable=false deploy/chart/volcano > "$scratch/$name.yaml"
  check "the chart, $name" kubectl apply --dry-run=server --validate=strict -f "$scratch/$name.yaml"
done
check "deploy/volcano.yaml" kubectl apply --validate=strict -f deploy/volcano.yaml
unchanged() { ! kubectl apply -f deploy/volcano.yaml | grep -v ' unchanged$'; }
check "which applies again without a change" unchanged
for name in volcano-vap-map volcano-agent-scheduler volcano-agent volcano-monitoring; do check "deploy/$name.yaml" kubectl apply --validate=strict -f deploy/$name.yaml; done
exit $failed
