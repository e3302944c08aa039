#!/usr/bin/env bash
# a hundred kills under concurrent writes
if cmake --build build/release --target kill_writers > "$log/build-kill-writers.log" 2>&1; then
  script tests/kills/kills.sh "${KILLS:-100}"
else
  count 0 1 0
  grep -E 'error|FAILED' "$log/build-kill-writers.log" | head
fi
