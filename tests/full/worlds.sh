# shellcheck shell=bash
# simulated worlds: many seeds, and the same hash for the same seed
worlds() { # worlds FILE SEEDS: one passed or failed test per seed
  local name out good bad
  name=$(basename "$1" .toml)
  out=$log/worlds-$name.log
  build/release/bin/volcano simulate --quiet --seed 1000 --runs "$2" "$1" > "$out" 2>&1
  good=$(grep -c ' 0 violations, hash' "$out")
  bad=$(($2 - good))
  count "$good" "$bad" 0
  printf '  %-24s %s seeds passed, %s failed\n' "$name" "$good" "$bad"
  [ "$bad" = 0 ] || grep VIOLATION "$out" | head -20
}
same_twice() { # same_twice FILE SEED
  local first second
  first=$(build/release/bin/volcano simulate --seed "$2" "$1" | sha256sum)
  second=$(build/release/bin/volcano simulate --seed "$2" "$1" | sha256sum)
  if [ "$first" = "$second" ]; then count 1 0 0; else count 0 1 0; echo "  $1: two runs of seed $2 differ"; fi
}
worlds tests/sim/counters-under-faults.toml 300
worlds tests/sim/gangs-in-peace.toml 20
worlds tests/sim/gangs-under-faults.toml 60
for one in conflicts full-disk lost-messages restarts slow-network; do worlds tests/sim/$one.toml 20; done
same_twice tests/sim/gangs-under-faults.toml 1003
