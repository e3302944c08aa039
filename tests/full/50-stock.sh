#!/usr/bin/env bash
# our programs on a stock Kubernetes
# on: src tests/page tests/stock tests/golden deploy docs/reference docs/operations docs/page.md tests/people bench/cluster
# Sourced by test.sh; `script` counts the lines that the test prints.
if command -v go > /dev/null && go version | grep -qE 'go1\.(2[6-9]|[3-9][0-9])'; then
  tests/stock/build.sh etcd kube-apiserver kube-controller-manager kube-scheduler kwok kubectl > "$log/stock-build.log" 2>&1 || { echo "building the stock control plane failed; see $log/stock-build.log"; count 0 1 0; }
  cmake --build build/release --target protobuf_form > "$log/build-protobuf-form.log" 2>&1 || count 0 1 0
  tests/stock/build.sh helm-template helm > "$log/stock-helm.log" 2>&1 || { echo "building Helm failed; see $log/stock-helm.log"; count 0 1 0; }
  script tests/stock/programs_test.sh
  script tests/stock/differential_test.sh
  script tests/stock/random_differential.sh --seed 9217 --count 4000
  script tests/stock/definitions_test.sh
  script tests/stock/policies_test.sh
  script tests/stock/training_test.sh
  script tests/stock/clients_test.sh
  script tests/stock/certificates_test.sh
  script tests/stock/ha_test.sh
  script tests/stock/ha_partition_test.sh
  script tests/stock/switch_test.sh
  script tests/stock/bad_input_test.sh
  script tests/stock/faults_test.sh
  script tests/stock/rights_test.sh
  script tests/stock/page_test.sh
  script tests/stock/helm_test.sh
  script tests/stock/helm_apply_test.sh
  script tests/stock/helm_release_test.sh
  script tests/stock/operator_test.sh
  script tests/stock/notebooks_test.sh
  script tests/stock/pipelines_test.sh
  script tests/stock/colocation_test.sh
  script tests/stock/images_test.sh
  script tests/stock/panels_test.sh
else
  echo "  skipped: a stock Kubernetes is built with Go 1.26, which is not installed"
  count 0 0 1
fi
