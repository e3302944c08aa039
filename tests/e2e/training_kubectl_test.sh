#!/usr/bin/env bash
# kubectl about training jobs: columns and watches, scales, describe, explain; with each kubectl at hand that is new enough.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/e2e/training_lib.sh

# Kind, its map of replicas, its key container, and whether workers can be scaled (spec/training 1, 2.1).
kinds="PyTorchJob pytorchReplicaSpecs pytorch yes
TFJob tfReplicaSpecs tensorflow no
MPIJob mpiReplicaSpecs mpi no
XGBoostJob xgbReplicaSpecs xgboost no
PaddleJob paddleReplicaSpecs paddle yes
JAXJob jaxReplicaSpecs jax yes"
each_kind() { # each_kind FUNCTION: with kind, word, map, container and scales set
  local kind map container scales word
  while read -r kind map container scales; do
    word=$(tr '[:upper:]' '[:lower:]' <<< "$kind")
    $1 < /dev/null
  done <<< "$kinds"
}
has_lines() { # has_lines FILE REGEX...: each is a line of it
  local file=$1 regex
  shift
  for regex in "$@"; do
    grep -qE -- "$regex" "$file" || { echo "no line '$regex' in:"; cat "$file"; return 1; }
  done
}
squeezed() { "$@" 2>&1 | tr -s '\t ' ' ' | sed 's/^ //; s/ $//' > "$scratch/said"; }

