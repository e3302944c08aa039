#!/usr/bin/env bash
# Simulated worlds: a few seeds of each, the same hash twice, and the seeds of past failures.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
world() { # world FILE SEED
  local first second
  first=$(build/release/bin/volcano simulate --seed "$2" "tests/sim/$1" 2>&1 | tail -1)
  second=$(build/release/bin/volcano simulate --seed "$2" "tests/sim/$1" 2>&1 | tail -1)
  case $first in
    *" 0 violations"*) [ "$first" = "$second" ] && echo "ok world $1 seed $2" || echo "FAIL world $1 seed $2: two runs differ" ;;
    *) echo "FAIL world $1 seed $2: $first" ;;
  esac
}
for file in tests/sim/*.toml; do
  for seed in 1 2 3; do world "$(basename "$file")" $seed; done
done
grep -v '^#' tests/sim/regressions.txt | while read -r file seed why; do world "$file" "$seed"; done
