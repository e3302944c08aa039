# shellcheck shell=bash
# fuzzing: every target for a while under libFuzzer with sanitizers
fuzz_seconds=${FUZZ_SECONDS:-20}
fuzz_log=$log/build-fuzz.log
if cmake --preset fuzz > "$fuzz_log" 2>&1 && cmake --build build/fuzz --target fuzz_json fuzz_yaml fuzz_quantity fuzz_selector fuzz_patch fuzz_route fuzz_http \
     fuzz_definition fuzz_canary >> "$fuzz_log" 2>&1; then
  for target in json yaml quantity selector patch route http definition; do
    # Finds grow a copy of the corpus; a crash leaves its input there.
    found=build/fuzz/found-$target
    mkdir -p "$found"
    if build/fuzz/bin/fuzz_$target -max_total_time="$fuzz_seconds" -artifact_prefix="$found/" "$found" "fuzz/corpus/$target" > "$log/fuzz-$target.log" 2>&1; then
      count 1 0 0
    else
      count 0 1 0
      echo "  fuzz_$target failed; its input is in $found:"
      grep -aE 'broken promise|ERROR: |SUMMARY' "$log/fuzz-$target.log" | cut -c1-300 | head -5
    fi
  done
  # A fuzzer that finds nothing may be broken itself.
  if build/fuzz/bin/fuzz_canary -max_total_time=60 -artifact_prefix=build/fuzz/ > "$log/fuzz-canary.log" 2>&1; then
    count 0 1 0
    echo "  the canary was not found"
  else
    count 1 0 0
  fi
else
  count 0 1 0
  echo "  the fuzz build failed; its output is in $fuzz_log"
  grep -E 'error|undefined' "$fuzz_log" | head -20
fi
