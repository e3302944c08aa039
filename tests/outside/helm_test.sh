#!/usr/bin/env bash
# Stock Helm against `volcano up`: a chart with a CRD, hooks and --wait is installed, tested, upgraded, rolled back and uninstalled.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
helm=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}/bin/helm
[ -x "$helm" ] || { echo "skip outside helm: helm is not built (tests/stock/build.sh helm)"; exit 0; }
export HELM_CACHE_HOME=$scratch/helm HELM_CONFIG_HOME=$scratch/helm HELM_DATA_HOME=$scratch/helm
chart=tests/outside/chart
colour_is() { [ "$(field configmap app-settings .data.colour)" = "$1" ] && [ "$(field gadget app .spec.colour)" = "$1" ]; }
succeeded() { [ "$(field job "$1" .status.succeeded)" = 1 ]; }

installs_and_waits() {
  expect "install" "$helm" install app "$chart" --wait --timeout 90s
  expect "two pods are ready when it ends" field_is deployment app .status.readyReplicas 2
  expect "the hook ran before" succeeded app-pre-install
  expect "the custom resource" colour_is red
  expect "its status" "$helm" status app
  expect "its list" bash -c "'$helm' list -o json | tr -d ' ' | grep -c '\"status\":\"deployed\"'"
}
tests_the_release() { expect "helm test" "$helm" test app --timeout 60s; }
upgrades() {
  expect "upgrade" "$helm" upgrade app "$chart" --set colour=blue --set replicas=3 --wait --timeout 90s
  expect "the new colour" colour_is blue
  expect "three pods are ready when it ends" field_is deployment app .status.readyReplicas 3
  expect "the hook ran afterwards" succeeded app-post-upgrade
}
takes_over_by_server_side_apply() { # what kubectl and others apply beside Helm
  expect "kubectl apply" bash -c "'$helm' get manifest app | kubectl apply --server-side --force-conflicts -f -"
  expect "kubectl diff finds nothing" bash -c "'$helm' get manifest app | kubectl diff --server-side --force-conflicts -f -"
}
refuses_what_is_wrong() {
  expect "a failed upgrade says why" refused "spec.replicas" "$helm" upgrade app "$chart" --set replicas=-1 --wait --timeout 20s
  expect "and is rolled back by --atomic" refused "has been rolled back" "$helm" upgrade app "$chart" --set replicas=-1 --atomic --timeout 60s
  expect "the colour is as before" colour_is blue
}
rolls_back() {
  expect "rollback" "$helm" rollback app 1 --wait --timeout 90s
  expect "the old colour" colour_is red
  expect "its history" bash -c "[ \$('$helm' history app -o json | tr ',' '\n' | grep -c '\"revision\"') -ge 3 ]"
}
uninstalls() {
  expect "uninstall" "$helm" uninstall app --wait --timeout 90s
  expect "the hook ran" succeeded app-post-delete
  expect "nothing is left" nothing_left
  expect "the definition stays" kubectl get crd gadgets.outside.example.test
}
nothing_left() { [ -z "$(kubectl get deployment,replicaset,pod,gadget,configmap -l app=app -o name)$(kubectl get gadget,deployment -o name)" ]; }
start_cluster --host-rootfs
run_tests installs_and_waits tests_the_release upgrades takes_over_by_server_side_apply refuses_what_is_wrong rolls_back uninstalls
