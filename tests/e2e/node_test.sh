#!/usr/bin/env bash
# Pods on this machine, with stock kubectl: what a container sees, how it ends, what survives a kill, what a stop leaves.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

apply() { kubectl apply --validate=false -f - > "$scratch/apply.out" 2>&1; }
state_of() { field pod "$1" ".status.containerStatuses[0].state.$2"; } # state_of POD PATH
# What is searched is read whole first: with pipefail, a grep that stops at its first hit can make the writer before it fail.
log_has() {
  local text
  text=$(kubectl logs "$1" ${3:+-c "$3"} 2> /dev/null)
  grep -qF -- "$2" <<< "$text"
}
event_has() {
  local text
  text=$(kubectl get events -o 'jsonpath={range .items[*]}{.involvedObject.name} {.reason} {.message}{"\n"}{end}' 2> /dev/null)
  text=$(grep -F "$1" <<< "$text")
  grep -qF -- "$2" <<< "$text"
}
pod() { # pod NAME COMMAND [more fields of the container] [more fields of the spec]
  apply <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 1
  restartPolicy: Never
  containers: [{name: main, image: some/image, command: [sh, -c, '$2'] ${3:+, $3}}]
  ${4:-}
YAML
}

plain_process_runs_and_ends() {
  pod plain 'echo out; echo err >&2; exit 3'
  expect "the pod to fail" wait_for 10 field_is pod plain .status.phase Failed
  expect "exit code 3" field_is pod plain '.status.containerStatuses[0].state.terminated.exitCode' 3
  expect "both streams in the log" log_has plain err
}
plain_process_without_program_says_so() {
  apply <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: noprog}
spec: {nodeName: n1, restartPolicy: Never, containers: [{name: main, image: i, command: [no-such-program]}]}
YAML
  expect "StartError" wait_for 10 field_is pod noprog '.status.containerStatuses[0].state.terminated.reason' StartError
  expect "the reason" sh -c 'kubectl get pod noprog -o yaml | grep -q "executable file not found in .PATH"'
}
plain_process_refuses_volumes() {
  pod vol 'true' 'volumeMounts: [{name: v, mountPath: /v}]' 'volumes: [{name: v, emptyDir: {}}]'
  expect "a refusal" wait_for 10 field_is pod vol .status.reason UnsupportedByNode
  expect "the volume's name in the message" sh -c 'kubectl get pod vol -o "jsonpath={.status.message}" | grep -q "volume v"'
}
plain_process_survives_kill_9() {
  pod loop 'i=0; while true; do echo line $i; i=$((i+1)); sleep 0.2; done'
  expect "it to run" wait_for 10 field_is pod loop .status.phase Running
  kill_cluster
  local before
  before=$(cat "$scratch"/data/node/pods/*/logs/main/0.log | wc -l)
  more_output() { [ "$(cat "$scratch"/data/node/pods/*/logs/main/0.log | wc -l)" -gt "$before" ]; }
  expect "output to go on without us" wait_for 5 more_output
  start_cluster --node-name n1 --host-rootfs --runtime process
  expect "it to be found running" wait_for 10 field_is pod loop .status.phase Running
  expect "no restart" field_is pod loop '.status.containerStatuses[0].restartCount' 0
  expect "its deletion" timeout 10 kubectl delete pod loop
}
plain_processes_leave_nothing() {
  pod stay 'sleep 1234.5 & (setsid sleep 1234.5 &) ; wait'
  expect "it to run" wait_for 10 field_is pod stay .status.phase Running
  stop_cluster
  expect "no process left" sh -c '! pgrep -f "[s]leep 1234.5"'
}

container_sees_what_the_pod_says() {
  kubectl create configmap cm --from-literal=a=1 --from-literal=b=two > /dev/null
  kubectl create secret generic sec --from-literal=pw=hush > /dev/null
  apply <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: svc}
