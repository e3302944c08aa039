#!/usr/bin/env bash
# clients of Python's registry: the training SDK, and kubernetes with its streams
script tests/clients/python_test.sh
