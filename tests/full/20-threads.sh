#!/usr/bin/env bash
# thread sanitizer (GCC): the unit tests of what has threads
# on: src
# The scheduler, admission, the command line and the simulated worlds are one thread each and run with the other sanitizers.
patient=(rt_test store_test client_test node_test)
others=(apiserver_test controllers_test)
if build tsan "${patient[@]}" "${others[@]}"; then
  # Objects of any shape meet one thread; under Clang they are judged in five minutes, here in half an hour.
  units "${patient[*]/#/build/tsan/bin/}" "${others[*]/#/build/tsan/bin/}" GTEST_FILTER='-Api.answers_*_of_any_shape'
fi
