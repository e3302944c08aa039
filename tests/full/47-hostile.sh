#!/usr/bin/env bash
# hostile pods, images, requests and files, with address and undefined sanitizers
# on: src tests/hostile examples
if [ -x build/fuzz/bin/volcano ] || build fuzz; then
  for test in tests/hostile/*_test.py; do
    VOLCANO=$PWD/build/fuzz/bin/volcano PATIENCE=4 ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16 script "$test"
  done
fi
