#!/usr/bin/env bash
# Installs what the tests need, builds, and runs them. The last line is "N passed, N failed, N skipped".
# usage: ./test.sh [--full]      --full adds Clang, sanitizers, fuzzing, a stock Kubernetes, long simulation
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
full=0
for word in "$@"; do
  case $word in
    --full) full=1 ;;
    *) echo "usage: ./test.sh [--full]" >&2; exit 2 ;;
  esac
done
passed=0 failed=0 skipped=0
log=build/test-logs
mkdir -p $log

say() { printf '\n== %s\n' "$*"; }
# Nothing may hang for ever.
limited() { timeout -k 10 "${SCRIPT_SECONDS:-1800}" "$@"; }
count() { passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3)); }
finish() {
  echo
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
  exit
}

# One GoogleTest program: its own numbers are counted. A test that hangs is named.
unit() { # unit PROGRAM [environment...]
  local program=$1 name out
  shift
  name=$(basename "$program")
  out=$log/$(basename "$(dirname "$(dirname "$program")")")-$name.log
  env "$@" timeout -k 10 "${UNIT_SECONDS:-1200}" "$program" > "$out" 2>&1
  local code=$?
  [ $code = 124 ] && echo "  hung for ${UNIT_SECONDS:-1200} s: $(grep '^\[ RUN ' "$out" | tail -1)"
  local p f s
  p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$out" | tail -1)
  f=$(grep -c '^\[  FAILED  \] [^0-9].*([0-9]* ms)' "$out")
  s=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' "$out" | tail -1)
  [ $code != 0 ] && [ "${f:-0}" = 0 ] && f=1
  count "${p:-0}" "${f:-0}" "${s:-0}"
  printf '  %-24s %s passed, %s failed\n' "$name" "${p:-0}" "${f:-0}"
  [ "${f:-0}" != 0 ] && grep -vE '^\[ *(RUN|OK)' "$out" | tail -60
  return 0
}

# Two lists of GoogleTest programs beside each other: sanitizers make them slow, and each of them keeps one core busy. What
# the second list prints comes when both are done.
units() { # units LIST LIST [environment...]
  local first=$1 second=$2 told=$log/second-list.log sums=$log/second-list.sums program p f s
  shift 2
  (
    passed=0 failed=0 skipped=0
    for program in $second; do unit "$program" "$@"; done > "$told" 2>&1
    echo "$passed $failed $skipped" > "$sums"
  ) &
  for program in $first; do unit "$program" "$@"; done
  wait $!
  cat "$told"
  read -r p f s < "$sums"
  count "$p" "$f" "$s"
}

# The scenario files; the runner's last line is "N scenarios, M failed".
scenarios() { # scenarios PROGRAM
  local out=$log/scenarios.log n f
  limited "$1" tests/scenarios > "$out" 2>&1
  local code=$?
  if limited "$1" --seeds 1 --count "${SEED_COUNT:-4000}" > $log/seeds.log 2>&1; then
    count 1 0 0
  else
    count 0 1 0
    tail -60 $log/seeds.log
  fi
  printf '  %-24s %s\n' "random clusters" "$(tail -1 $log/seeds.log)"
  n=$(sed -n 's/^\([0-9]*\) scenarios, [0-9]* failed$/\1/p' "$out" | tail -1)
  f=$(sed -n 's/^[0-9]* scenarios, \([0-9]*\) failed$/\1/p' "$out" | tail -1)
  [ $code != 0 ] && [ "${f:-0}" = 0 ] && f=1
  count $((${n:-0} - ${f:-0})) "${f:-0}" 0
  printf '  %-24s %s passed, %s failed\n' scenarios $((${n:-0} - ${f:-0})) "${f:-0}"
  [ "${f:-0}" != 0 ] && tail -40 "$out"
  return 0
}

# One script that prints "ok NAME", "FAIL NAME: why" or "skip NAME: why" lines.
script() { # script COMMAND...
  local name out
  name=$(basename "$1")
  out=$log/$name.log
  if [ "$(type -t "$1")" = function ]; then "$@"; else limited "$@"; fi > "$out" 2>&1
  local code=$?
  local p f s
  p=$(grep -c '^ok ' "$out") f=$(grep -c '^FAIL ' "$out") s=$(grep -c '^skip ' "$out")
  if [ $code = 124 ]; then f=$((f + 1)); echo "FAIL $name: hung for ${SCRIPT_SECONDS:-1800} s after: $(tail -1 "$out")" >> "$out"; fi
  if [ $code != 0 ] && [ "$f" = 0 ]; then f=1; echo "FAIL $name: exit $code" >> "$out"; fi
  if [ $((p + f + s)) = 0 ]; then f=1; echo "FAIL $name: it tested nothing" >> "$out"; fi
  count "$p" "$f" "$s"
  printf '  %-24s %s passed, %s failed, %s skipped\n' "$name" "$p" "$f" "$s"
  grep '^skip ' "$out" | sed 's/^/    /'
  [ "$f" != 0 ] && { grep '^FAIL ' "$out"; tail -40 "$out"; }
  return 0
}

build() { # build PRESET [TARGET...]
  local out=$log/build-$1.log
  tools/build "$1" "$out" "${@:2}" && return 0
  grep -E 'error|FAILED|undefined' "$out" | head -40
  echo "the build with preset $1 failed; its output is in $out"
  count 0 1 0
  return 1
}

say "packages"
purposes="build test"
[ $full = 1 ] && purposes+=" full"
tools/install-packages $purposes || { count 0 1 0; finish; }

say "build (GCC, release)"
time build release || finish

say "unit tests and scenarios"
for program in build/release/bin/*_test; do
  [ "$(basename "$program")" = scenario_test ] || unit "$program"
done
scenarios build/release/bin/scenario_test

say "golden files, tidy, format"
script tools/golden
script tools/tidy
script tests/stock/helm_test.sh

say "end to end"
for test in tests/e2e/*_test.sh; do script "$test"; done

if [ $full = 1 ]; then
  for test in tests/full/*.sh; do
    say "$(sed -n '2s/^# //p' "$test")"
    . "$test"
  done
fi
finish
