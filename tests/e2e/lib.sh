# What the end-to-end tests share: a cluster in a scratch folder, waiting for a fact, and one line per test.
# Each test script sources this, defines test functions, and ends with `run_tests name...`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
volcano=$PWD/build/release/bin/volcano
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-e2e.XXXXXX")
export KUBECONFIG=$scratch/kubeconfig KUBECACHEDIR=$scratch/kube-cache # other servers have had this port
cluster=""
root=0
[ "$(id -u)" = 0 ] && root=1

start_cluster() { # start_cluster [flags...]; the data folder is $scratch/data
  "$volcano" up --data "$scratch/data" --kubeconfig "$KUBECONFIG" --port "${PORT:-0}" "$@" >> "$scratch/up.log" 2>&1 &
  cluster=$!
  wait_for 20 kubectl get --raw /readyz
}
stop_cluster() {
  [ -n "$cluster" ] || return 0
  kill "$cluster" 2> /dev/null
  wait "$cluster" 2> /dev/null
  cluster=""
}
kill_cluster() { # as a crash does
  kill -9 "$cluster" 2> /dev/null
  wait "$cluster" 2> /dev/null
  cluster=""
}
# Time limits are for an idle machine; PATIENCE, a whole number, multiplies them where machines are slower.
export PATIENCE=${PATIENCE:-1}
timeout() { command timeout $(($1 * PATIENCE)) "${@:2}"; }
export -f timeout
free_port() { # a port of 127.0.0.1 that nobody listens on
  python3 -c 'import socket; one = socket.create_server(("127.0.0.1", 0)); print(one.getsockname()[1])'
}
# wait_for SECONDS COMMAND...: true as soon as the command is.
wait_for() {
  local end=$(($(date +%s) + $1 * PATIENCE))
  shift
  until "$@" > /dev/null 2>&1; do
    [ "$(date +%s)" -ge $end ] && return 1
    sleep "${PATIENCE}00e-3"
  done
}
# elapse SECONDS REASON...: a span that the test is about, such as the length of a fault; what has an end is waited for by wait_for.
elapse() { sleep "$1"; }
field() { kubectl get "$1" "$2" -o "jsonpath={$3}" 2> /dev/null; }
field_is() { [ "$(field "$1" "$2" "$3")" = "$4" ]; }
phase_is() { field_is vcjob "$1" .status.state.phase "$2"; }
# A request that kubectl does not make, or not in every version: api_request PATH [curl flags...]
api_request() {
  local path=$1
  shift
  curl -s --cacert "$scratch/data/keys/ca.crt" -H "Authorization: Bearer $(cat "$scratch/data/keys/token")" "$@" "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')$path"
}
# The command fails, and says so in these words.
refused() { # refused TEXT COMMAND...
  local text=$1 out
  shift
  out=$("$@" 2>&1) && return 1
  grep -qF -- "$text" <<< "$out" || { echo "$out"; return 1; }
}
# expect WHAT COMMAND...: notes a failure of the running test.
expect() {
  local what=$1
  shift
  "$@" > "$scratch/expect.out" 2>&1 && return 0
  problem=${problem:+$problem; }"$what"
  tail -3 "$scratch/expect.out" | sed 's/^/    /'
}
# For who reads later why a test failed.
say_what_is_there() {
  [ -n "$cluster" ] || return 0
  timeout 10 kubectl get pods -A -o wide 2>&1 | tail -n 20
  timeout 10 kubectl get events -A --sort-by=.lastTimestamp 2>&1 | tail -n 20
}
run_tests() {
  local name
  for name in "$@"; do
    problem=""
    skipped=""
    $name
    if [ -n "$skipped" ]; then
      echo "skip $name: $skipped"
    elif [ -z "$problem" ]; then
      echo "ok $name"
    else
      echo "FAIL $name: $problem"
      failed=1
      say_what_is_there
    fi
  done
}
end_of_tests() {
  stop_cluster
  if [ "${failed:-0}" = 0 ]; then
    rm -rf "$scratch"
  else
    echo "output of the cluster: $scratch/up.log"
    [ -s "$scratch/up.log" ] && tail -n 20 "$scratch/up.log"
  fi
}
trap end_of_tests EXIT
