#!/usr/bin/env bash
# A driver of Dynamic Resource Allocation that is made with Kubernetes' own library (tests/outside/dra-driver) against `volcano up`.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
program=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}/bin/dra-driver
[ -x "$program" ] || { echo "skip outside dra-driver: it is not built (tests/stock/build.sh dra-driver)"; exit 0; }
mkdir -p "$scratch/own" "$scratch/cdi"
driver_says() { grep -E -- "$1" "$scratch/driver.log"; }
slices_are() { [ "$(kubectl get resourceslices -o name | wc -l)" = "$1" ]; }

a_claim_is_made_ready_and_taken_back() {
  start_cluster --node-name n1 --host-rootfs --nvidia-driver-root none --cdi-spec-dirs "$scratch/cdi"
  expect "a folder to register in" wait_for 20 test -d "$scratch/data/plugins_registry"
  "$program" "$KUBECONFIG" "$scratch/data/plugins_registry" "$scratch/own" "$scratch/cdi" n1 > "$scratch/driver.log" 2>&1 &
  driver=$!
  expect "it publishes its devices" wait_for 30 slices_are 1
  kubectl apply -f - > /dev/null 2>&1 << 'END'
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: test}
spec: {selectors: [{cel: {expression: 'device.driver == "go.test"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: test}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  restartPolicy: Never
  resourceClaims: [{name: c, resourceClaimTemplateName: one}]
  containers: [{name: main, image: i, command: [sh, -c, 'echo "claim $CLAIM"'], resources: {claims: [{name: c, request: r}]}}]
END
  expect "an end" wait_for 40 field_is pod a .status.phase Succeeded
  expect "the claim's variable" sh -c 'kubectl logs a | grep "^claim a-c-"'
  expect "prepared" driver_says '^prepare a-c-'
  expect "taken back" driver_says '^unprepare a-c-'
  expect "no error" sh -c '! grep "^error" '"$scratch/driver.log"
}
a_driver_that_goes_takes_its_slices_along() {
  kill "$driver"
  expect "no slice any more" wait_for 120 slices_are 0
}

run_tests a_claim_is_made_ready_and_taken_back a_driver_that_goes_takes_its_slices_along
exit "${failed:-0}"
