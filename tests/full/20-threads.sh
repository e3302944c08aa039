#!/usr/bin/env bash
# thread sanitizer (GCC): unit tests
# The scheduler's scenarios and the simulated worlds are one thread each and run with the other sanitizers.
if build tsan; then
  for program in build/tsan/bin/*_test; do
    case $(basename "$program") in
      scenario_test | sim_test) ;;
      *) unit "$program" ;;
    esac
  done
fi
