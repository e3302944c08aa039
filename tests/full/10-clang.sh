#!/usr/bin/env bash
# Clang with address and undefined sanitizers: build, unit tests, scenarios
# on: src tests/scenarios tests/plugins tests/sim fuzz tests/golden docs/spec
# The fuzzing of the next part runs from the same build. Those that look at clocks and processes are in one list.
if build fuzz; then
  patient=() others=()
  for program in build/fuzz/bin/*_test; do
    case $(basename "$program") in
      scenario_test) ;;
      scheduler_test | sim_test | api_test | admission_test | controllers_test | plugins_test) others+=("$program") ;;
      *) patient+=("$program") ;;
    esac
  done
  units "${patient[*]}" "${others[*]}" UBSAN_OPTIONS=print_stacktrace=1
  scenarios build/fuzz/bin/scenario_test
fi
