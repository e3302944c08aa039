#!/usr/bin/env bash
# An operator of a cluster does what docs/operations says, as written: the manifests, preflight, a scheduler on trial, policies,
# configurations, the data folder. The API server is our own, and the programs run beside it instead of in pods of the chart.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
repository=$PWD
docs=$PWD/docs/operations
PATH=$PWD/build/release/bin:$PATH
work=$scratch/work
programs=()
trap 'for pid in "${programs[@]}"; do kill "$pid" 2> /dev/null; done; end_of_tests' EXIT

. tests/people/pages.sh
# A program of the chart, as a process.
program() {
  (cd "$work" && exec "$@") >> "$scratch/programs.log" 2>&1 &
  programs+=($!)
}

manifests_are_applied() {
  sed -n '/^apply() {/p' "$docs/install.md" | sed 's/ *# with images.*$//; s|REGISTRY|registry.example|g; s|"deploy/|"'"$repository"'/deploy/|' > "$scratch/apply"
  expect "the function of the page" test -s "$scratch/apply"
  local name
  for name in volcano volcano-agent-scheduler training-operator kubeflow-controllers volcano-agent; do
    grep -q "^apply $name" "$docs/install.md" || expect "a line for $name" false
    [ "$name" = kubeflow-controllers ] && expect "their definitions" sh -c "volcano crd kubeflow | kubectl apply --server-side -f -"
    (. "$scratch/apply" && apply "$name") > "$scratch/said" 2>&1
    expect "apply $name" [ $? = 0 ]
    expect "apply $name without an error" sh -c "! grep -qi error '$scratch/said'"
  done
  expect "images of the registry" [ "$(field deployment/volcano-scheduler '-n=volcano-system' '.spec.template.spec.containers[0].image')" = registry.example/volcanosh/vc-scheduler:0.1.0 ]
  expect "the policies" kubectl apply -f deploy/volcano-policies.yaml
  # The webhook's program would run in a pod, and no pods run here: the policies have its rules.
  expect "the webhook's registrations" kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration --all
}
the_programs_work() {
  kubectl get configmap -n volcano-system volcano-scheduler-configmap -o 'jsonpath={.data.volcano-scheduler\.conf}' > "$work/volcano-scheduler.conf"
  expect "a configuration" test -s "$work/volcano-scheduler.conf"
  program vc-scheduler --kubeconfig "$KUBECONFIG" --scheduler-conf volcano-scheduler.conf --enable-healthz --enable-metrics --lock-object-namespace volcano-system
  program vc-controller-manager --kubeconfig "$KUBECONFIG" --lock-object-namespace volcano-system --enable-healthz --healthz-address :11252 --listen-address :8081
  expect "the scheduler to be ready" wait_for 30 play troubleshooting.md "curl localhost:11251/readyz"
  expect "queues" wait_for 30 sh -c "kubectl get queues | grep -q ^default"
  expect "leaders" wait_for 30 sh -c "[ \$(kubectl -n volcano-system get leases -o name | grep -cE 'volcano|vc-controller') -ge 2 ]"
  expect "the leases of the page" play high-availability.md "kubectl -n volcano-system get leases"
  expect "both names" said '^vc-controller-manager +'
  kubectl apply -f examples/manifests/queue-test.yaml -f examples/manifests/job-1.yaml > /dev/null
  expect "job-1 in the queue" wait_for 30 sh -c "kubectl get podgroup | grep -q job-1"
  expect "measures" wait_for 30 sh -c "curl -s localhost:8080/metrics | grep -q '^volcano_e2e'"
}
preflight_says_what_is_there() {
  local page
  for page in from-volcano.md upgrade.md; do
    play $page "volcano preflight --kubeconfig admin.kubeconfig"
    expect "preflight of $page to know the cluster" said 'Kubernetes|server'
    expect "no surprise" sh -c "! grep -qiE 'unknown flag|usage:' '$scratch/said'"
  done
  play troubleshooting.md "volcano preflight --kubeconfig admin.kubeconfig --service-accounts"
  expect "the accounts" said 'volcano-scheduler'
}
a_scheduler_on_trial() {
  cp "$KUBECONFIG" "$work/scheduler.kubeconfig"
  (cd "$work" && eval "exec $(line from-volcano.md 'vc-scheduler --dry-run')") >> "$scratch/programs.log" 2>&1 &
  programs+=($!)
  expect "its differences" wait_for 30 play from-volcano.md "curl localhost:8090/debug/differences"
  expect "none or some" said '"decisions"'
  kill "${programs[-1]}"
}
logs_have_levels() {
  expect "the level" play troubleshooting.md "curl --unix-socket /tmp/klog-socks/klog-klog.sock 'http://localhost/getlevel'"
  expect "another one" play troubleshooting.md "curl --unix-socket /tmp/klog-socks/klog-klog.sock 'http://localhost/setlevel"
}
policies_are_judged() {
  expect "validating" play policies.md "volcano policies validating | kubectl apply -f -"
  expect "mutating" play policies.md "volcano policies mutating"
  block policies.md 1 > "$work/small-jobs.yaml"
  expect "the example" kubectl apply -f "$work/small-jobs.yaml"
  kubectl create configmap limits --from-literal=pods=2 > /dev/null
  expect "a job of four pods to be refused" wait_for 20 refused "at most 2 pods here" vsub -n four --replicas 4 -- true
  kubectl delete validatingadmissionpolicybinding small-jobs > /dev/null
  expect "a job that makes no sense to be refused" refused "minAvailable" kubectl apply -f - <<< '{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "bad"}, "spec": {"minAvailable": 3, "tasks": [{"replicas": 1, "name": "t", "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]}}'
}
configurations_are_read() {
  local number
  printf '%s\n' '{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", pods: "9"}}}' --- '{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}' > "$work/small.yaml"
  for number in 1 2 3; do
    block tuning.md $number > "$work/conf-$number"
    grep -q '^actions:' "$work/conf-$number" || continue
    volcano schedule --config "$work/conf-$number" --until-idle "$work/small.yaml" > "$scratch/said" 2>&1
    expect "configuration $number to place a pod" said '^bind +default/one n1'
    expect "configuration $number without a warning" sh -c "! grep -qiE 'unknown|skipped|warn| W ' '$scratch/said'"
  done
}
the_data_folder() {
  local DATA=$scratch/data FILE=$scratch/backup NEW=$scratch/new
  export DATA FILE NEW
  sed -n 's/^\(volcano [a-z]* .*\)$/\1/p' < <(block data.md 5) | sed 's/  *#.*$//; s/ DATA/ $DATA/; s/ FILE/ $FILE/; s/ NEW/ $NEW/' > "$scratch/commands"
  expect "three commands" [ "$(wc -l < "$scratch/commands")" = 3 ]
  sed -n 1p "$scratch/commands" > "$scratch/one"
  expect "a backup" bash -euc ". '$scratch/one'"
  expect "of its owner only" [ "$(stat -c %a "$FILE")" = 600 ]
  rm "$FILE"
  sed -n 2p "$scratch/commands" > "$scratch/one"
  expect "one with keys" bash -euc ". '$scratch/one'"
  sed -n 3p "$scratch/commands" > "$scratch/one"
  expect "a restore" bash -euc ". '$scratch/one'"
  expect "a whole folder" bash -euc "$(line data.md 'volcano fsck DATA' | sed 's| DATA| $NEW|')"
}

start_cluster --components apiserver,controllers --node-name n1
mkdir -p "$work"
cp "$KUBECONFIG" "$work/admin.kubeconfig"
run_tests manifests_are_applied the_programs_work preflight_says_what_is_there a_scheduler_on_trial logs_have_levels policies_are_judged configurations_are_read the_data_folder
exit ${failed:-0}
