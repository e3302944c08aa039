#!/usr/bin/env bash
# Notebooks by their links: the way from the page's session, streams, and what a hostile notebook's page cannot do.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/page/lib.sh
here=$PWD/tests/e2e

# notebook NAMESPACE: a pod and a Service as the controller of notebooks makes them.
notebook() {
  kubectl create namespace "$1" > /dev/null 2>&1
  kubectl -n "$1" create configmap server --from-file="$here/notebook_server.py" > /dev/null
  kubectl apply --validate=false -f - > /dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: one-0, namespace: $1, labels: {statefulset: one, notebook-name: one}}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: server, configMap: {name: server}}]
  containers:
  - name: one
    image: i
    command: [python3, /server/notebook_server.py, "8888", /notebook/$1/one]
    ports: [{name: notebook-port, containerPort: 8888}]
    volumeMounts: [{name: server, mountPath: /server}]
    readinessProbe: {periodSeconds: 1, tcpSocket: {port: 8888}}
---
apiVersion: v1
kind: Service
metadata: {name: one, namespace: $1}
spec: {selector: {statefulset: one}, ports: [{name: http-one, port: 80, targetPort: 8888}]}
YAML
  kubectl -n "$1" create role notebooks --verb=get --resource=services/proxy > /dev/null
  kubectl -n "$1" create rolebinding notebooks --role=notebooks --user="$1" > /dev/null
}
server() { kubectl config view -o 'jsonpath={.clusters[0].cluster.server}'; }
link() { "$volcano" ui link ${1:+--as-user "$1"} 2> /dev/null; }

a_link_leads_to_a_notebook_and_its_page_to_nothing_else() {
  notebook ann
  notebook bob
  expect "ann's server" kubectl -n ann wait --for=condition=Ready pod/one-0 --timeout=30s
  expect "bob's server" kubectl -n bob wait --for=condition=Ready pod/one-0 --timeout=30s
  expect "the endpoint to be told" wait_for 10 kubectl get --raw /api/v1/namespaces/bob/services/one:80/proxy/
  expect "links, streams, attacks" python3 "$here/notebook_attacks.py" "$(server)" "$(link ann)" "$(link bob)" "$(link)"
}
a_browser_keeps_them_apart() {
  skipped=$(browser_lacks) && return
  page_packages
  expect "attacks in $BROWSER" node tests/page/notebook_test.mjs "$(server)" "$(link)"
  grep -E '^(ok|FAIL)' "$scratch/expect.out"
}
volcano_ui_does_the_same_on_loopback() {
  "$volcano" ui --port 0 > "$scratch/ui.log" 2>&1 &
  local served=$! of
  wait_for 10 grep -q login "$scratch/ui.log"
  of=$(sed -n 's/^  \(http:.*login.*\)$/\1/p' "$scratch/ui.log")
  expect "links and streams" python3 "$here/notebook_loopback.py" "$of"
  kill $served
  wait $served 2> /dev/null
}
# A Notebook whose server is the tests' own; the controller makes its pod and Service.
served_notebook() { # served_notebook NAME
  kubectl create configmap server --from-file="$here/notebook_server.py" > /dev/null 2>&1
  kubectl apply -f - > /dev/null <<YAML
apiVersion: kubeflow.org/v1
kind: Notebook
metadata: {name: $1}
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 0
      schedulerName: volcano
      volumes: [{name: server, configMap: {name: server}}]
      containers:
      - name: $1
        image: i
        workingDir: /
        command: [python3, /server/notebook_server.py, "8888", /notebook/default/$1]
        volumeMounts: [{name: server, mountPath: /server}]
        readinessProbe: {periodSeconds: 1, tcpSocket: {port: 8888}}
YAML
}
list_says() { "$volcano" notebook list | grep -qE -- "$1"; }
a_link_says_how_a_notebook_stands() {
  served_notebook two
  "$volcano" notebook create cards --image i --gpu 1 --workspace none --no-wait > "$scratch/cards.out" 2>&1
  expect "the command to make one" grep -q '^notebook default/cards was made$' "$scratch/cards.out"
  expect "its link" grep -qE '^https://.*&to=%2Fnotebook%2Fdefault%2Fcards%2F$' "$scratch/cards.out"
  expect "states in the list" wait_for 60 list_says 'two +ready'
  expect "a reason in the list" wait_for 30 list_says 'cards +waits.*nvidia.com/gpu'
  expect "states and words of the link" python3 "$here/notebook_states.py" "$(server)" "$(link)" "$volcano"
}
commands_wait_and_say_why() {
  expect "a start that waits until it is ready" "$volcano" notebook start two --timeout 60s
  expect "one that cannot start" refused 'nvidia.com/gpu' "$volcano" notebook start cards --timeout 3s
  expect "the end of its patience" refused 'not ready after 3s; it goes on by itself' "$volcano" notebook start cards --timeout 3s
  expect "volumes that are made" "$volcano" notebook create three --image i --volume data:/data --no-wait
  expect "the workspace" kubectl get pvc three-workspace data
  expect "a name that is taken" refused 'already exists' "$volcano" notebook create three --image i --no-wait
  expect "a TensorBoard of a volume of a notebook" "$volcano" tensorboard create curves --logs three:/data/runs --no-wait
  expect "its place" [ "$(field tensorboard curves .spec.logspath)" = pvc://data/runs ]
  expect "its deletion" "$volcano" tensorboard delete curves
  expect "a deletion that keeps volumes" sh -c "'$volcano' notebook delete three | grep -q 'volume default/data stays'"
  expect "the volume" kubectl get pvc data
}
a_port_stays_with_its_namespace() {
  local before
  before=$(grep ' ann$' "$scratch/data/notebook-ports")
  stop_cluster
  PORT=${PORT:-0} start_cluster "${flags[@]}"
  expect "the same port after a restart" grep -qx "$before" "$scratch/data/notebook-ports"
}
flags_are_checked() {
  expect "a range upside down" refused '--notebook-ports: "7-6" is not FIRST-LAST' "$volcano" up --notebook-ports 7-6
  expect "a word" refused '--notebook-ports: "x" is not FIRST-LAST' "$volcano" up --notebook-ports x
}

if [ $root = 0 ]; then
  echo "skip notebooks: containers need root"
  exit 0
fi
flags=(--node-name n1 --host-rootfs --runtime runc)
start_cluster "${flags[@]}"
run_tests a_link_leads_to_a_notebook_and_its_page_to_nothing_else a_browser_keeps_them_apart volcano_ui_does_the_same_on_loopback a_link_says_how_a_notebook_stands commands_wait_and_say_why a_port_stays_with_its_namespace flags_are_checked
exit "${failed:-0}"
