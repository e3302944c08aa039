#!/usr/bin/env bash
# our programs on a stock Kubernetes API server
script tests/stock/volcano_test.sh
