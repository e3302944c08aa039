#!/usr/bin/env bash
# Installs what the tests need, builds, and runs them. The last line is "N passed, N failed, N skipped".
# usage: ./test.sh                         what CI runs
#        ./test.sh --full                  adds Clang, sanitizers, fuzzing, a stock Kubernetes, simulation: all of tests/full
#        ./test.sh --full fuzz stock       these parts alone (tests/full/NN-NAME.sh)
#        ./test.sh --full --again [PART..] also what passed on the same files; without it that is not run again
#        ./test.sh --full --long [PART..]  seeds, soak, fuzzing, worlds and kills for hours instead of minutes
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
full=0 again=0 long=0 parts=()
names=$(for part in tests/full/*.sh; do part=${part##*/[0-9][0-9]-}; echo "${part%.sh}"; done)
usage() { sed -n 's/^# \(usage:\|      \) /\1 /p' test.sh >&2; echo "parts: $(xargs <<< "$names")" >&2; exit 2; }
for word in "$@"; do
  case $word in
    --full) full=1 ;;
    --again) again=1 ;;
    --long) long=1 ;;
    *) grep -qx -- "$word" <<< "$names" || usage
      parts+=("$word") ;;
  esac
done
[ $full = 1 ] || [ $# = 0 ] || usage
if [ $long = 1 ]; then
  : "${FUZZ_SECONDS:=60}" "${WORLD_SEEDS:=20}" "${SEED_SECONDS:=3600}" "${KILLS:=100}" "${SOAK_SECONDS:=3600}"
fi
export FUZZ_SECONDS=${FUZZ_SECONDS:-10} WORLD_SEEDS=${WORLD_SEEDS:-2} SEED_SECONDS=${SEED_SECONDS:-120} KILLS=${KILLS:-10} SOAK_SECONDS=${SOAK_SECONDS:-120}
passed=0 failed=0 skipped=0
log=build/test-logs stamps=build/test-stamps
mkdir -p $log $stamps

say() { printf '\n== %s\n' "$*"; }

# A test of --full that passed on the same files is not run again. A part names in its line "# on: PATH..." what its tests depend on
# beside themselves; their contents, the bounds and the compilers are the stamp.
inputs=""
inputs_of() { # inputs_of PART-FILE: one hash
  local paths
  read -r -a paths <<< "$(sed -n 's/^# on: //p' "$1")"
  {
    git ls-files -z --cached --others --exclude-standard -- "$1" test.sh tools/build cmake CMakeLists.txt CMakePresets.json "${paths[@]}" | xargs -0 sha256sum
    echo "$FUZZ_SECONDS $WORLD_SEEDS $SEED_SECONDS $KILLS $SOAK_SECONDS"
    g++ --version | head -1
    clang++-14 --version | head -1
  } 2> /dev/null | sha256sum | cut -c1-24
}
stamp_of() { echo "$stamps/$(echo "$inputs $*" | sha256sum | cut -c1-24)"; } # stamp_of COMMAND...: a file
passed_before() { # passed_before NAME COMMAND...: counts and says what it gave then
  local name=$1 stamp p s
  shift
  [ -n "$inputs" ] && [ $again = 0 ] || return 1
  stamp=$(stamp_of "$@")
  [ -f "$stamp" ] || return 1
  read -r p s < "$stamp"
  count "$p" 0 "$s"
  printf '  %-24s %s passed before on the same files\n' "$name" "$p"
}
note_pass() { # note_pass PASSED SKIPPED COMMAND...
  [ -n "$inputs" ] || return 0
  echo "$1 $2" > "$(stamp_of "${@:3}")"
}
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
  passed_before "$name" unit "$program" "$@" && return 0
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
  [ "${f:-0}" = 0 ] && note_pass "${p:-0}" "${s:-0}" unit "$program" "$@"
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
  local out=$log/scenarios.log n f seeds=0
  passed_before scenarios scenarios "$1" && return 0
  limited "$1" tests/scenarios > "$out" 2>&1
  local code=$?
  if limited "$1" --seeds 1 --count "${SEED_COUNT:-4000}" > $log/seeds.log 2>&1; then
    count 1 0 0
    seeds=1
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
  [ "${f:-0}" = 0 ] && [ $seeds = 1 ] && note_pass $((n + 1)) 0 scenarios "$1"
  [ "${f:-0}" != 0 ] && tail -40 "$out"
  return 0
}

# One script that prints "ok NAME", "FAIL NAME: why" or "skip NAME: why" lines.
script() { # script COMMAND...
  local name out
  name=$(basename "$1")
  passed_before "$name" script "$@" && return 0
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
  [ "$f" = 0 ] && note_pass "$p" "$s" script "$@"
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

# Everything that CI runs.
base() {
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
  script tests/people/run.sh
  script tests/people/administrator.sh
  script tests/people/operator.sh
  script tests/people/package.sh
}

say "packages"
purposes="build test"
[ $full = 1 ] && purposes+=" full"
# shellcheck disable=SC2086
tools/install-packages $purposes || { count 0 1 0; finish; }
[ ${#parts[@]} -gt 0 ] || base
if [ $full = 1 ]; then
  [ ${#parts[@]} = 0 ] || build release || finish
  : > $log/times
  for test in tests/full/*.sh; do
    name=${test##*/[0-9][0-9]-}
    [ ${#parts[@]} = 0 ] || grep -qx "${name%.sh}" <<< "$(printf '%s\n' "${parts[@]}")" || continue
    say "${name%.sh}: $(sed -n '2s/^# //p' "$test")"
    inputs=$(inputs_of "$test") begun=$SECONDS
    # shellcheck source=/dev/null
    . "$test"
    inputs=""
    printf '  %-24s %d s\n' "${name%.sh}" $((SECONDS - begun)) | tee -a $log/times
  done
  say "times"
  cat $log/times
fi
finish
