#!/usr/bin/env bash
# kills under concurrent writes, KILLS of them
# on: src tests/kills
if cmake --build build/release --target kill_writers > "$log/build-kill-writers.log" 2>&1; then
  script tests/kills/kills.sh "$KILLS"
else
  count 0 1 0
  grep -E 'error|FAILED' "$log/build-kill-writers.log" | head
fi
