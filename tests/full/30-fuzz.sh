#!/usr/bin/env bash
# fuzzing: every parser for FUZZ_SECONDS, two at a time
# on: src fuzz
if [ -x build/fuzz/bin/fuzz_json ] || build fuzz; then
  fuzz_one() { # fuzz_one PROGRAM
    local program=$1 name
    name=$(basename "$program")
    if [ "$name" = fuzz_canary ]; then # a fuzzer that finds nothing may be broken itself
      limited "$program" -max_total_time=60 -artifact_prefix=build/fuzz/ > "build/fuzz/$name.log" 2>&1 && echo "FAIL $name: the canary was not found" || echo "ok $name"
      return
    fi
    mkdir -p "build/fuzz/corpus/$name"
    if limited "$program" -detect_leaks=0 -max_total_time="$FUZZ_SECONDS" -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" "fuzz/corpus/${name#fuzz_}" > "build/fuzz/$name.log" 2>&1; then
      echo "ok $name"
    else
      echo "FAIL $name: $(grep -a -m1 -E 'ERROR|broken promise' "build/fuzz/$name.log")"
    fi
  }
  fuzz() {
    local program running=0
    for program in build/fuzz/bin/fuzz_*; do
      [ "$(basename "$program")" = fuzz_test ] && continue
      fuzz_one "$program" &
      running=$((running + 1))
      [ $((running % 2)) = 0 ] && wait
    done
    wait
  }
  script fuzz
fi
