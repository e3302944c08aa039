#!/usr/bin/env bash
# JobSet's controller (sigs.k8s.io/jobset), unchanged, against `volcano up`: its webhooks, Jobs, names, restarts, suspension.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
stock=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
[ -x "$stock/bin/jobset" ] && [ -d "$stock/jobset" ] || { echo "skip outside jobset: it is not built (tests/stock/build.sh jobset)"; exit 0; }
port=$(free_port)
manager=""
end_of_jobset() {
  [ -n "$manager" ] && kill "$manager" 2> /dev/null
  [ "${failed:-0}" = 0 ] || tail -n 20 "$scratch/jobset.log"
  end_of_tests
}
trap end_of_jobset EXIT

apply() { kubectl apply --validate=false -f - > "$scratch/apply.out" 2>&1; }
# What the kustomization does: the addresses of the webhooks, and who is trusted there.
webhooks() {
  python3 - "$stock/jobset/webhook/manifests.yaml" "$port" "$scratch/tls.crt" <<'PY'
import base64, re, sys
text, port, bundle = open(sys.argv[1]).read(), sys.argv[2], base64.b64encode(open(sys.argv[3], "rb").read()).decode()
text = re.sub(r"name: (mutating|validating)-webhook-configuration", r"name: jobset-\1-webhook-configuration", text)
text = re.sub(r"    service:\n      name: webhook-service\n      namespace: system\n      path: (\S+)", rf"    url: https://127.0.0.1:{port}\1\n    caBundle: {bundle}", text)
# Pods of other programs are not JobSet's, as its own patch of the manifests says.
text = re.sub(r"(  name: [mv]pod\.kb\.io\n)", r"\1  objectSelector: {matchExpressions: [{key: jobset.sigs.k8s.io/jobset-name, operator: Exists}]}\n", text)
print(text)
PY
}
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
  mkdir -p "$scratch/certs"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=hooks -addext subjectAltName=IP:127.0.0.1 -keyout "$scratch/certs/tls.key" -out "$scratch/tls.crt" 2> /dev/null
  cp "$scratch/tls.crt" "$scratch/certs/tls.crt"
  expect "its definition to be taken" kubectl create -f "$stock/jobset/crd/bases/jobset.x-k8s.io_jobsets.yaml"
  kubectl create namespace jobset-system > /dev/null
  cat > "$scratch/jobset.yaml" <<YAML
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: true, resourceNamespace: jobset-system}
internalCertManagement: {enable: false}
webhook: {port: $port, host: 127.0.0.1, certDir: $scratch/certs}
metrics: {certDir: $scratch/certs, bindAddress: "127.0.0.1:0"}
health: {healthProbeBindAddress: "127.0.0.1:0"}
YAML
  "$stock/bin/jobset" --config "$scratch/jobset.yaml" > "$scratch/jobset.log" 2>&1 &
  manager=$!
  expect "it to answer" wait_for 60 curl -sk -o /dev/null "https://127.0.0.1:$port/"
  webhooks > "$scratch/webhooks.yaml"
  expect "its webhooks to be taken" kubectl apply --validate=false -f "$scratch/webhooks.yaml"
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
