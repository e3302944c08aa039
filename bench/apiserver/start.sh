#!/usr/bin/env bash
# `volcano up`: the time until it is up, and its memory at rest, the best and the median of ten starts on one data folder.
# usage: bench/apiserver/start.sh [PROGRAM]
set -euo pipefail
program=${1:-build/release/bin/volcano}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
times=() memory=()
for ((round = 0; round <= 10; ++round)); do
  began=$(date +%s%N)
  coproc up { exec "$program" up --data "$data/data" --port 0 --runtime process 2>&1; }
  pid=$up_PID
  while IFS= read -r line <&"${up[0]}" && [[ $line != *" is up at "* ]]; do :; done
  ended=$(date +%s%N)
  sleep 3
  rss=$(awk '/^VmRSS:/ { print int($2 / 1024) }' "/proc/$pid/status")
  kill -TERM "$pid"
  wait "$pid" || true
  # The first start makes the keys and the database.
  if [ $round -gt 0 ]; then
    times+=($(((ended - began) / 1000000)))
    memory+=("$rss")
  fi
done
sorted() { printf '%s\n' "$@" | sort -n; }
echo "volcano up: up after $(sorted "${times[@]}" | sed -n 1p) ms at best, $(sorted "${times[@]}" | sed -n 5p) ms in the median; $(sorted "${memory[@]}" | sed -n 5p) MB at rest"
