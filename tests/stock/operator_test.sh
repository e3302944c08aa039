#!/usr/bin/env bash
# What docs/operations and docs/page.md have the operator of a cluster type at Helm and kubectl, as it is written, on a stock server with stock
# Helm: the way from Volcano's chart and back, a fresh installation, high availability, an upgrade and a rollback, monitoring, the page,
# and away again. Pods are played by KWOK, the scheduler and the controllers run beside it as their Deployments say. The last row is that
# no line of these pages that begins with `helm` was left out. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes,
# and its helm and kubectl.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need operator etcd kube-apiserver kube-controller-manager kwok helm kubectl
start_server
. tests/stock/helm_lib.sh
docs=$PWD/docs/operations
. tests/people/pages.sh
work=$scratch/work
mkdir "$work"
ln -s "$PWD/deploy" "$work/deploy"
cp "$KUBECONFIG" "$work/admin.kubeconfig"
PATH=$built/bin:$bin:$PATH
a_machine
shows() { "${@:2}" && said "$1"; } # shows TEXT COMMAND...: the command works, and says that
image_of() { in_system get deployment "$1" -o 'jsonpath={.spec.template.spec.containers[0].image}'; }
is() { [ "$1" = "$2" ] || { echo "\"$1\" is not \"$2\""; false; }; }
releases() { helm -n $ns history volcano -o json | grep -o '"revision":[0-9]*' | wc -l; }

# --- docs/operations/from-volcano.md
chart_of_before "$scratch/before"
check "a release of Volcano's names" helm install volcano "$scratch/before" -n $ns --create-namespace --set custom.scheduler_replicas=1
check "preflight" shows 'Kubernetes v1\.' play from-volcano.md "volcano preflight --kubeconfig admin.kubeconfig"
check "preflight for the accounts" sh -c "cd '$work' && $(line from-volcano.md 'volcano preflight --kubeconfig admin.kubeconfig --service-accounts') > '$scratch/accounts' 2>&1; grep -q volcano-scheduler '$scratch/accounts'"
check "the values that there are" play from-volcano.md "helm -n volcano-system get values volcano -o yaml"
check "are in the file" grep -q 'scheduler_replicas: 1' "$work/values.yaml"
check "where leaders are elected, nothing runs" play_inline from-volcano.md "kubectl -n volcano-system scale deployment volcano-scheduler volcano-controllers --replicas 0"
check "ours with those values" play from-volcano.md "helm upgrade volcano"
check "which images" shows 'registry.example/volcanosh/vc-scheduler:0.1.0' play from-volcano.md "kubectl -n volcano-system get deployment -o wide"
check "all of them are there" shows 'volcano-admission" successfully rolled out' play from-volcano.md "kubectl -n volcano-system rollout status"
check "back" play from-volcano.md "helm rollback"
check "to the images of before" is "$(image_of volcano-scheduler)" docker.io/volcanosh/vc-scheduler:v1.15.0
check "and away" play_inline install.md "helm uninstall"

# --- docs/operations/install.md
check "a fresh installation" play install.md "helm install volcano"
check "its pods" wait_for 20 shows 'volcano-admission-.* Running' play install.md "kubectl -n volcano-system get pods"
hooks_away() { kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration --all; } # their program does not answer here
hooks_away > /dev/null
port=${STOCK_HEALTH_PORT:-28711}
programs_run() {
  folder volcano-scheduler-configmap
  run_deployment scheduler vc-scheduler "$port" --listen-address "127.0.0.1:$((port + 1))"
  scheduler=${programs[-1]}
  run_deployment controllers vc-controller-manager $((port + 2)) --listen-address "127.0.0.1:$((port + 3))"
  controllers=${programs[-1]}
}
programs_run
check "queues, made by the scheduler" wait_for 30 shows '^root ' play install.md "kubectl get queues"
check "the default one, too" said '^default '
check "a finished hook job is deleted" play_inline install.md "kubectl -n volcano-system delete job volcano-admission-init"
check "newer images" play_inline install.md "helm upgrade volcano"
check "from the same registry" is "$(image_of volcano-scheduler)" registry.example/volcanosh/vc-scheduler:0.1.0
check "the installation's accounts have their rights" shows '^ok ' play troubleshooting.md "volcano preflight --kubeconfig admin.kubeconfig --service-accounts"

