#!/usr/bin/env bash
# random clusters: the fast and the plain scheduler decide the same, for SEED_SECONDS, two processes at once
# on: src tests/scenarios/runner
random_clusters() {
  local start=${SEED_START:-$(($(date +%s) * 1000000))} part
  for part in 0 1; do
    limited build/release/bin/scenario_test --seeds $((start + part * 500000000)) --seconds "$SEED_SECONDS" \
      > "build/test-logs/seeds-$part.log" 2>&1 &
  done
  wait
  for part in 0 1; do
    if tail -1 "build/test-logs/seeds-$part.log" | grep ' 0 failed$' > /dev/null; then
      echo "ok $(tail -1 "build/test-logs/seeds-$part.log")"
    else
      cat "build/test-logs/seeds-$part.log"
      echo "FAIL random clusters: see the scenarios above"
    fi
  done
}
script random_clusters
