#!/usr/bin/env bash
# Kills the cluster again and again under concurrent writes: nothing that was acknowledged may be lost.
# usage: tests/kills/kills.sh [KILLS]     needs the target kill_writers
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
kills=${1:-100}
export PORT=$((20000 + RANDOM % 12000))

more_than_written() { [ "$(wc -l < "$scratch/ledger")" -gt "$written" ]; }
kills_lose_nothing_acknowledged() {
  local missing number written
  start_cluster --host-rootfs --runtime process || { problem="the cluster does not start: $(tail -1 "$scratch/up.log")"; return; }
  build/release/bin/kill_writers "$KUBECONFIG" "$scratch/ledger" &
  local writers=$!
  for number in $(seq "$kills"); do
    sleep "0.$((RANDOM % 4 + 1))"
    kill_cluster
    start_cluster --host-rootfs --runtime process || { problem="no start after kill $number: $(tail -1 "$scratch/up.log")"; break; }
  done
  written=$(wc -l < "$scratch/ledger")
  wait_for 20 more_than_written
  kill "$writers"
  wait "$writers"
  kubectl get configmaps -o name 2> /dev/null | sed 's|configmap/||' | sort > "$scratch/there"
  sort "$scratch/ledger" > "$scratch/acknowledged"
  missing=$(comm -23 "$scratch/acknowledged" "$scratch/there")
  [ -z "$missing" ] || problem="${problem:+$problem; }lost: $(echo "$missing" | head -5 | tr '\n' ' ')($(echo "$missing" | wc -l) in all)"
  [ "$(wc -l < "$scratch/acknowledged")" -ge "$kills" ] || problem="${problem:+$problem; }only $(wc -l < "$scratch/acknowledged") writes were acknowledged"
  echo "$(wc -l < "$scratch/acknowledged") acknowledged writes over $number kills"
  stop_cluster
}
run_tests kills_lose_nothing_acknowledged
