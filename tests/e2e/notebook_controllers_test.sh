#!/usr/bin/env bash
# Notebooks, TensorBoards, viewers, profiles and PodDefaults as objects of a real server: made, stopped, culled, started again.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

server='
import http.server, json, os, sys
prefix, home = os.environ["NB_PREFIX"], "/home/jovyan/work"
class Notebook(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        files = "\n".join(sorted(os.listdir(home)))
        idle = [{"execution_state": "idle", "last_activity": "2020-01-01T00:00:00Z"}]
        body = json.dumps(idle) if self.path == prefix + "/api/kernels" else files
        self.send_response(200 if self.path.startswith(prefix) else 404)
        self.end_headers()
        self.wfile.write(body.encode())
    def do_POST(self):
        open(home + "/" + self.path.rsplit("/", 1)[1], "w").close()
        self.send_response(201)
        self.end_headers()
http.server.ThreadingHTTPServer(("", 8888), Notebook).serve_forever()'

notebook() { # notebook NAME CLAIM [ANNOTATIONS]
  kubectl apply -f - > /dev/null <<YAML
apiVersion: kubeflow.org/v1
kind: Notebook
metadata: {name: $1, labels: {wants: color}, annotations: {${3:-}}}
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 0
      volumes: [{name: work, persistentVolumeClaim: {claimName: $2}}]
      containers:
      - name: $1
        image: i
        command: [python3, -c, $(python3 -c 'import json, sys; print(json.dumps(sys.argv[1]))' "$server")]
        workingDir: /
        volumeMounts: [{name: work, mountPath: /home/jovyan/work}]
        readinessProbe: {periodSeconds: 1, tcpSocket: {port: 8888}}
YAML
}
claim() {
  kubectl apply -f - > /dev/null <<YAML
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $1}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
YAML
}
page() { kubectl get --raw "/api/v1/namespaces/default/services/$1:80/proxy/notebook/default/$1/${2:-}"; }
has_pod() { kubectl get pod "$1" -o name; }
has_no_pod() { ! kubectl get pod "$1" -o name; }
has_file() { page "$1" | grep -qx "$2"; }
says() { kubectl get events --field-selector "involvedObject.kind=$1,involvedObject.name=$2" | grep -qF -- "$3"; }

