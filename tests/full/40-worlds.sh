#!/usr/bin/env bash
# simulation: WORLD_SEEDS of every world, each twice
# on: src tests/sim
worlds() {
  local file seed first second
  for file in tests/sim/*.toml; do
    for seed in $(seq 1 "$WORLD_SEEDS"); do
      first=$(limited build/release/bin/volcano simulate --seed "$seed" "$file" 2>&1 | tail -1)
      second=$(limited build/release/bin/volcano simulate --seed "$seed" "$file" 2>&1 | tail -1)
      case $first in
        *" 0 violations"*) [ "$first" = "$second" ] && echo "ok $(basename "$file") seed $seed" || echo "FAIL $(basename "$file") seed $seed: two runs differ" ;;
        *) echo "FAIL $(basename "$file") seed $seed: $first" ;;
      esac
    done
  done
}
worlds_script() { script worlds; }
worlds_script