spec: {clusterIP: None, selector: {app: sees}}
---
apiVersion: v1
kind: Pod
metadata: {name: sees, labels: {app: sees}}
spec:
  nodeName: n1
  hostname: sees
  subdomain: svc
  terminationGracePeriodSeconds: 1
  initContainers:
  - {name: first, image: i, command: [sh, -c, "echo from-init > /shared/f"], volumeMounts: [{name: shared, mountPath: /shared}]}
  containers:
  - name: main
    image: i
    command:
    - sh
    - -c
    - |
      echo "env $(MY_IP) $(CPU) $P_a"; echo "host $(hostname)"; cat /shared/f; cat /cm/sub/a; echo; stat -L -c 'mode %a' /sec/pw; cat /dw/labels; echo
      until getent hosts svc > /dev/null; do sleep 0.1; done
      echo "service $(getent hosts svc | cut -d' ' -f1)"; echo "name $(getent hosts sees.svc | cut -d' ' -f1)"
      echo "pid $$$$"; cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null
      echo ready; sleep 1000
    env:
    - {name: MY_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}
    envFrom: [{prefix: P_, configMapRef: {name: cm}}]
    resources: {limits: {cpu: 500m, memory: 64Mi}}
    volumeMounts:
    - {name: shared, mountPath: /shared}
    - {name: cm, mountPath: /cm}
    - {name: sec, mountPath: /sec}
    - {name: dw, mountPath: /dw}
  volumes:
  - {name: shared, emptyDir: {}}
  - {name: cm, configMap: {name: cm, items: [{key: a, path: sub/a}]}}
  - {name: sec, secret: {secretName: sec, defaultMode: 0600}}
  - {name: dw, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
YAML
  expect "it to run" wait_for 15 log_has sees ready
  local ip
  ip=$(field pod sees .status.podIP)
  for line in "env $ip 500 1" "host sees" from-init "mode 600" 'app="sees"' "service $ip" "name $ip" "pid 1" 67108864; do
    expect "the log to have: $line" log_has sees "$line"
  done
  kubectl patch configmap cm --type merge -p '{"data":{"a":"changed"}}' > /dev/null
  expect "the changed ConfigMap in the volume" wait_for 5 sh -c "grep -q changed $scratch/data/node/pods/*/volumes/cm/sub/a"
}
exit_codes_and_reasons() {
  pod oom 'x=x; while true; do x=$x$x; done' 'resources: {limits: {memory: 32Mi}}'
  pod message 'echo because > /dev/termination-log; exit 5'
  pod signalled 'kill -TERM $$; sleep 9; exit 1'
  expect "OOMKilled" wait_for 20 sh -c '[ "$(kubectl get pod oom -o "jsonpath={.status.containerStatuses[0].state.terminated.reason}")" = OOMKilled ]'
  expect "nothing is left where we run" sh -c '! [ -e oom ]'
  expect "exit code 5" wait_for 10 field_is pod message '.status.containerStatuses[0].state.terminated.exitCode' 5
  expect "its message" sh -c 'kubectl get pod message -o "jsonpath={.status.containerStatuses[0].state.terminated.message}" | grep -q because'
}
restarts_back_off() {
  apply <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: crash}
