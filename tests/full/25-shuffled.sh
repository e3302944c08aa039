#!/usr/bin/env bash
# unit tests shuffled and repeated: none may lean on another, or leave descriptors or threads behind
# on: src cmake tests/unit
patient=() others=()
for program in build/release/bin/*_test; do
  case $(basename "$program") in
    scenario_test) ;;
    scheduler_test | sim_test | api_test | admission_test | controllers_test | plugins_test) others+=("$program") ;;
    *) patient+=("$program") ;;
  esac
done
units "${patient[*]}" "${others[*]}" GTEST_SHUFFLE=1 GTEST_REPEAT=2
