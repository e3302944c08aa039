#!/usr/bin/env bash
# fuzzing: every parser for a minute
if build fuzz; then
  fuzz() {
    local program name
    for program in build/fuzz/bin/fuzz_*; do
      name=$(basename "$program")
      [ "$name" = fuzz_test ] && continue
      if [ "$name" = fuzz_canary ]; then  # a fuzzer that finds nothing may be broken itself
        "$program" -max_total_time=60 -artifact_prefix=build/fuzz/ > "build/fuzz/$name.log" 2>&1 && echo "FAIL $name: the canary was not found" || echo "ok $name"
        continue
      fi
      mkdir -p "build/fuzz/corpus/$name"
      if "$program" -detect_leaks=0 -max_total_time="${FUZZ_SECONDS:-60}" -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" "fuzz/corpus/${name#fuzz_}" > "build/fuzz/$name.log" 2>&1; then
        echo "ok $name"
      else
        echo "FAIL $name: $(grep -a -m1 -E 'ERROR|broken promise' "build/fuzz/$name.log")"
      fi
    done
  }
  script fuzz
fi
