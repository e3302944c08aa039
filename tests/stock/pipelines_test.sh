#!/usr/bin/env bash
# Each command of `volcano pipeline` on a stock kube-apiserver that knows the definitions of `volcano crd kubeflow` and our controllers, and
# serves no REST API of pipelines: what needs one is answered by the command itself, with its user's rights. No kubelet runs steps here;
# how a run has ended is written by this test. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need pipelines etcd kube-apiserver kube-controller-manager
start_server KWOK=0
check "the definitions" sh -c "'$bin/volcano' crd kubeflow | kubectl apply --server-side -f -"
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
# The volume of artifacts, and who makes the claims of steps.
kubectl create rolebinding edit --clusterrole=edit --serviceaccount=default:default > /dev/null
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /store}, claimRef: {namespace: default, name: mlpipeline-artifacts}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: mlpipeline-artifacts}
spec: {storageClassName: "", accessModes: [ReadWriteOnce], volumeName: pv, resources: {requests: {storage: 1Gi}}}
YAML
pipeline() { COLUMNS=80 NO_COLOR=1 "$bin/volcano" pipeline "$@"; }
answers() { # answers TEXT COMMAND...: the command works, and shows that
  local text=$1 out
  shift
  out=$("$@" 2>&1) || { echo "$out" | tail -1; return 1; }
  grep -qE -- "$text" <<< "$out" || { echo "$out" | head -3; return 1; }
}
fails_with() { # fails_with TEXT COMMAND...
  local text=$1 out
  shift
  out=$("$@" 2>&1) && { echo "it succeeds: $out"; return 1; }
  grep -qF -- "$text" <<< "$out" || { echo "$out" | tail -1; return 1; }
}
MY_POD_NAMESPACE=default run controllers "$bin/volcano" kubeflow-controllers --kubeconfig "$KUBECONFIG" --metrics-addr 0 --probe-addr 0 --pipelines-addr 0
controllers=${programs[-1]}

check "the volume of artifacts" wait_for 20 field_is pvc mlpipeline-artifacts .status.phase Bound
check "upload" answers 'version v1 of pipeline default/hello-world was made' pipeline upload tests/pipelines/compiled/hello.yaml
check "list of pipelines" answers '^default +hello-world +1 +v1 ' pipeline list --pipelines
check "graph of a pipeline" answers '^say +step +greet' pipeline graph hello-world
check "no runs" answers '^No runs found' pipeline list
check "run" pipeline run hello-world --param name=cluster --no-wait
run=$(kubectl get pipelineruns -o 'jsonpath={.items[*].metadata.name}')
started() { [ -n "$(kubectl get pipelinetasks -o 'jsonpath={.items[?(@.spec.taskName=="greet")].status.podName}')" ]; }
check "its first step has a pod" wait_for 20 started
check "list" answers "^default +$run +RUNNING +0/" pipeline list
check "list of all namespaces" answers "^default +$run +RUNNING +0/" pipeline list -A
check "graph of a run" answers '^greet ' pipeline graph "$run"
no_log() { [ -z "$(pipeline logs "$run" --task greet 2>&1)" ]; }
check "logs of a step that no node runs are empty" no_log
check "logs of a task that is not there" fails_with 'the run has no task "none"' pipeline logs "$run" --task none
check "no artifacts yet" answers '^No artifacts found' pipeline artifacts "$run"
check "a run that goes is not tried again" fails_with 'only a run that failed or was ended is tried again' pipeline retry "$run"
check "terminate" answers 'is ending' pipeline terminate "$run"
check "it has ended" wait_for 20 field_is pipelinerun "$run" .status.state CANCELED
check "retry" answers 'is tried again' pipeline retry "$run" --no-wait
check "a run that is not there" fails_with 'namespace default has no run "none"' pipeline artifacts none --download "$scratch/none"