spec: {nodeName: n1, containers: [{name: main, image: i, command: [sh, -c, "echo try; exit 1"]}]}
YAML
  expect "CrashLoopBackOff" wait_for 10 field_is pod crash '.status.containerStatuses[0].state.waiting.reason' CrashLoopBackOff
  expect "the exit code in lastState" field_is pod crash '.status.containerStatuses[0].lastState.terminated.exitCode' 1
  expect "the log of the attempt before" sh -c 'kubectl logs crash --previous | grep -q try'
  expect "a BackOff event" event_has crash "Back-off restarting failed container main in pod crash_default("
  expect "its deletion" timeout 10 kubectl delete pod crash
}
logs_take_options() {
  pod talk 'for i in 1 2 3 4 5; do echo line $i; done; until [ -e /dev/shm/go ]; do sleep 0.1; done; echo late'
  expect "it to talk" wait_for 10 log_has talk "line 5"
  expect "--tail" [ "$(kubectl logs talk --tail=2 | head -1)" = "line 4" ]
  expect "--limit-bytes" [ "$(kubectl logs talk --limit-bytes=9)" = "$(printf 'line 1\nli')" ]
  expect "--timestamps" sh -c 'kubectl logs talk --timestamps | head -1 | grep -qE "^20[0-9-]+T[0-9:.]+Z line 1$"'
  expect "a word to it" kubectl exec talk -- touch /dev/shm/go
  expect "-f to follow to the end" bash -c 'timeout 10 kubectl logs -f talk | tail -1 | grep -q late'
  expect "--since" wait_for 10 sh -c 'out=$(kubectl logs talk --since=1s) && [ -z "$out" ]'
  expect "--since of all time" sh -c 'kubectl logs talk --since=1h | grep -qx "line 5"'
}
who_fills_the_disk_is_evicted() {
  pod fills 'head -c 3M /dev/zero > /v/full; sleep 1000' 'volumeMounts: [{name: v, mountPath: /v}]' 'volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]'
  pod grows 'head -c 3M /dev/zero > /grown; sleep 1000' 'resources: {limits: {ephemeral-storage: 1Mi}}'
  pod keeps 'head -c 500K /dev/zero > /v/some; head -c 3M /dev/zero > /grown; sleep 1000' 'volumeMounts: [{name: v, mountPath: /v}]' 'volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]'
  expect "the volume's limit" wait_for 40 field_is pod fills .status.reason Evicted
  expect "its name in the message" [ "$(field pod fills .status.message)" = 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ' ]
  expect "failed" field_is pod fills .status.phase Failed
  expect "the condition" field_is pod fills '.status.conditions[?(@.type=="DisruptionTarget")].reason' TerminationByKubelet
  expect "an event" event_has fills 'Evicted Usage of EmptyDir volume "v" exceeds the limit "1Mi".'
  expect "the container's limit" wait_for 40 field_is pod grows .status.reason Evicted
  expect "who keeps its limit to run" field_is pod keeps .status.phase Running
  kubectl delete pod fills grows keeps --wait=false > /dev/null
}
missing_images_and_references_are_named() {
  apply <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: missing}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  containers:
  - {name: a, image: "127.0.0.1:1/none:1", command: ["true"]}
  - {name: b, image: "127.0.0.1:1/none:1", imagePullPolicy: Never, command: ["true"]}
YAML
  expect "ImagePullBackOff" wait_for 15 field_is pod missing '.status.containerStatuses[0].state.waiting.reason' ImagePullBackOff
  expect "ErrImageNeverPull" field_is pod missing '.status.containerStatuses[1].state.waiting.reason' ErrImageNeverPull
  expect "an event that names what was tried" event_has missing "127.0.0.1:1/none:1"
  expect "its deletion" timeout 10 kubectl delete pod missing
}
images_come_from_a_registry_and_from_files() {
  command -v docker-registry > /dev/null && command -v umoci > /dev/null || { skipped="docker-registry or umoci is not installed"; return; }
  local port registry kind file
  port=$(free_port)
  mkdir -p "$scratch/registry" "$scratch/tree/bin" "$scratch/tree/etc"
  printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' "$scratch/registry" "$port" > "$scratch/registry.yml"
  docker-registry serve "$scratch/registry.yml" > "$scratch/registry.log" 2>&1 &
  registry=$!
  for file in $(ldd /bin/dash | grep -o '/[^ ]*'); do
    mkdir -p "$scratch/tree$(dirname "$file")"
    cp -L "$file" "$scratch/tree$file"
  done
  cp /bin/dash "$scratch/tree/bin/sh"
  echo 'app:x:1234:99::/:/bin/sh' > "$scratch/tree/etc/passwd"
  (cd "$scratch" && umoci init --layout oci && umoci new --image oci:t && umoci unpack --image oci:t bundle && cp -a tree/. bundle/rootfs/ && umoci repack --image oci:t bundle &&
    umoci config --image oci:t --config.entrypoint /bin/sh --config.cmd -c --config.cmd 'echo from-image $GREETING in $PWD; read line < /proc/self/loginuid' \
      --config.env GREETING=hello --config.user app --config.workingdir /etc) > "$scratch/umoci.log" 2>&1
  wait_for 5 sh -c "curl -s http://127.0.0.1:$port/v2/ || skopeo inspect --tls-verify=false docker://127.0.0.1:$port/x 2>&1 | grep -qi unknown"
  skopeo copy --quiet --insecure-policy --dest-tls-verify=false "oci:$scratch/oci:t" "docker://127.0.0.1:$port/team/app:v1"
  skopeo copy --quiet --insecure-policy "oci:$scratch/oci:t" "oci-archive:$scratch/oci.tar:t"
  skopeo copy --quiet --insecure-policy "oci:$scratch/oci:t" "docker-archive:$scratch/docker.tar:app:t"
  tar -C "$scratch/tree" -cf "$scratch/root.tar" .
  for kind in oci docker root; do
    expect "the import of a $kind archive" "$volcano" image import --data "$scratch/data" "from-$kind" "$scratch/$kind.tar"
  done
  expect "normal names in the list" sh -c "'$volcano' image list --data '$scratch/data' | grep -q docker.io/library/from-oci:latest"
  apply <<YAML
apiVersion: v1
kind: Pod
metadata: {name: images}
spec:
  nodeName: n1
  restartPolicy: Never
  containers:
  - {name: pulled, image: "127.0.0.1:$port/team/app:v1"}
  - {name: oci, image: from-oci}
  - {name: docker, image: "docker.io/from-docker:latest"}
  - {name: root, image: from-root, command: [sh, -c, "echo bare"]}
YAML
  for kind in pulled oci docker; do expect "the output of $kind" wait_for 15 log_has images "from-image hello in /etc" $kind; done
  expect "the output of root" wait_for 10 log_has images bare root
  expect "an event of the pull" event_has images "Successfully pulled image"
  skopeo copy --quiet --insecure-policy --dest-tls-verify=false "oci:$scratch/oci:t" "docker://127.0.0.1:$port/team/closed:v1"
  kill $registry
  wait $registry 2> /dev/null
  # The same registry asks for a password.
  python3 -W ignore -c "import crypt; print('anna:' + crypt.crypt('hush', crypt.mksalt(crypt.METHOD_BLOWFISH)))" > "$scratch/htpasswd"
  printf 'auth: {htpasswd: {realm: r, path: %s}}\n' "$scratch/htpasswd" >> "$scratch/registry.yml"
  docker-registry serve "$scratch/registry.yml" > "$scratch/registry.log" 2>&1 &
  registry=$!
  kubectl create secret docker-registry keys --docker-server="127.0.0.1:$port" --docker-username=anna --docker-password=hush > /dev/null
  apply <<YAML
apiVersion: v1
kind: Pod
metadata: {name: nokeys}
spec: {nodeName: n1, restartPolicy: Never, imagePullSecrets: [{name: gone}], containers: [{name: main, image: "127.0.0.1:$port/team/closed:v1"}]}
YAML
  expect "no image without the password" wait_for 15 sh -c "kubectl get pod nokeys -o 'jsonpath={.status.containerStatuses[0].state.waiting.reason}' | grep -q Pull"
  expect "an event about the secret" event_has nokeys "Unable to retrieve some image pull secrets (gone)"
  apply <<YAML
apiVersion: v1
kind: Pod
metadata: {name: keys}
spec: {nodeName: n1, restartPolicy: Never, imagePullSecrets: [{name: keys}], containers: [{name: main, image: "127.0.0.1:$port/team/closed:v1"}]}
YAML
  expect "the image with it" wait_for 15 log_has keys "from-image hello in /etc" main
  expect "no password left on disk" sh -c "! find '$scratch/data/node/images' -name keys.json | grep -q ."
  kill $registry
}
containers_survive_kill_9() {
  kill_cluster
  start_cluster --node-name n1 --host-rootfs
  expect "the pod to be found running" wait_for 10 field_is pod sees .status.phase Running
  expect "no restart" field_is pod sees '.status.containerStatuses[0].restartCount' 0
  expect "its deletion" timeout 15 kubectl delete pod sees
}
a_stop_leaves_nothing() {
  pod last 'sleep 1000'
  expect "it to run" wait_for 10 field_is pod last .status.phase Running
  local mark
  mark=$(sed -E 's/.*"bridge":"vcbr([0-9a-f]+)".*/\1/' "$scratch/data/node/network.json")
  expect "a bridge" sh -c "ip -o link | grep -q 'vcbr$mark'"
  stop_cluster
  expect "no mounts" sh -c "! grep -q '$scratch' /proc/self/mountinfo"
  expect "no bridge" sh -c "! ip -o link | grep -q 'vcbr$mark'"
  expect "no control groups" sh -c "! find /sys/fs/cgroup -maxdepth 2 -name 'volcano-$mark' | grep -q ."
  expect "no monitors" sh -c "! pgrep -f '[c]onmon.*$scratch'"
}

start_cluster --node-name n1 --host-rootfs --runtime process
wait_for 10 kubectl get node n1
run_tests plain_process_runs_and_ends plain_process_without_program_says_so plain_process_refuses_volumes plain_process_survives_kill_9 plain_processes_leave_nothing
if [ $root = 0 ]; then
  echo "skip containers: they need root"
  exit ${failed:-0}
fi
rm -rf "$scratch/data"
start_cluster --node-name n1 --host-rootfs --runtime runc
wait_for 10 kubectl get node n1
run_tests container_sees_what_the_pod_says exit_codes_and_reasons restarts_back_off logs_take_options who_fills_the_disk_is_evicted
stop_cluster
start_cluster --node-name n1 --runtime runc
run_tests missing_images_and_references_are_named images_come_from_a_registry_and_from_files
stop_cluster
start_cluster --node-name n1 --host-rootfs --runtime runc
kubectl delete pod --all --wait=false > /dev/null 2>&1
kubectl delete configmap cm > /dev/null 2>&1
kubectl delete secret sec > /dev/null 2>&1
wait_for 10 sh -c '! kubectl get pod sees'
container_sees_what_the_pod_says
run_tests containers_survive_kill_9 a_stop_leaves_nothing
exit ${failed:-0}
