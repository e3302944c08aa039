#!/usr/bin/env bash
# Fields that were accepted and ignored: signals that stop containers, rules of restarts, host names, mounts that are handed on, claims for one pod, and warnings of what has no effect.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

says() { [ "$(kubectl logs "$1" 2> /dev/null)" = "$2" ]; }
phase() { field_is pod "$1" .status.phase "$2"; }
waits_because() { # waits_because POD TEXT
  local text
  text=$(kubectl get pod "$1" -o 'jsonpath={.status.containerStatuses[*].state.waiting.message} {.status.conditions[?(@.type=="PodScheduled")].message}' 2> /dev/null)
  grep -qF -- "$2" <<< "$text"
}
pod() { # pod NAME SPEC
  kubectl apply -f - > "$scratch/apply.out" 2>&1 << YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 3
$2
YAML
}

rules_say_which_ends_are_restarted() {
  pod rules '
  volumes: [{name: d, emptyDir: {}}]
  containers: [{name: c, image: b, restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}],
    command: [sh, -c, "echo r >> /d/n; if [ $(wc -l < /d/n) = 1 ]; then exit 42; fi; echo second; exit 0"], volumeMounts: [{name: d, mountPath: /d}]}]'
  expect "the second run to end well" wait_for 30 phase rules Succeeded
  expect "one restart" field_is pod rules '.status.containerStatuses[0].restartCount' 1
  expect "the second run's words" says rules second
  pod all-again '
  volumes: [{name: d, emptyDir: {}}]
  initContainers: [{name: i, image: b, command: [sh, -c, "echo r >> /d/n"], volumeMounts: [{name: d, mountPath: /d}]}]
  containers: [{name: c, image: b, restartPolicy: Never, restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}],
    command: [sh, -c, "if [ $(wc -l < /d/n) = 1 ]; then exit 42; fi; exit 0"], volumeMounts: [{name: d, mountPath: /d}]}]'
  expect "the init container to have run again" wait_for 30 phase all-again Succeeded
  pod no-policy '
  containers: [{name: c, image: b, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]}]'
  expect "rules without a policy to be refused" grep -q 'restartPolicy: Required value: must specify restartPolicy' "$scratch/apply.out"
}
a_host_name_of_ones_own() {
  pod named '
  hostnameOverride: other.name.example
  containers: [{name: c, image: b, command: [sh, -c, "hostname; tail -1 /etc/hosts | cut -f2"]}]'
  expect "it to end well" wait_for 30 phase named Succeeded
  expect "the name" says named $'other.name.example\nother.name.example'
  pod on-the-host '
  hostNetwork: true
  hostnameOverride: other.name.example
  containers: [{name: c, image: b}]'
  expect "it to be refused on the host's network" grep -q 'spec.hostnameOverride: Forbidden' "$scratch/apply.out"
}
a_container_is_stopped_by_its_signal() {
  mkdir -m 777 "$scratch/signals"
  pod stopped "
  os: {name: linux}
  volumes: [{name: h, hostPath: {path: $scratch/signals}}]
  containers: [{name: c, image: b, lifecycle: {stopSignal: SIGUSR1}, volumeMounts: [{name: h, mountPath: /h}],
    command: [sh, -c, \"trap 'echo term > /h/got; exit' TERM; trap 'echo usr1 > /h/got; exit' USR1; touch /h/ready; while :; do sleep 0.1; done\"]}]"
  expect "it to run" wait_for 30 test -e "$scratch/signals/ready"
  expect "its end" timeout 15 kubectl delete pod stopped
  expect "the signal" [ "$(cat "$scratch/signals/got")" = usr1 ]
  pod no-system '
  containers: [{name: c, image: b, lifecycle: {stopSignal: SIGUSR1}}]'
  expect "a signal without a system to be refused" grep -q 'lifecycle.stopSignal: Forbidden' "$scratch/apply.out"
}
# An image with a signal of its own: dash, and what it needs.
make_image() {
  local file
  mkdir -p "$scratch/tree/bin"
  for file in $(ldd /bin/dash /bin/sleep | grep -o '/lib[^ ]*' | sort -u); do
    mkdir -p "$scratch/tree$(dirname "$file")"
    cp -L "$file" "$scratch/tree$file"
  done
  cp -L /bin/dash "$scratch/tree/bin/sh"
  cp -L /bin/sleep "$scratch/tree/bin/sleep"
  tar -C "$scratch/tree" -cf "$scratch/layer.tar" .
  echo "{\"architecture\": \"amd64\", \"os\": \"linux\", \"config\": {\"StopSignal\": \"SIGUSR1\"}, \"rootfs\": {\"type\": \"layers\", \"diff_ids\": [\"sha256:$(sha256sum < "$scratch/layer.tar" | cut -d' ' -f1)\"]}}" > "$scratch/config.json"
  echo '[{"Config": "config.json", "RepoTags": ["signals:latest"], "Layers": ["layer.tar"]}]' > "$scratch/manifest.json"
  tar -C "$scratch" -cf "$scratch/image.tar" manifest.json config.json layer.tar
  "$volcano" image import --data "$scratch/data" signals "$scratch/image.tar"
}
an_images_signal_stops_its_containers() {
  expect "the image" make_image
  mkdir -m 777 "$scratch/of-image"
  pod of-image "
  volumes: [{name: h, hostPath: {path: $scratch/of-image}}]
  containers: [{name: c, image: signals, imagePullPolicy: IfNotPresent, volumeMounts: [{name: h, mountPath: /h}],
    command: [sh, -c, \"trap 'echo term > /h/got; exit' TERM; trap 'echo usr1 > /h/got; exit' USR1; : > /h/ready; while :; do sleep 0.1; done\"]}]"
  expect "it to run: $(kubectl logs of-image 2>&1 | head -2)" wait_for 30 test -e "$scratch/of-image/ready"
  expect "its end" timeout 15 kubectl delete pod of-image
  expect "the signal" [ "$(cat "$scratch/of-image/got")" = usr1 ]
}
mounts_are_handed_on_where_the_machine_shares_them() {
  mkdir "$scratch/private" "$scratch/shared"
  mount --bind "$scratch/private" "$scratch/private" && mount --make-private "$scratch/private"
  mount --bind "$scratch/shared" "$scratch/shared" && mount --make-shared "$scratch/shared"
  local name
  for name in private shared; do
    pod "$name" "
  volumes: [{name: h, hostPath: {path: $scratch/$name}}]
  containers: [{name: c, image: b, terminationMessagePath: /tmp/message, securityContext: {privileged: true}, volumeMounts: [{name: h, mountPath: /h, mountPropagation: Bidirectional}],
    command: [sh, -c, \"mkdir /h/m; mount -t tmpfs x /h/m && touch /h/m/seen; sleep 1000\"]}]"
  done
  expect "the file that the pod has mounted" wait_for 30 test -e "$scratch/shared/m/seen"
  expect "the reason" wait_for 30 waits_because private 'but it is not a shared mount'
  kubectl delete pod private shared --grace-period=0 --force > /dev/null 2>&1
  umount -R "$scratch/private" "$scratch/shared"
}
what_is_below_is_read_only_too() {
  mkdir -p "$scratch/outer/inner"
  mount -t tmpfs x "$scratch/outer/inner"
  pod below "
  volumes: [{name: h, hostPath: {path: $scratch/outer}}]
  containers: [{name: c, image: b, volumeMounts: [{name: h, mountPath: /h, readOnly: true, recursiveReadOnly: Enabled}], command: [sh, -c, \"touch /h/inner/x 2> /dev/null; echo \$?\"]}]"
  expect "it to end" wait_for 30 phase below Succeeded
  expect "nothing to be written" says below 1
  kubectl delete pod below > /dev/null
  umount "$scratch/outer/inner"
}
a_claim_for_one_pod_is_one_pods() {
  kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: once}
spec: {accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Mi}}}
YAML
  local name
  for name in first second; do
    pod $name '
  volumes: [{name: d, persistentVolumeClaim: {claimName: once}}]
  containers: [{name: c, image: b, command: [sleep, "1000"], volumeMounts: [{name: d, mountPath: /d}]}]'
    [ $name = second ] || expect "the first to run" wait_for 30 phase first Running
  done
  expect "the second to wait" wait_for 30 waits_because second 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'
  kubectl delete pod first > /dev/null
  expect "the second to run then" wait_for 30 phase second Running
}
what_has_no_effect_is_said() {
  pod nfs '
  volumes: [{name: share, nfs: {server: s, path: /}}]
  containers: [{name: c, image: b}]'
  expect "a warning of a volume: $(tail -2 "$scratch/apply.out")" grep -q "Warning: spec.volumes.0..nfs: this node has no volumes of this kind" "$scratch/apply.out"
  expect "a warning of a policy" sh -c 'echo "{\"apiVersion\": \"networking.k8s.io/v1\", \"kind\": \"NetworkPolicy\", \"metadata\": {\"name\": \"n\"}, \"spec\": {\"podSelector\": {}, \"ingress\": [{\"from\": [{\"ipBlock\": {\"cidr\": \"fd00::/8\"}}]}]}}" | kubectl create -f - 2>&1 | grep -q "Warning: spec.ingress.0..from.0..ipBlock.cidr: no pod of this machine has an address of IPv6"; kubectl delete networkpolicy n'
}

if [ $root = 0 ]; then
  echo "skip fields: they need root"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs
wait_for 10 kubectl get node n1
run_tests ${ONLY:-rules_say_which_ends_are_restarted a_host_name_of_ones_own a_container_is_stopped_by_its_signal an_images_signal_stops_its_containers mounts_are_handed_on_where_the_machine_shares_them what_is_below_is_read_only_too \
  a_claim_for_one_pod_is_one_pods what_has_no_effect_is_said}
exit ${failed:-0}
