# What the tests on a stock Kubernetes share: a control plane of their own in a scratch folder, programs beside it, and one line a check.
# Each test sources this, calls `need WHAT PROGRAM...` and `start_server [NAME=value...]`, and ends with `exit $failed`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${VOLCANO_BIN:-$PWD/build/release/bin}
built=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
programs=()
failed=0
need() { # need WHAT PROGRAM...: skips the test where tests/stock/build.sh has not made them
  local what=$1 program
  shift
  for program in "$@"; do
    [ -x "$built/bin/$program" ] || { echo "skip stock $what: $program is not built (tests/stock/build.sh)"; exit 0; }
  done
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-stock.XXXXXX")
  export STOCK_DIR=$scratch KUBECONFIG=$scratch/kubeconfig KUBECACHEDIR=$scratch/kube-cache # other servers have had this port
  ln -s "$built/bin" "$scratch/bin"
  ln -s "$built/stages" "$scratch/stages"
  trap finish EXIT
}
finish() {
  for pid in "${programs[@]}"; do kill "$pid" 2> /dev/null; done
  wait 2> /dev/null
  tests/stock/down.sh > /dev/null 2>&1
  if [ $failed = 0 ]; then rm -rf "$scratch"; else echo "logs are in $scratch"; fi
}
start_server() { # start_server [NAME=value...]: for tests/stock/up.sh
  env PORT="${STOCK_PORT:-26443}" ETCD_PORT="${STOCK_ETCD_PORT:-22379}" PEER_PORT="${STOCK_PEER_PORT:-22380}" FSYNC=0 "$@" \
    tests/stock/up.sh > "$scratch/up.log" 2>&1 ||
    { echo "FAIL stock: the control plane does not start: $(tail -1 "$scratch/up.log")"; failed=1; exit 1; }
}
wait_for() { # wait_for SECONDS COMMAND...
  local end=$(($(date +%s) + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    [ "$(date +%s)" -ge $end ] && return 1
    sleep 0.1
  done
}
# elapse SECONDS REASON...: a span that the test is about, such as the length of a fault; what has an end is waited for by wait_for.
elapse() { sleep "$1"; }
field_is() { [ "$(kubectl get "$1" "$2" -o "jsonpath={$3}" 2> /dev/null)" = "$4" ]; }
check() { # check NAME COMMAND...
  local name=$1
  shift
  if "$@" > "$scratch/check.log" 2>&1; then echo "ok stock: $name"; else echo "FAIL stock: $name: $(tail -1 "$scratch/check.log")"; failed=1; fi
}
run() { # run NAME PROGRAM...: in the background, until the end
  local name=$1
  shift
  "$@" > "$scratch/$name.log" 2>&1 &
  programs+=($!)
}
