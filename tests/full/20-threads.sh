#!/usr/bin/env bash
# thread sanitizer (GCC): the unit tests of what has threads
# The scheduler, admission, the command line and the simulated worlds are one thread each and run with the other sanitizers.
threaded=(rt_test store_test client_test node_test apiserver_test controllers_test)
if build tsan "${threaded[@]}"; then
  # Objects of any shape meet one thread; under Clang they are judged in five minutes, here in half an hour.
  for program in "${threaded[@]}"; do unit "build/tsan/bin/$program" GTEST_FILTER='-Api.answers_*_of_any_shape'; done
fi
