#!/usr/bin/env bash
# Two thousand requests to our API server and to a stock one: the answers are the same, but for what differential/differences.txt explains.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need "differential" etcd kube-apiserver kubectl
start_server KCM=0 KWOK=0
run ours "$bin/volcano" up --components=apiserver --data "$scratch/ours" --port 0
check "our API server starts" wait_for 20 grep "is up at" "$scratch/ours.log"
[ $failed = 0 ] || exit 1
python3 tests/stock/differential/compare.py "$scratch/ours/kubeconfig" "$KUBECONFIG" > "$scratch/compare.log" 2>&1 || failed=1
sed 's/^ok /ok stock: the same answers about /; s/^FAIL /FAIL stock: /' "$scratch/compare.log" | cut -c1-600
form=$bin/protobuf_form
if [ -x "$form" ]; then
  python3 tests/stock/differential/protobuf.py "$scratch/ours/kubeconfig" "$KUBECONFIG" "$form" > "$scratch/protobuf.log" 2>&1 || failed=1
  sed 's/^ok /ok stock: the same in protobuf and JSON, by both servers: /; s/^FAIL /FAIL stock: protobuf of /' "$scratch/protobuf.log" | cut -c1-600
else
  echo "skip stock: the same in protobuf and JSON: protobuf_form is not built (cmake --build build/release --target protobuf_form)"
fi
exit $failed
