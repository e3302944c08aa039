#!/usr/bin/env bash
# the Dockerfile
# Sourced by test.sh; `script` counts the lines that the test prints.
script tests/stock/dockerfile_test.sh
