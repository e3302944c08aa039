#!/usr/bin/env bash
# JobSet's controller (sigs.k8s.io/jobset), unchanged, against `volcano up`: its webhooks, Jobs, names, restarts, suspension.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
stock=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
[ -x "$stock/bin/jobset" ] && [ -d "$stock/jobset" ] || { echo "skip outside jobset: it is not built (tests/stock/build.sh jobset)"; exit 0; }
. tests/outside/operator_lib.sh

job() { # job NAME REPLICAS PODS COMMAND [more of the pod]
  cat <<YAML
  - name: $1
    replicas: $2
    template:
      spec:
        parallelism: $3
        completions: $3
        backoffLimit: 0
        template: {spec: {${5:-}restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: main, image: i, command: [sh, -c, "$4"], resources: {requests: {cpu: 10m}}}]}}
YAML
}
ends() { [ "$(kubectl get jobset "$1" -o "jsonpath={.status.terminalState}")" = "$2" ]; }

its_controller_starts() {
  make_keys
  expect "its definition to be taken" kubectl create -f "$stock/jobset/crd/bases/jobset.x-k8s.io_jobsets.yaml"
  { printf 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n'; settings "certDir: $scratch/certs, "; } > "$scratch/jobset.yaml"
  expect "it to answer" start_operator "$stock/bin/jobset" --config "$scratch/jobset.yaml"
  expect "its webhooks to be taken" webhooks jobset "$stock/jobset/webhook/manifests.yaml" jobset.sigs.k8s.io/jobset-name
}
a_set_runs_to_its_end() {
  { printf 'apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: plain}\nspec:\n  replicatedJobs:\n'; job leader 1 1 'exit 0'; job workers 2 2 'exit 0'; } | apply
  expect "the defaults of its webhook" field_is jobset plain .spec.successPolicy.operator All
  expect "three Jobs" wait_for 20 sh -c '[ "$(kubectl get jobs -o name | grep -c job.batch/plain-)" = 3 ]'
  expect "its Service" wait_for 10 kubectl get service plain
  expect "its end" wait_for 60 ends plain Completed
}
pods_find_each_other_by_name() {
  { printf 'apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: names}\nspec:\n  replicatedJobs:\n'
    job leader 1 1 'sleep 1000'
    job worker 1 1 'for i in $(seq 100); do getent hosts names-leader-0-0.names && exit 0; sleep 0.2; done; exit 1'
    printf '  successPolicy: {operator: Any, targetReplicatedJobs: [worker]}\n'; } | apply
  expect "a worker to find its leader" wait_for 60 ends names Completed
}
failures_restart_the_set() {
  { printf 'apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: fails}\nspec:\n  failurePolicy: {maxRestarts: 1}\n  replicatedJobs:\n'; job workers 1 1 'exit 1'; } | apply
  expect "its end after a restart" wait_for 60 ends fails Failed
  expect "one restart" field_is jobset fails .status.restarts 1
}
a_set_rests_and_goes_on() {
  { printf 'apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: rests}\nspec:\n  suspend: true\n  replicatedJobs:\n'; job workers 1 2 'exit 0'; } | apply
  expect "a Job that rests" wait_for 20 field_is job rests-workers-0 .spec.suspend true
  expect "no pod of it" [ -z "$(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=rests -o name)" ]
  kubectl patch jobset rests --type merge -p '{"spec": {"suspend": false}}' > /dev/null
  expect "its end" wait_for 60 ends rests Completed
}
its_pods_are_placed_by_our_scheduler() {
  { printf 'apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: ours}\nspec:\n  replicatedJobs:\n'; job workers 1 2 'exit 0' 'schedulerName: volcano, '; } | apply
  expect "its end" wait_for 60 ends ours Completed
}
mistakes_are_refused_by_its_webhook() {
  expect "a replicated job that depends on none" refused 'admission webhook "vjobset.kb.io" denied the request' kubectl apply --validate=false -f - <<YAML
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: $(printf 'x%.0s' $(seq 60))}
spec:
  replicatedJobs:
$(job workers 1 1 'exit 0')
YAML
}
what_it_made_goes_with_it() {
  kubectl delete jobset --all --wait > /dev/null
  expect "no Job" wait_for 30 sh -c '[ -z "$(kubectl get jobs -o name)" ]'
  expect "no Service of its own" wait_for 30 sh -c '! kubectl get service plain'
}

if [ $root = 0 ]; then
  echo "skip outside jobset: pods have names of their own with root alone"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc
run_tests its_controller_starts a_set_runs_to_its_end pods_find_each_other_by_name failures_restart_the_set a_set_rests_and_goes_on its_pods_are_placed_by_our_scheduler mistakes_are_refused_by_its_webhook what_it_made_goes_with_it
exit "${failed:-0}"
