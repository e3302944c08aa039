#!/usr/bin/env bash
# Volumes of people who are not root: claims, ephemeral claims and emptyDir, with and without a group, and folders of subPath.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

log_is() { [ "$(kubectl logs "$1" 2> /dev/null)" = "$2" ]; }
claim() { # claim NAME
  kubectl create -f - > /dev/null << YAML
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $1}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
YAML
}
writer() { # writer NAME SECURITY VOLUME: touches a file of /data and of its subPath, and shows them
  kubectl create -f - > /dev/null << YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  securityContext: {$2}
  volumes: [{name: data, $3}, {name: s, secret: {secretName: sec, defaultMode: 0400}}]
  containers:
  - name: c
    image: b
    command: [sh, -c, "touch /data/f /data/sub/g && stat -c '%a %u %g' /data /data/sub /data/f /data/sub/g"]
    volumeMounts: [{name: data, mountPath: /data}, {name: data, mountPath: /data/sub, subPath: sub/folder}]
YAML
}

claims_can_be_written_by_everybody() {
  claim plain
  writer plain "runAsUser: 1000, runAsGroup: 3000" "persistentVolumeClaim: {claimName: plain}"
  expect "it to end well" wait_for 30 field_is pod plain .status.phase Succeeded
  expect "folders that are everybody's" log_is plain $'777 0 0\n777 0 0\n644 1000 3000\n644 1000 3000'
}
claims_have_the_group() {
  local pod
  claim grouped
  writer grouped "runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000, runAsNonRoot: true, fsGroupChangePolicy: OnRootMismatch" "persistentVolumeClaim: {claimName: grouped}"
  writer for-a-while "runAsUser: 1000, fsGroup: 2000" "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}}"
  writer empty "runAsUser: 1000, fsGroup: 2000" "emptyDir: {}"
  writer in-memory "runAsUser: 1000, fsGroup: 2000" "emptyDir: {medium: Memory}"
  for pod in grouped for-a-while empty in-memory; do
    expect "$pod to end well" wait_for 30 field_is pod $pod .status.phase Succeeded
    expect "the group in $pod" log_is $pod $'2777 0 2000\n2777 0 2000\n644 1000 2000\n644 1000 2000'
  done
}
# A pod left links; the next one, with a group, changes nothing outside.
links_lead_nowhere() {
  mkdir -m 700 "$scratch/outside"
  touch "$scratch/outside/secret"
  chmod 600 "$scratch/outside/secret"
  local before
  before=$(stat -c '%a %g' "$scratch/outside" "$scratch/outside/secret")
  claim linked
  kubectl run links --image b --restart Never --overrides '{"spec": {"containers": [{"name": "c", "image": "b", "command": ["ln", "-s", "'"$scratch"'/outside", "/data/out"], "volumeMounts": [{"name": "d", "mountPath": "/data"}]}],
    "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "linked"}}]}}' > /dev/null
  expect "the link" wait_for 30 field_is pod links .status.phase Succeeded
  writer after "runAsUser: 1000, fsGroup: 2000" "persistentVolumeClaim: {claimName: linked}"
  expect "the pod with a group" wait_for 30 field_is pod after .status.phase Succeeded
  expect "nothing outside to have changed" [ "$(stat -c '%a %g' "$scratch/outside" "$scratch/outside/secret")" = "$before" ]
}

if [ $root = 0 ]; then
  echo "skip volumes: they need root"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs
wait_for 10 kubectl get node n1
kubectl create secret generic sec --from-literal k=v > /dev/null
run_tests claims_can_be_written_by_everybody claims_have_the_group links_lead_nowhere
exit ${failed:-0}
