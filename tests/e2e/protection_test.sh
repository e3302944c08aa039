#!/usr/bin/env bash
# Claims and volumes in use, deleted with stock kubectl: they stay until the pod, or the claim, is gone.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

start_cluster --node-name n1 --host-rootfs --runtime process

gone() { ! kubectl get "$@" > /dev/null 2>&1; }
terminating() { [ -n "$(field "$1" "$2" .metadata.deletionTimestamp)" ]; }
finalizers_are() { field_is "$1" "$2" .metadata.finalizers "$3"; }

make_claim() { # make_claim NAME: a volume of that name, and a claim that takes it
  kubectl apply -f - <<Y
apiVersion: v1
kind: PersistentVolume
metadata: {name: $1}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: none, hostPath: {path: "$scratch/$1"}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $1}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, volumeName: $1, resources: {requests: {storage: 1Gi}}}
Y
}
make_pod() { # make_pod NAME CLAIM
  kubectl apply -f - <<Y
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: "host:1", command: [sleep, "600"]}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: $2}}]
Y
}

a_claim_stays_with_its_pod() {
  expect "made" make_claim one
  expect "protected from the start" finalizers_are pvc one '["kubernetes.io/pvc-protection"]'
  expect "and its volume" finalizers_are pv one '["kubernetes.io/pv-protection"]'
  expect "bound" wait_for 10 field_is pvc one .status.phase Bound
  expect "a pod" make_pod user one
  expect "deleted" kubectl delete pvc one --wait=false
  expect "the volume deleted, too" kubectl delete pv one --wait=false
  # What the controllers do with another claim comes after what they do with this one.
  expect "another claim" make_claim other
  expect "that nobody uses" kubectl delete pvc other --timeout=20s
  expect "goes with its volume" kubectl delete pv other --timeout=20s
  expect "the claim stays" terminating pvc one
  expect "so says kubectl" sh -c 'kubectl get pvc one --no-headers | grep Terminating'
  expect "the volume stays" terminating pv one
  expect "the pod goes" kubectl delete pod user --timeout=20s
  expect "and then the claim" wait_for 20 gone pvc one
  expect "and then the volume" wait_for 20 gone pv one
}

what_was_made_before_is_protected_later() {
  expect "made" make_claim old
  expect "without" kubectl patch pvc old --type=merge -p '{"metadata":{"finalizers":null}}'
  expect "protected again" wait_for 10 finalizers_are pvc old '["kubernetes.io/pvc-protection"]'
  expect "goes" kubectl delete pvc/old pv/old --timeout=20s
}

make_pod_with_its_own() {
  kubectl apply -f - <<Y
apiVersion: v1
kind: Pod
metadata: {name: own}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: "host:1", command: [sleep, "600"]}]
  volumes:
  - name: v
    ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}}
Y
}
an_ephemeral_volume_has_a_claim_of_its_own() {
  expect "a pod" make_pod_with_its_own
  expect "its claim is bound" wait_for 20 field_is pvc own-v .status.phase Bound
  expect "it runs" wait_for 20 field_is pod own .status.phase Running
  expect "it cannot grow" sh -c 'kubectl patch pvc own-v -p "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"2Mi\"}}}}" 2>&1 | grep -q "must support resize"'
  expect "it goes" kubectl delete pod own --timeout=20s
  expect "and its claim with it" wait_for 20 gone pvc own-v
}

both_can_be_left_off() {
  stop_cluster
  start_cluster --node-name n1 --host-rootfs --runtime process --controllers=-persistentvolumeclaim-protection-controller,-persistentvolume-protection
  expect "made" make_claim kept
  expect "deleted" kubectl delete pvc kept --wait=false
  expect "the finalizer is somebody else's" finalizers_are pvc kept '["kubernetes.io/pvc-protection"]'
  expect "who takes it" kubectl patch pvc kept --type=merge -p '{"metadata":{"finalizers":null}}'
  expect "gone" wait_for 10 gone pvc kept
  kubectl patch pv kept --type=merge -p '{"metadata":{"finalizers":null}}' > /dev/null
  expect "the volume" kubectl delete pv kept --timeout=20s
}

run_tests a_claim_stays_with_its_pod what_was_made_before_is_protected_later an_ephemeral_volume_has_a_claim_of_its_own both_can_be_left_off