# Runs of compiled documents to their end: the server takes everything that the controllers write of parameters and artifacts.
cat > "$scratch/player.py" << 'PY'
import json, subprocess, sys, time
ended = set()
def report(name):  # of a step's launcher, by the step's name in tests/pipelines/compile.py
    if name.startswith("greet"):
        return "P 0 %d\nhello %s\n" % (len("hello " + name), name)
    value = {"add": 7, "total": 9, "count": 9, "make": [0, {"a": None}], "use": "xx"}.get(name.rstrip("-0123456789"))
    if value is None:
        return ""
    said = {"parameterValues": {"Output": value}}
    if name.startswith("make"):
        said["artifacts"] = {"metrics": {"artifacts": [{"name": "m", "uri": "minio://mlpipeline/m", "metadata": {"size": 2}}]}}
    return "M %d\n%s\n" % (len(json.dumps(said)), json.dumps(said))
while True:
    time.sleep(0.2)
    pods, tasks = ({one["metadata"]["name"]: one for one in json.loads(subprocess.run(["kubectl", "get", kind, "-o", "json"], capture_output=True).stdout or '{"items": []}')["items"]} for kind in ("pods", "pipelinetasks"))
    for task in tasks.values():
        pod = task.get("status", {}).get("podName")
        if pod not in pods or pod in ended:
            continue
        ended.add(pod)
        end = {"exitCode": 3, "reason": "Error"} if task["spec"]["taskName"].startswith("fail") else {"exitCode": 0, "message": "kfp 1\n" + report(task["spec"]["taskName"])}
        end["finishedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        status = {"phase": "Failed" if end["exitCode"] else "Succeeded", "containerStatuses": [{"name": "main", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": {"terminated": end}}]}
        subprocess.run(["kubectl", "patch", "pod", pod, "--subresource=status", "--type", "merge", "-p", json.dumps({"status": status})], capture_output=True)
PY
run player python3 "$scratch/player.py"
for document in hello loops branches exits evidence; do
  python3 tests/pipelines/run_of.py tests/pipelines/compiled/$document.yaml $document | kubectl create -f - > /dev/null
done
for document in hello loops branches evidence; do
  check "the run of $document.yaml" wait_for 60 field_is pipelinerun $document .status.state SUCCEEDED
done
check "and the one that fails" wait_for 60 field_is pipelinerun exits .status.state FAILED
check "an output" field_is pipelinetask "$(kubectl get pipelinetasks -l pipelines.kubeflow.org/run=hello -o 'jsonpath={.items[?(@.spec.taskName=="greet")].metadata.name}')" .status.outputs.parameters.text 'hello greet'
no_refusals() { ! grep -E ' [WE] .*(invalid|Invalid)' "$scratch/controllers.log"; }
check "no write of the controllers was refused" no_refusals
check "their list" answers '^default +loops +SUCCEEDED' pipeline list
kill "$controllers"
wait "$controllers" 2> /dev/null

# --- Artifacts: of a store, and of the volume of the namespace.
port=${STOCK_HOOK_PORT:-28543}
# Stores of the machine's own loopback are not asked.
address=$(hostname -I | cut -d' ' -f1)
if [ -z "$address" ]; then ip address add 192.0.2.1/32 dev lo && address=192.0.2.1; fi
cat > "$scratch/store.py" << 'PY'
import http.server, sys
class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = self.path.split("?")[0] == "/bucket/runs/words" and "AWS4-HMAC-SHA256 Credential=me/" in self.headers.get("Authorization", "")
        body = b"kept" if found else b"<Error><Code>NoSuchKey</Code></Error>"
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Store).serve_forever()
PY
run store python3 "$scratch/store.py" "$port"
kubectl apply -f - > /dev/null << YAML
apiVersion: v1
kind: Secret
metadata: {name: store}
stringData: {id: me, key: word}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kfp-launcher}
data:
  defaultPipelineRoot: s3://bucket/runs
  providers: "s3: {default: {endpoint: 'http://$address:$port', region: here, credentials: {fromEnv: false, secretRef: {secretName: store, accessKeyKey: id, secretKeyKey: key}}}}"