# --- docs/operations/high-availability.md
check "one replica is stopped" play high-availability.md "kubectl -n volcano-system scale"
check "and gone" play high-availability.md "kubectl -n volcano-system wait"
kill "$scheduler" "$controllers"
wait "$scheduler" "$controllers" 2> /dev/null
check "two of each" play high-availability.md "helm upgrade"
check "with budgets" shows 'volcano-scheduler ' play high-availability.md "kubectl -n volcano-system get pdb"
check "and the images of before" is "$(image_of volcano-controllers)" registry.example/volcanosh/vc-controller-manager:0.1.0
check "the two replicas" is "$(in_system get deployment volcano-scheduler volcano-controllers volcano-admission -o 'jsonpath={.items[*].spec.replicas}')" "2 2 2"
hooks_away > /dev/null
programs_run
leases() { play high-availability.md "kubectl -n volcano-system get leases" && said '^volcano +[^ ]+_' && said '^vc-controller-manager +[^ ]+_'; }
check "who leads" wait_for 30 leases
check "pods and leases" shows '^lease.*/volcano ' play troubleshooting.md "kubectl -n volcano-system get pods,leases"
check "pods of the webhook" shows 'volcano-admission-' play_inline troubleshooting.md "kubectl -n volcano-system get pods -l app=volcano-admission"

# --- docs/operations/upgrade.md
check "preflight before an upgrade" play upgrade.md "volcano preflight"
check "its values" play upgrade.md "helm -n volcano-system get values"
check "are those that were set" grep -q 'controller_replicas: 2' "$work/values.yaml"
check "an upgrade with them" play upgrade.md "helm -n volcano-system upgrade"
check "rolled out" shows 'volcano-controllers" successfully rolled out' play upgrade.md "kubectl -n volcano-system rollout status"
before=$(releases)
check "its history" shows 'superseded' play upgrade.md "helm -n volcano-system history"
check "to the release before" play upgrade.md "helm -n volcano-system rollback"
check "which is one more" is "$(releases)" $((before + 1))
check "two replicas still" is "$(in_system get deployment volcano-scheduler -o 'jsonpath={.spec.replicas}')" 2
check "definitions by hand" play_inline upgrade.md "kubectl apply --server-side -f deploy/chart"

# --- docs/operations/monitoring.md. The kinds of the Prometheus operator are its own; what stands in them is compared by helm_test.sh.
for kind in ServiceMonitor PrometheusRule; do
  plural=$(tr '[:upper:]' '[:lower:]' <<< $kind)s
  printf 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %s.monitoring.coreos.com}\nspec: {group: monitoring.coreos.com, scope: Namespaced, names: {plural: %s, singular: %s, kind: %s}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}\n' \
    "$plural" "$plural" "${plural%s}" "$kind" | kubectl apply -f - > /dev/null
done
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
check "a Prometheus and a Grafana" play monitoring.md "kubectl apply -f deploy/volcano-monitoring.yaml"
check "those that are there" play monitoring.md "helm upgrade"
check "find the programs" kubectl -n $ns get servicemonitor volcano-metrics
check "and the alerts" sh -c "kubectl -n $ns get prometheusrules -o name | grep -q ."
check "two replicas as before" is "$(in_system get deployment volcano-scheduler -o 'jsonpath={.spec.replicas}')" 2

# --- docs/page.md
docs=$PWD/docs
check "the page" play_inline page.md "helm upgrade volcano"
check "its program" is "$(image_of volcano-ui)" registry.example/volcanosh/volcano-ui:0.1.0
check "a secret of its sessions" play_inline page.md "kubectl create secret generic volcano-ui-sessions"
check "and two replicas by it" helm upgrade volcano deploy/chart/volcano -n $ns --reset-then-reuse-values --set custom.ui_replicas=2,custom.ui_session_secret=volcano-ui-sessions
docs=$PWD/docs/operations
check "the chart's archive" play_inline release.md "helm package"
check "is a file" sh -c "ls '$work'/volcano-*.tgz"

every_line_was_played() {
  local left=0 page command
  for page in "$docs"/*.md "$docs/../page.md"; do
    while read -r command; do
      command=$(put_in <<< "$command")
      grep -qF -- "$command" "$scratch/played" || { echo "$(basename "$page"): $command"; left=1; }
    done < <({ awk '/^```/ { open = !open; next } open && /^helm/' "$page" | sed 's/  *#.*$//; s/ *\\$//'; grep -oE '`helm [a-z]+ [^`]+`' "$page" | tr -d '`'; })
  done
  [ $left = 0 ]
}
check "no line for Helm was left out" every_line_was_played
exit $failed
