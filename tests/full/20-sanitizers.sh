#!/usr/bin/env bash
# address, undefined and thread sanitizers
for preset in asan tsan; do
  build $preset || continue
  for program in build/$preset/bin/*_test; do
    [ "$(basename "$program")" = scenario_test ] || unit "$program" UBSAN_OPTIONS=print_stacktrace=1
  done
  scenarios build/$preset/bin/scenario_test
done
