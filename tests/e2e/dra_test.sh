#!/usr/bin/env bash
# Dynamic Resource Allocation with a made-up driver: it registers, claims reach containers and come back.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

driver=""
own=$scratch/driver
registry=$scratch/data/plugins_registry
cdi=$scratch/cdi
mkdir -p "$own" "$cdi"
start() { start_cluster --node-name n1 --host-rootfs --nvidia-driver-root none --cdi-spec-dirs "$cdi" "$@"; }
start_driver() { # and its devices, as drivers publish them once they are registered
  : > "$own/log"
  wait_for 60 test -d "$registry"
  build/release/bin/fake_dra_driver dra.test "$registry" "$own" "$cdi" 2>> "$scratch/driver.log" &
  driver=$!
  wait_for 60 driver_says 'registered '
  kubectl apply -f - > /dev/null << 'END'
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-dra.test}
spec:
  driver: dra.test
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: one}, {name: two}]
END
}
stop_driver() { # stop_driver [SIGNAL]
  [ -n "$driver" ] || return 0
  kill "-${1:-TERM}" "$driver" 2> /dev/null
  wait "$driver" 2> /dev/null
  driver=""
}
driver_says() { grep -F -- "$1" "$own/log" > /dev/null; }
times() { [ "$(grep -c -- "^$1" "$own/log")" = "$2" ]; } # times BEGINNING_OF_A_LINE COUNT
has_slices() { [ "$(kubectl get resourceslices -o name | wc -l)" = "$1" ]; }
log_says() { kubectl logs "$1" 2> /dev/null | grep -F -- "$2" > /dev/null; }
event_says() { kubectl get events -o 'jsonpath={range .items[*]}{.involvedObject.name} {.reason} {.message}{"\n"}{end}' | grep -F -- "$1" > /dev/null; }
no_claim_is_kept() { [ -z "$(ls "$scratch/data/node/claims" 2> /dev/null)" ]; }
classes() {
  kubectl apply -f - > /dev/null << 'END'
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: test}
spec: {selectors: [{cel: {expression: 'device.driver == "dra.test"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: test}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: test}}]}}
END
}
pod() { # pod NAME COMMAND [CLAIM]: with a claim of its own, or that one
  kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  resourceClaims: [{name: c, ${3:-resourceClaimTemplateName: one}}]
  containers:
  - {name: main, image: some/image, command: [sh, -c, '$2'], env: [{name: POD, value: $1}], resources: {claims: [{name: c}]}}
  - {name: other, image: some/image, command: [sh, -c, 'echo "has [\$CLAIM]"']}
END
}
wait='until [ -e '$scratch'/end.$POD ]; do sleep 0.2; done'
end() { kubectl exec "$1" -c main -- sh -c "mkdir -p $scratch && touch $scratch/end.$1"; } # of a pod that waits

a_claim_reaches_its_container_and_comes_back() {
  start
  classes
  start_driver
  expect "a slice" has_slices 1
  expect "by node" sh -c 'kubectl get resourceslices --field-selector spec.nodeName=n1,spec.driver=dra.test -o name | grep n1-dra.test'
  expect "by another node" sh -c '[ -z "$(kubectl get resourceslices --field-selector spec.nodeName=n2 -o name)" ]'
  pod a 'echo "claim $CLAIM of $MADE_BY"'
  expect "an end" wait_for 60 field_is pod a .status.phase Succeeded
  expect "the claim's variables" sh -c 'kubectl logs a -c main | grep "^claim a-c-.* of dra.test$"'
  expect "nothing for the other container" sh -c 'kubectl logs a -c other | grep -F "has []"'
  expect "prepared once" times 'prepare default/a-c' 1
  expect "given back" times 'unprepare default/a-c' 1
  expect "no CDI specification is left" sh -c '[ -z "$(ls '"$cdi"')" ]'
  expect "nothing is kept" wait_for 60 no_claim_is_kept
  expect "its name in the status" sh -c 'kubectl get pod a -o "jsonpath={.status.resourceClaimStatuses[0].name}" | grep -x c'
  kubectl delete pod a > /dev/null
}
health_is() { [ "$(field pod "$1" '.status.containerStatuses[?(@.name=="main")].allocatedResourcesStatus[0].resources[0].health')" = "$2" ]; }
the_health_of_devices_is_told() {
  pod g "$wait"
  expect "nobody has said it" wait_for 60 health_is g Unknown
  expect "nothing for the other container" [ -z "$(field pod g '.status.containerStatuses[?(@.name=="other")].allocatedResourcesStatus')" ]
  printf '2 fan stopped' > "$own/health"
  pod h true # drivers say it when they like; this one with each claim
  expect "it is told" wait_for 60 health_is g Unhealthy
  expect "by name, with the reason" grep -q '"message":"fan stopped".*"name":"claim:c"\|"name":"claim:c".*"message":"fan stopped"' <<< "$(field pod g .status.containerStatuses)"
  rm "$own/health"
  end g
  wait_for 60 field_is pod g .status.phase Succeeded
  kubectl delete pod g h > /dev/null
}
two_pods_share_a_claim() {
  pod b "$wait" 'resourceClaimName: shared'
  pod c 'echo "claim $CLAIM"; '"$wait" 'resourceClaimName: shared'
  expect "one runs" wait_for 60 sh -c 'kubectl get pod b | grep -E "1/2|2/2"'
  expect "the other, too" wait_for 60 sh -c 'kubectl logs c -c main | grep -x "claim shared"'
  expect "prepared once" times 'prepare default/shared' 1
  end b
  expect "one ends" wait_for 60 field_is pod b .status.phase Succeeded
  expect "it stays" times 'unprepare default/shared' 0
  end c
  expect "the other ends" wait_for 60 field_is pod c .status.phase Succeeded
  expect "given back with the last" times 'unprepare default/shared' 1
  kubectl delete pod b c > /dev/null
}
a_driver_that_fails_makes_its_pods_wait() {
  printf 'no power' > "$own/fail"
  pod d 'echo "claim $CLAIM"'
  expect "a kubelet's words" wait_for 60 event_says 'd FailedPrepareDynamicResources Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for ResourceClaim d-c-'
  kubectl run plain --image=i --restart=Never --command -- true > /dev/null
  expect "others run" wait_for 60 field_is pod plain .status.phase Succeeded
  rm "$own/fail"
  expect "tried again" wait_for 60 field_is pod d .status.phase Succeeded
  kubectl delete pod d plain > /dev/null
}
the_agent_dies_in_the_middle() {
  pod e 'echo "claim $CLAIM"; '"$wait"
  expect "it runs" wait_for 60 sh -c 'kubectl logs e -c main | grep "^claim e-c-"'
  kill_cluster
  expect "what is ready is written down" sh -c 'grep -l "e-c-" '"$scratch"'/data/node/claims/*.json'
  start
  expect "slices of before are gone" wait_for 60 has_slices 0
  expect "the driver is found again" wait_for 60 times 'registered ' 2
  expect "it runs on" wait_for 60 field_is pod e .status.phase Running # told anew where the end came before it was written
  end e
  expect "it ends" wait_for 60 field_is pod e .status.phase Succeeded
  expect "given back, once" times 'unprepare default/e-c' 1
  expect "nothing is kept" wait_for 60 no_claim_is_kept
  kubectl delete pod e > /dev/null
  stop_driver
  start_driver
}
a_driver_that_is_gone_takes_its_slices_along() {
  expect "a slice" wait_for 60 has_slices 1
  pod f "$wait"
  expect "it runs" wait_for 60 sh -c 'kubectl get pod f | grep -E "1/2|2/2"'
  [ -z "$problem" ] || kubectl get resourceclaims,resourceslices -o yaml
  stop_driver KILL # its sockets stay
  end f
  expect "why it is not over" wait_for 60 event_says 'f FailedUnprepareDynamicResources Failed to unprepare dynamic resources: unprepare dynamic resources: NodeUnprepareResources: rpc error: code = Unavailable desc = cannot connect to'
  expect "not over" field_is pod f .status.phase Running
  expect "it is noticed" wait_for 60 grep -F 'RegisterPlugin error -- failed to get plugin info using RPC GetInfo' "$scratch/up.log"
  expect "no slice half a minute later" wait_for 60 has_slices 0
  start_driver
  expect "over now" wait_for 60 field_is pod f .status.phase Succeeded
  expect "given back" times 'unprepare default/f-c' 1
}
strangers_are_refused() {
  expect "a bad flag" refused '--plugins-registry-dir: "here" is not an absolute path' "$volcano" up --plugins-registry-dir here
  stop_driver
  "$PWD/build/release/bin/fake_dra_driver" Dra_Test "$registry" "$own" "$cdi" 2>> "$scratch/driver.log" &
  driver=$!
  expect "an event of the node" wait_for 60 event_says 'n1 DRAPlugin RegisterPlugin error -- plugin validation failed with err: the name "Dra_Test" of a DRA driver is not a DNS subdomain'
  expect "it is told" wait_for 60 driver_says 'registered RegisterPlugin error'
}

run_tests a_claim_reaches_its_container_and_comes_back the_health_of_devices_is_told two_pods_share_a_claim a_driver_that_fails_makes_its_pods_wait the_agent_dies_in_the_middle \
  a_driver_that_is_gone_takes_its_slices_along strangers_are_refused
stop_driver
exit "${failed:-0}"
