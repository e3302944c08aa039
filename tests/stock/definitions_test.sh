#!/usr/bin/env bash
# The corpus of CustomResourceDefinitions (differential/definitions.py) on a stock kube-apiserver: its verdicts are those that tests/stock/differential/definitions.txt
# holds, with which ./test.sh compares our server. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
# usage: definitions_test.sh [--update]      --update writes the file; review the diff
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need definitions etcd kube-apiserver
start_server KCM=0 KWOK=0
verdicts=tests/stock/differential/definitions.txt
if [ "${1:-}" = --update ]; then
  check "the verdicts of a stock server are recorded" python3 tests/stock/differential/definitions.py record "$KUBECONFIG" "$verdicts"
else
  check "the verdicts of a stock server are those on record" python3 tests/stock/differential/definitions.py check "$KUBECONFIG" "$verdicts"
fi
exit $failed
