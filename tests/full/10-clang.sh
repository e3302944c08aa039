#!/usr/bin/env bash
# build and unit tests with Clang
if build clang; then
  for program in build/clang/bin/*_test; do [ "$(basename "$program")" = scenario_test ] || unit "$program"; done
  scenarios build/clang/bin/scenario_test
fi
