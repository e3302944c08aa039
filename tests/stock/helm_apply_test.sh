#!/usr/bin/env bash
# A stock kube-apiserver takes what the chart makes of each set of values, with no field that it does not know, and deploy/volcano.yaml,
# once more without a change. Then our programs run beside it as its Deployments say: with their arguments, accounts, configuration and
# webhooks, until job-1 has ended. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes, and its helm-template.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need chart etcd kube-apiserver kube-controller-manager kwok helm-template
start_server
. tests/stock/helm_lib.sh
for namespace in volcano-system jobs kube-agents; do kubectl create namespace $namespace > /dev/null; done
for values in tests/golden/chart/*.in.yaml; do
  name=$(basename "$values" .in.yaml)
  namespace=volcano-system
  [ "$name" = hooks ] && namespace=jobs
  [ "$name" = agents ] && namespace=kube-agents
  # Without the kinds of the Prometheus operator, which the server does not have, and without CRDs, which are in volcano.yaml.
  "$built/bin/helm-template" -namespace $namespace -api admissionregistration.k8s.io/v1/MutatingAdmissionPolicy -values "$values" \
    -set custom.crds_enable=false,custom.service_monitor_enable=false,custom.prometheus_rules_enable=false deploy/chart/volcano > "$scratch/$name.yaml"
  check "the chart, $name" kubectl apply --dry-run=server --validate=strict -f "$scratch/$name.yaml"
done
check "deploy/volcano.yaml" kubectl apply --validate=strict -f deploy/volcano.yaml
unchanged() { ! kubectl apply -f deploy/volcano.yaml | grep -v ' unchanged$'; }
check "which applies again without a change" unchanged
for name in volcano-policies volcano-agent-scheduler volcano-agent volcano-monitoring; do check "deploy/$name.yaml" kubectl apply --validate=strict -f deploy/$name.yaml; done

# The server cannot reach services here, so webhooks are called by address.
alive() { # alive DEPLOYMENT PORT: its probes are answered
  local get
  for probe in liveness readiness; do
    get=$(in_system get deployment "volcano-$1" -o "jsonpath={.spec.template.spec.containers[0].${probe}Probe.httpGet}")
    [ -z "$get" ] && continue # a port that is open
    local path scheme
    path=$(sed 's/.*"path":"\([^"]*\)".*/\1/' <<< "$get") scheme=http
    [[ $get == *HTTPS* ]] && scheme=https
    curl -fsk "$scheme://127.0.0.1:$2$path" || return 1
  done
}
hook_port=${STOCK_HOOK_PORT:-28443}
kubectl delete -f deploy/volcano-policies.yaml > /dev/null # the webhooks alone
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/tls.key" -out "$scratch/tls.crt" -days 2 -subj /CN=localhost \
  -addext subjectAltName=IP:127.0.0.1 2> /dev/null
cp "$scratch/tls.crt" "$scratch/ca.crt"
for hook in $(kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o name | grep volcano-admission-service); do
  path=$(kubectl get "$hook" -o 'jsonpath={.webhooks[0].clientConfig.service.path}')
  kubectl patch "$hook" --type json -p "[{op: replace, path: /webhooks/0/clientConfig, value: {url: 'https://127.0.0.1:$hook_port$path'}}]" > /dev/null
done
for map in volcano-scheduler-configmap volcano-admission-configmap; do folder $map; done
run_deployment admission vc-webhook-manager $((hook_port + 1)) --port $hook_port
run_deployment controllers vc-controller-manager $((hook_port + 2)) --listen-address "127.0.0.1:$((hook_port + 4))"
run_deployment scheduler vc-scheduler $((hook_port + 3)) --listen-address "127.0.0.1:$((hook_port + 5))"
check "the webhook's probes are answered" wait_for 20 alive admission $((hook_port + 1))
check "the controllers' probes are answered" wait_for 20 alive controllers $((hook_port + 2))
check "the scheduler's probes are answered" wait_for 20 alive scheduler $((hook_port + 3))
check "the webhook finds the chart's configurations" wait_for 20 sh -c "kubectl get validatingwebhookconfiguration volcano-admission-service-hypernodes-validate -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' | grep -q ."
check "the queue default opens" wait_for 40 field_is queue default .status.state Open
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "2", memory: 8Gi, pods: "50"}, allocatable: {cpu: "2", memory: 8Gi, pods: "50"}}
YAML
check "the example's queue is admitted" wait_for 20 kubectl apply -f examples/manifests/queue-test.yaml
check "job-1 is admitted" wait_for 20 kubectl apply -f examples/manifests/job-1.yaml
check "job-1 completes" wait_for 60 field_is vcjob job-1 .status.state.phase Completed
exit $failed
