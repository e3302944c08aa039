#!/usr/bin/env bash
# fuzzing: every parser for a minute
if build fuzz; then
  fuzz() {
    local program name
    for program in build/fuzz/bin/fuzz_*; do
      name=$(basename "$program")
      [ "$name" = fuzz_test ] && continue
      mkdir -p "build/fuzz/corpus/$name"
      if "$program" -max_total_time="${FUZZ_SECONDS:-60}" -close_fd_mask=3 "build/fuzz/corpus/$name" "fuzz/corpus/${name#fuzz_}" > "build/fuzz/$name.log" 2>&1; then
        echo "ok $name"
      else
        echo "FAIL $name: $(grep -m1 -E 'ERROR|broken promise' "build/fuzz/$name.log")"
      fi
    done
  }
  script fuzz
fi
