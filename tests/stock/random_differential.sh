#!/usr/bin/env bash
# Objects broken at random, judged by our API server and by a stock one; prints where they do not agree, the most frequent first.
# usage: random_differential.sh [--seed N] [--count N] [--words WORDS] [--updates] [--values] [--show N]   (differential/random_compare.py)
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need "random differential" etcd kube-apiserver kubectl
start_server KCM=0 KWOK=0
run ours "$bin/volcano" up --components=apiserver --data "$scratch/ours" --port 0
check "our API server starts" wait_for 20 grep "is up at" "$scratch/ours.log"
[ $failed = 0 ] || exit 1
python3 tests/stock/differential/random_compare.py "$scratch/ours/kubeconfig" "$KUBECONFIG" "$@"
check "no difference but those that docs/compat names" test $? = 0
exit $failed
