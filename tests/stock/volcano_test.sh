#!/usr/bin/env bash
# Our three programs on a stock Kubernetes API server: job-1, a waiting gang, a queue's close and open.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=$PWD/build/release/bin
stock=$PWD/tests/stock
names="crds_are_accepted job_1_runs_to_completed a_gang_waits_and_starts a_queue_closes_and_opens"
if ! command -v go > /dev/null || ! go version | grep -qE 'go1\.(2[6-9]|[3-9][0-9])'; then
  for name in $names; do echo "skip $name: a stock Kubernetes is built with Go 1.26, which is not installed"; done
  exit 0
fi
. tests/e2e/lib.sh
"$stock/build.sh" > "$scratch/build.log" 2>&1 || { tail -5 "$scratch/build.log"; echo "FAIL build of the stock Kubernetes"; exit 1; }
"$stock/down.sh"
"$stock/up.sh" > "$scratch/stock.log" 2>&1 || { tail -5 "$scratch/stock.log"; echo "FAIL start of the stock Kubernetes"; exit 1; }
export KUBECONFIG=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}/kubeconfig
programs=""
end_of_stock() {
  kill $programs 2> /dev/null
  wait $programs 2> /dev/null
  "$stock/down.sh"
  end_of_tests
}
trap end_of_stock EXIT

crds_are_accepted() {
  expect "applied" sh -c "$bin/volcano crd | kubectl apply --server-side -f -"
  for crd in jobs.batch.volcano.sh commands.bus.volcano.sh podgroups.scheduling.volcano.sh queues.scheduling.volcano.sh; do
    expect "$crd established" kubectl wait --for=condition=Established --timeout=20s "crd/$crd"
  done
}
hook() { # hook mutate|validate GROUP VERSION RESOURCE OPERATIONS: what the chart would install, with the URL of this machine
  local kind=ValidatingWebhookConfiguration
  [ "$1" = mutate ] && kind=MutatingWebhookConfiguration
  cat << Y
---
apiVersion: admissionregistration.k8s.io/v1
kind: $kind
metadata: {name: volcano-admission-service-$4-$1}
webhooks:
- name: $1${4%s}.volcano.sh
  clientConfig: {url: "https://127.0.0.1:18443/$4/$1"}
  rules: [{apiGroups: ["$2"], apiVersions: ["$3"], resources: ["$4"], operations: [$5]}]
  failurePolicy: Fail
  sideEffects: NoneOnDryRun
  admissionReviewVersions: ["v1"]
  timeoutSeconds: 10
Y
}
start_programs() {
  kubectl create namespace volcano-system > /dev/null 2>&1
  kubectl apply -f - > /dev/null << 'Y'
apiVersion: v1
kind: Node
metadata: {name: fake-1, annotations: {kwok.x-k8s.io/node: fake}, labels: {kubernetes.io/hostname: fake-1}}
status:
  allocatable: {cpu: "2", memory: 8Gi, pods: "110"}
  capacity: {cpu: "2", memory: 8Gi, pods: "110"}
Y
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$scratch/hook.key" -out "$scratch/hook.crt" > /dev/null 2>&1
  "$bin/vc-scheduler" --kubeconfig "$KUBECONFIG" --leader-elect=false --enable-healthz=false --enable-metrics=false > "$scratch/scheduler.log" 2>&1 &
  programs+=" $!"
  "$bin/vc-webhook-manager" --enabled-admission /jobs/mutate,/jobs/validate,/queues/mutate,/queues/validate,/podgroups/validate --kubeconfig "$KUBECONFIG" --listen-address 127.0.0.1 --port 18443 --tls-cert-file "$scratch/hook.crt" --tls-private-key-file "$scratch/hook.key" \
    --ca-cert-file "$scratch/hook.crt" --webhook-url https://127.0.0.1:18443 --enable-healthz=false > "$scratch/webhook.log" 2>&1 &
  programs+=" $!"
  wait_for 10 curl -sk -o /dev/null https://127.0.0.1:18443/
  {
    hook mutate batch.volcano.sh v1alpha1 jobs CREATE
    hook validate batch.volcano.sh v1alpha1 jobs CREATE,UPDATE
    hook mutate scheduling.volcano.sh v1beta1 queues CREATE
    hook validate scheduling.volcano.sh v1beta1 queues CREATE,UPDATE,DELETE
    hook validate scheduling.volcano.sh v1beta1 podgroups CREATE
  } > "$scratch/hooks.yaml"
  expect "the hooks are registered" kubectl apply -f "$scratch/hooks.yaml"
  "$bin/vc-controller-manager" --kubeconfig "$KUBECONFIG" --leader-elect=false --enable-healthz=false --enable-metrics=false > "$scratch/manager.log" 2>&1 &
  programs+=" $!"
  expect "queue default is made" wait_for 20 kubectl get queue default
  expect "they trust our certificate" wait_for 20 sh -c '[ -n "$(kubectl get validatingwebhookconfiguration volcano-admission-service-jobs-validate -o "jsonpath={.webhooks[0].clientConfig.caBundle}")" ]'
  expect "the node is ready" wait_for 40 sh -c 'kubectl get node fake-1 --no-headers | grep -qw Ready'
  kubectl taint node fake-1 node.kubernetes.io/not-ready- > /dev/null 2>&1
}
job_1_runs_to_completed() {
  start_programs
  kubectl apply -f examples/manifests/queue-test.yaml > /dev/null
  expect "the queue opens" wait_for 10 field_is queue test .status.state Open
  expect "applied" wait_for 10 kubectl apply -f examples/manifests/job-1.yaml
  expect "defaults by the webhook" field_is vcjob job-1 .spec.tasks[0].maxRetry 3
  expect "completed" wait_for 40 phase_is job-1 Completed
  expect "conditions" field_is vcjob job-1 '.status.conditions[*].status' 'Pending Running Completing Completed'
  expect "succeeded" field_is vcjob job-1 .status.succeeded 1
}
a_gang_waits_and_starts() {
  kubectl cordon fake-1 > /dev/null
  sed 's/name: job-1/name: gang/; s/queue: test/queue: default/' examples/manifests/job-1.yaml | kubectl apply -f - > /dev/null
  expect "waits with its reason" wait_for 20 sh -c 'kubectl get podgroup -o yaml | grep -q "type: Unschedulable" || kubectl get events | grep -q "podgroup/gang.*Unschedulable"'
  expect "does not run" sh -c '[ "$(kubectl get vcjob gang -o "jsonpath={.status.state.phase}")" = Pending ]'
  kubectl uncordon fake-1 > /dev/null
  expect "starts when there is room" wait_for 40 phase_is gang Completed
}
a_queue_closes_and_opens() {
  expect "close" "$bin/vcctl" queue operate -n test -a close
  expect "closed" wait_for 10 field_is queue test .status.state Closed
  expect "a job is refused" sh -c "sed 's/job-1/late/' examples/manifests/job-1.yaml | kubectl create -f - 2>&1 | grep -q 'can only submit job to queue with state'"
  expect "open" "$bin/vcctl" queue operate -n test -a open
  expect "opened" wait_for 10 field_is queue test .status.state Open
}

run_tests $names
[ "${failed:-0}" = 0 ] || for part in scheduler webhook manager; do echo "$part:"; tail -n 5 "$scratch/$part.log"; done
