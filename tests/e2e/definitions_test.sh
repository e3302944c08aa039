#!/usr/bin/env bash
# The corpus of CustomResourceDefinitions, each construct of structural schemas at several places, against the verdicts of a stock server
# (tests/stock/definitions_test.sh records them); and objects after pruning and defaulting, by the rules that Kubernetes documents.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

definitions_are_judged_as_a_stock_server_does() {
  expect "the verdicts on record" python3 tests/stock/differential/definitions.py compare "$KUBECONFIG" tests/stock/differential/definitions.txt
}
objects_are_pruned_and_have_defaults() {
  python3 tests/e2e/pruned_objects.py "$KUBECONFIG" > "$scratch/rows" 2>&1
  expect "all rows" [ $? = 0 ]
  expect "each as documented" sh -c "! grep '^FAIL' '$scratch/rows'"
}
# kubectl judges the parts of a List itself, by the server's documents: any value may stand as a default.
lists_of_definitions_are_applied() {
  kubectl get crd rows0.pruned.example.org rows15.pruned.example.org rows6.pruned.example.org -o yaml | sed 's/pruned.example.org/listed.example.org/' > "$scratch/list.yaml"
  expect "a List" kubectl apply -f "$scratch/list.yaml"
  expect "what it has" kubectl get crd rows15.listed.example.org
}

start_cluster --components=apiserver
run_tests definitions_are_judged_as_a_stock_server_does objects_are_pruned_and_have_defaults lists_of_definitions_are_applied
exit ${failed:-0}
