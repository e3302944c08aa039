#!/usr/bin/env bash
# programs of strangers against our server: client-go's flows, Helm, controller-runtime, a DRA driver, JobSet, LeaderWorkerSet, Trainer, MPI operator, Kueue, Spark, kube-controller-manager with KWOK
# on: src tests/outside tests/stock
if command -v go > /dev/null && go version | grep -qE 'go1\.(2[6-9]|[3-9][0-9])'; then
  tests/stock/build.sh kube-controller-manager kwok client-flows helm reconciler dra-driver jobset lws trainer mpi-operator kueue > "$log/outside-build.log" 2>&1 ||
    { echo "building programs of strangers failed; see $log/outside-build.log"; count 0 1 0; }
  for test in tests/outside/*_test.sh; do script "$test"; done
else
  echo "  skipped: programs of strangers are built with Go 1.26, which is not installed"
  count 0 0 1
fi