asks() { # asks NAMESPACE: a pod of that namespace asks the notebook itself, past its proxy
  kubectl -n "$1" exec asker -- python3 -c "import urllib.request; urllib.request.urlopen('http://$(field pod one-0 .status.podIP):8888/notebook/default/one/', timeout=3)"
}
other_namespaces_do_not_reach_it() {
  kubectl create namespace other > /dev/null
  for ns in default other; do kubectl -n $ns run asker --image=i --command -- sleep 1000 > /dev/null; done
  for ns in default other; do expect "a pod of $ns" kubectl -n $ns wait --for=condition=Ready pod/asker --timeout=60s; done
  expect "its own namespace" wait_for 10 asks default
  expect "not another one" refused "urlopen error" asks other
  kubectl delete pod asker --grace-period=1 --wait=false > /dev/null
  kubectl delete namespace other --wait=false > /dev/null
}
a_notebook_runs_and_answers() {
  claim one-workspace
  notebook one one-workspace
  expect "a ready notebook" wait_for 60 field_is notebook one .status.readyReplicas 1
  expect "its state" grep -q startedAt <(field notebook one .status.containerState.running)
  expect "conditions" grep -q True <(field notebook one '.status.conditions[?(@.type=="Ready")].status')
  expect "the server's page" wait_for 20 page one lab
  expect "the port of the service" field_is service one '.spec.ports[0].name' http-one
  expect "the group of files" field_is statefulset one .spec.template.spec.securityContext.fsGroup 100
  expect "an event of its StatefulSet" wait_for 10 says Notebook one "Reissued from statefulset/one: create Pod one-0"
}
a_stopped_notebook_starts_again_with_its_files() {
  expect "a file" kubectl exec one-0 -- touch /home/jovyan/work/kept.txt
  expect "the file on the page" wait_for 10 has_file one kept.txt
  expect "the stop" kubectl annotate notebook one kubeflow-resource-stopped=now
  expect "no pod" wait_for 30 has_no_pod one-0
  expect "no ready replica" wait_for 10 field_is notebook one .status.readyReplicas 0
  expect "no state" wait_for 10 field_is notebook one .status.containerState '{}'
  expect "the start" kubectl annotate notebook one kubeflow-resource-stopped-
  expect "a ready notebook" wait_for 60 field_is notebook one .status.readyReplicas 1
  expect "the file" wait_for 20 has_file one kept.txt
}
a_restart_makes_its_pod_again() {
  local before
  before=$(field pod one-0 .metadata.uid)
  expect "the wish" kubectl annotate notebook one notebooks.volcano.sh/restart=true
  expect "another pod" wait_for 60 other_pod "$before"
  expect "the wish is gone" wait_for 10 field_is notebook one '.metadata.annotations.notebooks\.volcano\.sh/restart' ''
}
other_pod() { local now; now=$(field pod one-0 .metadata.uid) && [ -n "$now" ] && [ "$now" != "$1" ]; }
a_claim_outlives_its_notebook() {
  expect "the deletion" kubectl delete notebook one --timeout=60s
  expect "no StatefulSet" wait_for 30 eval '! kubectl get statefulset one'
  expect "no pod" wait_for 30 has_no_pod one-0
  notebook one one-workspace
  expect "a ready notebook" wait_for 60 field_is notebook one .status.readyReplicas 1
  expect "the file" wait_for 20 has_file one kept.txt
}
an_idle_notebook_is_stopped() {
  claim two
  notebook two two 'notebooks.volcano.sh/idle-after: 10s'
  expect "its pod" wait_for 60 has_pod two-0
  expect "the stop" wait_for 60 eval '[ -n "$(field notebook two .metadata.annotations.kubeflow-resource-stopped)" ]'
  expect "no pod" wait_for 30 has_no_pod two-0
  expect "an event" wait_for 10 says Notebook two Culled
  expect "no bookkeeping" wait_for 10 field_is notebook two '.metadata.annotations.notebooks\.kubeflow\.org/last-activity' ''
}
pod_defaults_reach_notebooks_and_conflicts_are_named() {
  kubectl apply -f - > /dev/null <<YAML
apiVersion: kubeflow.org/v1alpha1
kind: PodDefault
metadata: {name: color}
spec: {desc: colors, selector: {matchLabels: {wants: color}}, env: [{name: COLOR, value: blue}]}
YAML
  kubectl annotate notebook one notebooks.volcano.sh/restart=true > /dev/null
  expect "its variable" wait_for 60 eval '[ "$(field pod one-0 ".spec.containers[0].env[?(@.name==\"COLOR\")].value")" = blue ]'
  expect "its mark" grep -q . <(field pod one-0 '.metadata.annotations.poddefault\.admission\.kubeflow\.org/poddefault-color')
  expect "a conflict by name" refused "conflict occurred while applying poddefaults: color on pod: clash" \
    kubectl run clash --image=i --labels=wants=color --env=COLOR=red
}
a_tensorboard_and_a_viewer_have_servers() {
  claim logs
  kubectl apply -f - > /dev/null <<YAML
apiVersion: tensorboard.kubeflow.org/v1alpha1
kind: Tensorboard
metadata: {name: board}
spec: {logspath: pvc://logs/runs}
---
apiVersion: kubeflow.org/v1alpha1
kind: PVCViewer
metadata: {name: files}
spec:
  pvc: logs
  networking: {targetPort: 8080, basePrefix: /pvcviewer}
  podSpec:
    volumes: [{name: v, persistentVolumeClaim: {claimName: logs}}]
    containers: [{name: c, image: i, command: [sleep, "600"], volumeMounts: [{name: v, mountPath: /data}]}]
YAML
  expect "its claim" wait_for 10 field_is deployment board '.spec.template.spec.volumes[0].persistentVolumeClaim.claimName' logs
  expect "its folder" field_is deployment board '.spec.template.spec.containers[0].volumeMounts[0].subPath' runs
  expect "its service" field_is service board '.spec.ports[0].targetPort' 6006
  expect "a condition" wait_for 30 grep -q . <(field tensorboard board '.status.conditions[0].deploymentState')
  expect "a ready viewer" wait_for 60 field_is pvcviewer files .status.ready true
  expect "its path" field_is pvcviewer files .status.url /pvcviewer/default/files/
}
a_profile_is_a_namespace_with_rights_and_limits() {
  kubectl create namespace taken > /dev/null
  kubectl apply -f - > /dev/null <<YAML
apiVersion: kubeflow.org/v1
kind: Profile
metadata: {name: ann}
spec: {owner: {kind: User, name: ann@example.com}, resourceQuotaSpec: {hard: {pods: "3"}}}
---
apiVersion: kubeflow.org/v1
kind: Profile
metadata: {name: taken}
spec: {owner: {kind: User, name: ann@example.com}}
YAML
  expect "its condition" wait_for 20 field_is profile ann '.status.conditions[0].type' Successful
  expect "its owner" field_is namespace ann .metadata.annotations.owner ann@example.com
  expect "its quota" grep -qx 3 <(kubectl -n ann get resourcequota kf-resource-quota -o "jsonpath={.spec.hard.pods}")
  expect "its accounts" kubectl -n ann get serviceaccount default-editor default-viewer
  expect "the owner's rights" wait_for 20 kubectl auth can-i create notebooks.kubeflow.org -n ann --as ann@example.com
  expect "no rights elsewhere" refused no kubectl auth can-i create notebooks.kubeflow.org -n taken --as ann@example.com
  expect "a namespace of somebody else" wait_for 10 grep -q "namespace already exist, but not owned by profile creator ann@example.com" \
    <(field profile taken '.status.conditions[0].message')
  expect "the end" kubectl delete profile ann --timeout=60s
  expect "the end of its namespace" wait_for 60 eval '! kubectl get namespace ann'
}
a_program_of_a_cluster_does_the_same() {
  local program
  stop_cluster
  start_cluster "${flags[@]}" --kubeflow-controllers=false
  claim three
  notebook three three
  MY_POD_NAMESPACE=kube-public "$volcano" kubeflow-controllers --enable-leader-election --kubeconfig "$KUBECONFIG" --enable notebook-controller --metrics-addr 0 --probe-addr 0 > "$scratch/program.log" 2>&1 &
  program=$!
  expect "a ready notebook" wait_for 60 field_is notebook three .status.readyReplicas 1
  expect "its lease, in its own namespace" kubectl get lease -n kube-public kubeflow-notebook-controller
  kubectl apply -f - > /dev/null <<YAML
apiVersion: tensorboard.kubeflow.org/v1alpha1
kind: Tensorboard
metadata: {name: other}
spec: {logspath: s3://b/x}
YAML
  kubectl annotate notebook three kubeflow-resource-stopped=now > /dev/null
  expect "the stop" wait_for 30 has_no_pod three-0
  expect "no TensorBoard: its controller is not enabled" eval '! kubectl get deployment other'
  kill $program
  wait $program 2> /dev/null
}
flags_are_checked() {
  expect "a name of no controller" refused '--enable: "x" is none of notebook-controller' "$volcano" kubeflow-controllers --enable x
  expect "a number of minutes" refused 'CULL_IDLE_TIME: "soon" is not a number of minutes' env CULL_IDLE_TIME=soon "$volcano" up
}

if [ $root = 0 ]; then
  echo "skip notebook controllers: containers need root"
  exit 0
fi
flags=(--node-name n1 --host-rootfs --runtime runc)
start_cluster "${flags[@]}"
run_tests a_notebook_runs_and_answers other_namespaces_do_not_reach_it a_stopped_notebook_starts_again_with_its_files a_restart_makes_its_pod_again a_claim_outlives_its_notebook \
  an_idle_notebook_is_stopped pod_defaults_reach_notebooks_and_conflicts_are_named a_tensorboard_and_a_viewer_have_servers \
  a_profile_is_a_namespace_with_rights_and_limits a_program_of_a_cluster_does_the_same flags_are_checked
exit "${failed:-0}"
