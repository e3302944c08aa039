#!/usr/bin/env bash
# thread sanitizer (GCC): the unit tests of what has threads
# The scheduler, admission, the command line and the simulated worlds are one thread each and run with the other sanitizers.
threaded=(rt_test store_test client_test node_test apiserver_test controllers_test)
if build tsan "${threaded[@]}"; then
  for program in "${threaded[@]}"; do unit "build/tsan/bin/$program"; done
fi
