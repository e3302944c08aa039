#!/usr/bin/env bash
# clients of Python's registry: the training SDK, and kubernetes with its streams
# on: src tests/clients tests/e2e
script tests/clients/python_test.sh
