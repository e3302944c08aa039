#!/usr/bin/env bash
# The API server as stock kubectl meets it.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

creates_gets_and_deletes() {
  expect "create" kubectl create configmap a --from-literal=k=v
  expect "jsonpath" field_is configmap a .data.k v
  expect "yaml" sh -c 'kubectl get configmap a -o yaml | grep -q "k: v"'
  expect "json" sh -c 'kubectl get configmap a -o json | grep -q "\"k\": \"v\""'
  expect "wide" sh -c 'kubectl get configmap a -o wide | grep -q AGE'
  expect "describe" sh -c 'kubectl describe configmap a | grep -q Data'
  expect "label" kubectl label configmap a tier=one
  expect "selector" sh -c '[ "$(kubectl get configmap -l tier=one -o name)" = configmap/a ]'
  expect "delete" kubectl delete configmap a
  expect "gone" sh -c '! kubectl get configmap a'
}
applies_and_patches() {
  expect "apply" kubectl apply -f examples/manifests/queue-test.yaml
  expect "the number keeps its form" sh -c 'kubectl get queue test -o json | grep -q "\"cpu\": 2"'
  expect "apply again" sh -c 'kubectl apply -f examples/manifests/queue-test.yaml | grep -q unchanged'
  expect "merge patch" kubectl patch queue test --type=merge -p '{"spec":{"weight":3}}'
  expect "json patch" kubectl patch queue test --type=json -p '[{"op":"replace","path":"/spec/weight","value":4}]'
  expect "weight" field_is queue test .spec.weight 4
  expect "generation counts spec changes" sh -c '[ "$(kubectl get queue test -o "jsonpath={.metadata.generation}")" -ge 3 ]'
  expect "server-side apply" sh -c 'printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {k: v}\n" | kubectl apply --server-side -f -'
  expect "a conflict names the manager" sh -c 'printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {k: w}\n" | kubectl apply --server-side --field-manager=b -f - 2>&1 | grep -q "conflict with \"kubectl\": .data.k"'
  expect "strategic merge" sh -c 'kubectl run p --image=x --restart=Never && kubectl patch pod p -p "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"'
  expect "replace" sh -c 'printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {k: x}\n" | kubectl replace -f -'
  expect "replaced" field_is configmap ssa .data.k x
}
refuses_bad_input() {
  expect "a broken manifest" sh -c 'echo "a: [" | kubectl apply -f - 2>&1 | grep -qi "error"'
  local level
  for level in Strict Warn; do
    api_request "/api/v1/namespaces/default/configmaps?fieldValidation=$level" -i -H 'Content-Type: application/yaml' \
      --data-binary $'metadata: {name: u}\nfoo: 1\n' > "$scratch/$level"
  done
  expect "an unknown field is refused by Strict" grep -q '"message":.*unknown field ..foo' "$scratch/Strict"
  expect "nothing was made by Strict" grep -q '^HTTP/[0-9.]* 400' "$scratch/Strict"
  expect "an unknown field warns by Warn" grep -qi '^warning: 299 - "unknown field .*foo' "$scratch/Warn"
  expect "it was pruned" sh -c '! kubectl get configmap u -o json | grep -q foo'
  expect "a job in an unknown queue" sh -c 'sed "s/queue: test/queue: nowhere/" examples/manifests/job-1.yaml | kubectl create -f - 2>&1 | grep -q "unable to find job queue"'
  expect "nothing was made" sh -c '! kubectl get vcjob job-1'
}
lists_what_it_serves() {
  expect "api-resources" sh -c 'kubectl api-resources | grep -q "podgroups.*pg,podgroup-v1beta1"'
  expect "explain" sh -c 'kubectl explain queue.spec.weight | grep -qi share'
  expect "columns of queues" sh -c 'kubectl get queue | head -1 | grep -qE "^NAME +PARENT +AGE"'
  kubectl create configmap listed > /dev/null
  timeout 20 kubectl get configmap -w -o name > "$scratch/watch" &
  expect "a watch begins with the list" wait_for 10 grep listed "$scratch/watch"
  kubectl create configmap watched > /dev/null
  expect "watch" wait_for 10 grep watched "$scratch/watch"
  kill $! 2> /dev/null
  # kubectl 1.20 calls it an error to wait for the end of what has ended before it began to.
  expect "wait" sh -c 'kubectl create configmap w; { kubectl wait --for=delete configmap/w --timeout=10s 2>&1 || echo failed; } > '"$scratch"'/wait &
    kubectl delete configmap w; wait; ! grep failed '"$scratch"'/wait || grep "no matching resources" '"$scratch"'/wait'
}
lets_nobody_else_in() {
  local server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
  expect "mode 0600" sh -c "[ \"\$(stat -c %a $KUBECONFIG)\" = 600 ]"
  expect "no certificate: 401" sh -c "[ \"\$(curl -sk -o /dev/null -w '%{http_code}' $server/api/v1/namespaces)\" = 401 ]"
  expect "a wrong token: 401" sh -c "[ \"\$(curl -sk -H 'Authorization: Bearer x' -o /dev/null -w '%{http_code}' $server/api/v1/namespaces)\" = 401 ]"
  expect "the token" sh -c "[ $(api_request /api/v1/namespaces -o /dev/null -w '%{http_code}') = 200 ]"
  expect "a second up on the same data is refused by name" sh -c "$volcano up --data $scratch/data --port 0 2>&1 | grep -q '$scratch/data.*in use'"
  local port=${server##*:}
  expect "a used port is refused by name" sh -c "$volcano up --data $scratch/other --port $port 2>&1 | grep -q '127.0.0.1:$port'"
}
history_survives_a_kill() {
  kubectl create configmap before > /dev/null
  local revision=$(field configmap before .metadata.resourceVersion)
  kubectl create configmap after > /dev/null
  kill_cluster
  start_cluster
  expect "the objects are there" kubectl get configmap before after
  expect "a watch resumes from before the kill" sh -c "timeout 3 kubectl get --raw '/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=$revision' > $scratch/resumed; grep -q '\"name\":\"after\"' $scratch/resumed"
  expect "a watch from a revision of the far future waits or is refused, not answered wrongly" sh -c "! timeout 2 kubectl get --raw '/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=999999999' | grep -q ADDED"
}
a_full_disk_refuses_and_loses_nothing() {
  if [ $root = 0 ]; then
    skipped="mounting a small disk needs root"
    return
  fi
  stop_cluster
  mkdir -p "$scratch/small"
  mount -t tmpfs -o size=24m tmpfs "$scratch/small"
  "$volcano" up --data "$scratch/small/data" --kubeconfig "$KUBECONFIG" --port 0 --runtime process --host-rootfs >> "$scratch/up.log" 2>&1 &
  cluster=$!
  expect "starts on the small disk" wait_for 20 kubectl get --raw /readyz
  head -c 900000 /dev/zero | tr '\0' x > "$scratch/big"
  local made=0 i
  for i in $(seq 60); do
    kubectl create configmap "big-$i" --from-file="$scratch/big" > "$scratch/full.out" 2>&1 || break
    made=$i
  done
  expect "some fit" test "$made" -gt 2
  expect "the disk is named" grep -qE "cannot (write|commit) to the database $scratch/small/data/objects: (No space left|.*full)" "$scratch/full.out"
  expect "what was acknowledged is there" sh -c "[ \$(kubectl get configmap -o name | grep -c big-) = $made ]"
  kubectl get --raw /version > /dev/null
  kill_cluster
  "$volcano" up --data "$scratch/small/data" --kubeconfig "$KUBECONFIG" --port 0 --runtime process --host-rootfs >> "$scratch/up.log" 2>&1 &
  cluster=$!
  wait_for 20 kubectl get ns default
  expect "and after a kill" sh -c "[ \$(kubectl get configmap -o name | grep -c big-) = $made ]"
  stop_cluster
  umount "$scratch/small"
}

the_scheduler_is_configured_and_dumped() {
  expect "the built-in configuration" sh -c 'kubectl get --raw /debug/config | grep -q overcommit'
  printf 'actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n' > "$scratch/scheduler.conf"
  expect "a new file is taken" wait_for 10 sh -c '! kubectl get --raw /debug/config | grep -q overcommit'
  printf 'actions: "dance"\n' > "$scratch/scheduler.conf"
  expect "a broken one is refused by name" wait_for 10 sh -c 'kubectl get --raw /debug/config | grep -q "failed to find Action dance"'
  expect "and the last one stays" sh -c 'kubectl get --raw /debug/config | grep -q predicates'
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: waits}\nspec: {schedulerName: volcano, containers: [{name: c, image: x, resources: {requests: {cpu: "100000"}}}]}\n' |
    kubectl create -f - > /dev/null
  expect "it waits" wait_for 10 sh -c 'kubectl get --raw /debug/waiting | grep -q default/podgroup-'
  kill -USR1 "$cluster"
  expect "SIGUSR1 writes a dump" wait_for 10 sh -c "ls $scratch/snapshot-*.json"
  expect "nobody else may read it" sh -c "[ \"\$(stat -c %a $scratch/snapshot-*.json)\" = 600 ]"
  expect "from which the same is decided" sh -c "$volcano schedule --as-is -o json $scratch/snapshot-*.json 2> /dev/null | grep -q 'Insufficient cpu'"
  expect "with the configuration in use" sh -c "grep -c 'configuration.*predicates' $scratch/snapshot-*.json"
  kill -USR2 "$cluster"
  expect "SIGUSR2 logs it for people" wait_for 10 grep -q 'group default/podgroup-.*1 pending' "$scratch/up.log"
}

start_cluster --scheduler-conf "$scratch/scheduler.conf" --cache-dump-dir "$scratch" || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
run_tests creates_gets_and_deletes applies_and_patches refuses_bad_input lists_what_it_serves lets_nobody_else_in the_scheduler_is_configured_and_dumped history_survives_a_kill a_full_disk_refuses_and_loses_nothing