a_suspended_job() {
  local first=""
  case $kind in MPIJob) first=Launcher ;; XGBoostJob) first=Master ;; esac
  { [ -z "$first" ] || replica $first 1 Never "$container" true; replica Worker 2 Never "$container" true; } |
    job "$kind" "still-$word" "$map" '  runPolicy: {suspend: true}' | $kubectl apply -f - > /dev/null
}
shows_its_columns() {
  expect "$kind: suspended" wait_for 10 state_is "$word" "still-$word" Suspended
  local head='^NAME STATE AGE$' row="^still-$word Suspended [0-9a-z]+\$"
  [ $kind = MPIJob ] && head='^NAME AGE STATE$' row="^still-$word [0-9a-z]+ Suspended\$"
  squeezed $kubectl get "$word"
  expect "$kind: columns" has_lines "$scratch/said" "$head" "$row"
  squeezed $kubectl get "${word}s.kubeflow.org" -o wide
  expect "$kind: columns of the plural" has_lines "$scratch/said" "$head"
}
is_described() {
  wait_for 5 event_is "$kind/still-$word ${kind}Suspended"
  squeezed $kubectl describe "$word" "still-$word"
  expect "$kind: describe" has_lines "$scratch/said" "^Name: still-$word\$" '^API Version: kubeflow.org/v1$' "^Kind: $kind\$" '^Suspend: true$' "^Message: $kind still-$word is suspended\\.\$" "^Reason: ${kind}Suspended\$" \
    '^Type: Suspended$' "^Normal ${kind}Suspended .* $kind still-$word is suspended\\.\$"
}
is_explained() {
  squeezed $kubectl explain "$word.spec"
  expect "$kind: explain spec" has_lines "$scratch/said" "^KIND: $kind\$" '^VERSION: (kubeflow.org/)?v1$' "^$map <map\\[string\\](Object|ReplicaSpec)> -required-\$" '^runPolicy <(Object|RunPolicy)>$'
  squeezed $kubectl explain "$word.spec.runPolicy"
  expect "$kind: explain its run policy" has_lines "$scratch/said" '^activeDeadlineSeconds <integer>$' '^backoffLimit <integer>$' '^cleanPodPolicy <string>$' '^managedBy <string>$' '^schedulingPolicy <(Object|SchedulingPolicy)>$' \
    '^suspend <boolean>$' '^ttlSecondsAfterFinished <integer>$'
  squeezed $kubectl explain "$word.spec.$map.template.spec.containers.image"
  expect "$kind: explain down to the image" has_lines "$scratch/said" '<string>'
}
is_scaled_or_not() {
  if [ "$scales" = yes ]; then
    expect "$kind: scale" $kubectl scale "$word/still-$word" --replicas 5
    expect "$kind: workers" field_is "$word" "still-$word" ".spec.$map.Worker.replicas" 5
    expect "$kind: not from 2" refused 'Expected replicas to be 2, was 5' $kubectl scale "$word/still-$word" --current-replicas 2 --replicas 1
    expect "$kind: not below zero" refused 'replicas' $kubectl scale "$word/still-$word" --replicas -1
  else
    expect "$kind: has no scale" refused 'could not find the requested resource' $kubectl scale "$word/still-$word" --replicas 5
  fi
}
what_each_kind_shows() {
  each_kind a_suspended_job
  each_kind shows_its_columns
  each_kind is_described
}
what_each_kind_is() {
  each_kind is_explained
  local more
  squeezed $kubectl explain pytorchjob.spec.elasticPolicy
  expect "PyTorchJob: explain its elastic policy" has_lines "$scratch/said" '^maxReplicas <integer>$' '^minReplicas <integer>$' '^rdzvBackend <string>$' '^rdzvConf <\[\]' '^metrics <\[\]'
  for more in 'pytorchjob nprocPerNode <string>' 'tfjob successPolicy <string>' 'tfjob enableDynamicWorker <boolean>' 'mpijob slotsPerWorker <integer>' 'mpijob mainContainer <string>'; do
    squeezed $kubectl explain "${more%% *}.spec"
    expect "$more" has_lines "$scratch/said" "^${more#* }\$"
  done
}
workers_are_scaled() {
  each_kind is_scaled_or_not
  $kubectl delete pytorchjobs,tfjobs,mpijobs,xgboostjobs,paddlejobs,jaxjobs --all --wait=false > /dev/null
}
a_watch_shows_each_state() {
  $kubectl get pytorchjobs -w > "$scratch/watch" 2>&1 &
  local watch=$!
  replica Worker 2 Never pytorch 'sleep 1' | job PyTorchJob seen pytorchReplicaSpecs | $kubectl apply -f - > /dev/null
  expect "succeeds" wait_for 40 state_is pytorchjob seen Succeeded
  expect "is shown" wait_for 10 grep -q Succeeded "$scratch/watch"
  kill $watch
  wait $watch 2> /dev/null
  tr -s ' ' < "$scratch/watch" | sed 's/ $//' > "$scratch/said"
  expect "columns" has_lines "$scratch/said" '^NAME STATE AGE$'
  # The first row comes before anybody has looked at the job.
  expect "each state, in order" [ "$(awk 'NR > 1 && NF == 3 && $2 != last { last = $2; text = text " " last } END { print text }' "$scratch/said")" = " Created Running Succeeded" ]
  $kubectl delete pytorchjob seen --wait=false > /dev/null
}
elastic_jobs_have_autoscalers() {
  local metrics='[{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1000m}}}]'
  replica Worker 1 Never pytorch 'sleep 100' |
    job PyTorchJob elastic pytorchReplicaSpecs "  elasticPolicy: {minReplicas: 1, maxReplicas: 2, metrics: $metrics}" | $kubectl apply -f - > /dev/null
  expect "an autoscaler of its name" wait_for 20 field_is hpa elastic .spec.scaleTargetRef.kind PyTorchJob
  expect "its bounds" field_is hpa elastic .spec.maxReplicas 2
  $kubectl delete pytorchjob elastic > /dev/null
  expect "it to go with the job" wait_for 20 refused 'not found' $kubectl get hpa elastic
}

start_cluster --host-rootfs || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
for kubectl in kubectl "${STOCK_DIR:-$HOME/.cache/stock-kubernetes}/bin/kubectl"; do
  minor=$($kubectl version --client 2> /dev/null | sed -nE 's/.*(GitVersion:"|Client Version: )v1\.([0-9]+).*/\2/p')
  [ "${minor:-0}" -ge 24 ] || continue
  echo "kubectl 1.$minor"
  run_tests what_each_kind_shows what_each_kind_is workers_are_scaled a_watch_shows_each_state elastic_jobs_have_autoscalers
  tried=1
done
[ -n "${tried:-}" ] || echo "skip training_kubectl: no kubectl of 1.24 or newer"