---
$(python3 tests/pipelines/run_of.py tests/pipelines/compiled/hello.yaml ended)
---
apiVersion: pipelines.kubeflow.org/v2beta1
kind: PipelineTask
metadata: {name: ended-write, labels: {pipelines.kubeflow.org/run: ended}}
spec: {runName: ended, path: root.write, taskName: write, type: CONTAINER}
YAML
kubectl patch pipelinerun ended --subresource=status --type merge -p '{"status": {"state": "SUCCEEDED"}}' > /dev/null
kubectl patch pipelinetask ended-write --subresource=status --type merge -p '{"status": {"state": "SUCCEEDED", "outputs": {"artifacts": {
  "words": [{"type": {"schemaTitle": "system.Dataset"}, "uri": "s3://bucket/runs/words"}], "model": [{"uri": "minio://mlpipeline/v2/ended/model"}]}}}}' > /dev/null
check "a table of artifacts" answers '^write +words +system.Dataset +s3://bucket/runs/words' pipeline artifacts ended
download() { rm -rf "$scratch/out"; pipeline artifacts ended --download "$scratch/out" "$@" > "$scratch/saved" 2> "$scratch/problems"; }
download
check "where one is not saved, that is the end" test $? != 0
check "that of the store is saved" test "$(cat "$scratch/out/write/words")" = kept
check "for that of the volume, the claim" grep -q '^model of write: the artifact is in the volume of the claim default/mlpipeline-artifacts, which is not mounted here' "$scratch/problems"
sed -n 's/.*has tar: //p' "$scratch/problems" > "$scratch/command"
check "and the command that reads it" grep -q "^kubectl run read-artifact .* > 'model.tar'$" "$scratch/command"
check "which the server takes" sh -c "sed 's/--attach --rm --quiet/--dry-run=server/; s/ > .*//' '$scratch/command' | sh"
download --task other
check "a task without artifacts" grep -q '^No artifacts of other found' "$scratch/saved"

# --- With no more rights than it takes.
kubectl create serviceaccount jane > /dev/null
kubectl create role looks --verb=get,list,watch --resource=pipelineruns.pipelines.kubeflow.org,pipelinetasks.pipelines.kubeflow.org,persistentvolumeclaims,configmaps > /dev/null
kubectl create rolebinding looks --role=looks --serviceaccount=default:jane > /dev/null
cp "$KUBECONFIG" "$scratch/jane.kubeconfig"
kubectl --kubeconfig "$scratch/jane.kubeconfig" config set-credentials jane --token="$(kubectl create token jane)" > /dev/null
kubectl --kubeconfig "$scratch/jane.kubeconfig" config set-context --current --user jane > /dev/null
download --kubeconfig "$scratch/jane.kubeconfig"
check "who may not read the store's keys reads no artifact of it" grep -q '^words of write: .*secrets "store" is forbidden' "$scratch/problems"
kubectl create role keys --verb=get --resource=secrets --resource-name=store > /dev/null
kubectl create rolebinding keys --role=keys --serviceaccount=default:jane > /dev/null
download --kubeconfig "$scratch/jane.kubeconfig"
check "who may does" test "$(cat "$scratch/out/write/words")" = kept

# --- Version 1, where its definition is.
check "the definition of Workflows" sh -c "'$bin/volcano' crd workflows.argoproj.io | kubectl apply --server-side -f -"
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
printf '{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "one"}, "spec": {"entrypoint": "w", "templates": [{"name": "w", "container": {"image": "i", "command": ["true"]}}]},
  "status": {"phase": "Succeeded", "nodes": {"one-1": {"id": "one-1", "name": "one.w", "displayName": "w", "type": "Pod", "phase": "Succeeded", "outputs": {"artifacts": [{"name": "page", "s3": {"key": "artifacts/one/page"}}]}}}}}' | kubectl create -f - > /dev/null
check "both versions in the list" answers '^default +one +SUCCEEDED' pipeline list
check "the graph of a Workflow" answers '^w +SUCCEEDED' pipeline graph one
check "its artifacts" answers '^w +page +- +artifacts/one/page' pipeline artifacts one
check "and the command that reads one" fails_with "'page.tar'" pipeline artifacts one --download "$scratch/out"

run serve "$bin/volcano" pipeline serve --port $((port + 1))
check "serve" wait_for 10 curl -sf "http://127.0.0.1:$((port + 1))/apis/v2beta1/healthz"
check "with the runs of the cluster" answers '"display_name":"hello' curl -s "http://127.0.0.1:$((port + 1))/apis/v2beta1/runs"
exit $failed
