#!/usr/bin/env bash
# The corpus of CustomResourceDefinitions, each construct of structural schemas at several places, against the verdicts of a stock server
# (tests/stock/definitions_test.sh records them).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

definitions_are_judged_as_a_stock_server_does() {
  expect "the verdicts on record" python3 tests/stock/differential/definitions.py compare "$KUBECONFIG" tests/stock/differential/definitions.txt
}

start_cluster --components=apiserver
run_tests definitions_are_judged_as_a_stock_server_does
exit ${failed:-0}
