#!/usr/bin/env bash
# the Dockerfile
# on: deploy tests/stock src
# Sourced by test.sh; `script` counts the lines that the test prints.
script tests/stock/dockerfile_test.sh
