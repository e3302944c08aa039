#!/usr/bin/env bash
# Clang with address and undefined sanitizers: build, unit tests, scenarios
# The fuzzing of the next part runs from the same build.
if build fuzz; then
  for program in build/fuzz/bin/*_test; do
    [ "$(basename "$program")" = scenario_test ] || unit "$program" UBSAN_OPTIONS=print_stacktrace=1
  done
  scenarios build/fuzz/bin/scenario_test
fi
