#!/usr/bin/env bash
# Artifacts of pipelines in an S3-compatible store: moto's server from Python's registry, over HTTP and TLS; a store that is away, full, or refuses.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
stores=${KFP_STORES:-$PWD/build/kfp-stores}
if [ $root = 0 ]; then
  echo "skip kfp stores: containers need root"
  exit 0
fi
if ! "$stores/bin/python" -c 'import moto.server' 2> /dev/null; then
  { python3 -m venv "$stores" && "$stores/bin/pip" install -q --disable-pip-version-check 'moto[server]==5.2.5'; } > "$scratch/pip.log" 2>&1 ||
    { echo "skip kfp stores: the Python package moto cannot be fetched: $(tail -1 "$scratch/pip.log")"; exit 0; }
fi
if ! [ -s build/release/stage ]; then
  echo "skip kfp stores: the program was built without musl-tools or libmbedtls-dev"
  exit 0
fi
server=""
trap '[ -z "$server" ] || kill "$server" 2> /dev/null; end_of_tests' EXIT

# serve PORT [flags...]: the store, with a bucket.
serve() {
  local port=$1
  shift
  "$stores/bin/moto_server" -H 0.0.0.0 -p "$port" "$@" >> "$scratch/moto.log" 2>&1 &
  server=$!
  local scheme=http
  [ $# = 0 ] || scheme=https
  wait_for 20 curl -sfk -X PUT "$scheme://127.0.0.1:$port/bucket-1"
}
end_store() {
  kill "$server" 2> /dev/null
  wait "$server" 2> /dev/null
  server=""
}
# stores_are PORT SCHEME: the ConfigMap of the namespace, and the Secret that it names.
stores_are() {
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
  defaultPipelineRoot: s3://bucket-1/runs
  providers: |
    s3:
      default:
        endpoint: $2://$address:$1
        region: us-east-1
        credentials: {fromEnv: false, secretRef: {secretName: store, accessKeyKey: id, secretKeyKey: key}}
YAML
}
# run NAME [PARAMETERS]: a step that writes a file and a folder, one that reads both, and one that reads an imported object.
run() {
  python3 tests/pipelines/run_of.py tests/pipelines/compiled/files.yaml "$1" "${2:-{\}}" | kubectl create -f - > /dev/null
}
ended() { [ -n "$(field pipelinerun "$1" .status.finishedAt)" ]; }
task() { kubectl get pipelinetasks -l "pipelines.kubeflow.org/run=$1" -o "jsonpath={.items[?(@.spec.path==\"$2\")]$3}"; }
log_of() { kubectl logs "$(task "$1" "$2" .status.podName)"; }

files_go_through_the_store() {
  expect "a store" serve "$port"
  stores_are "$port" http
  curl -sf -X PUT -H 'Content-Type: text/plain' --data-binary 'from outside' "http://127.0.0.1:$port/bucket-1/given/one.txt"
  expect "a run" run plain
  expect "its end" wait_for 60 ended plain
  expect "its state" field_is pipelinerun plain .status.state SUCCEEDED
  expect "what the reader saw" [ "$(log_of plain root.read)" = "one file; a b/c: deep; from outside" ]
  expect "where it lies" sh -c "kubectl get pipelinetasks -l pipelines.kubeflow.org/run=plain -o yaml | grep -q 'uri: s3://bucket-1/runs/files/'"
  expect "its object" sh -c "curl -sf 'http://127.0.0.1:$port/bucket-1?list-type=2' | grep -q '<Key>runs/files/[^<]*/tree/a b/c</Key>'"
  expect "the command without the store's variables" sh -c "! kubectl logs $(task plain root.write .status.podName) | grep -q KFP_STORE"
  expect "no volume of artifacts" refused NotFound kubectl get pvc mlpipeline-artifacts
}
# The REST API's answer for an artifact of the run `plain`: read TASK ARTIFACT [QUERY] [curl flags...]
read_artifact() {
  local run
  run=$(kubectl get pipelinerun plain -o 'jsonpath={.metadata.uid}')
  api_request "/pipeline/apis/v2beta1/runs/$run/nodes/$1/artifacts/$2:${3:-read}" "${@:4}"
}
bytes_of() { read_artifact "$@" | python3 -c 'import base64, json, sys; one = json.load(sys.stdin); print(base64.b64decode(one["data"]).decode(), one["size"])'; }
# "PATH: CONTENT" of each file of a folder.
files_of() { read_artifact "$@" | python3 -c 'import base64, io, json, sys, tarfile; one = json.load(sys.stdin); assert one["archive"] == "tar"; tar = tarfile.open(fileobj=io.BytesIO(base64.b64decode(one["data"]))); [print(f"{file.name}: {tar.extractfile(file).read().decode()}") for file in tar]'; }
artifacts_of_the_store_are_read() {
  expect "the whole" [ "$(bytes_of root.write one)" = "one file 8" ]
  expect "the first bytes" [ "$(bytes_of root.write one 'read?max_bytes=3')" = "one 8" ]
  expect "what was imported" [ "$(bytes_of root.read given)" = "from outside 12" ]
  expect "HTML for a frame" grep -q "sandbox" <(read_artifact root.write one view -D - -o /dev/null)
  expect "a folder" [ "$(files_of root.write tree)" = "a b/c: deep" ]
  expect "a folder, saved by the command" "$volcano" pipeline artifacts plain --task write --download "$scratch/saved"
  expect "its files" [ "$(tar -xOf "$scratch/saved/write/tree.tar" 'a b/c')" = deep ]
  expect "a folder has no first bytes" grep -q 'is a folder, and is read as a whole' <(read_artifact root.write tree 'read?max_bytes=3')
  expect "a folder is no page" grep -q 'is a folder, and is read as a whole' <(read_artifact root.write tree view)
  kubectl create serviceaccount viewer > /dev/null
  kubectl create role views --verb=get,list --resource=pipelineruns.pipelines.kubeflow.org,pipelinetasks.pipelines.kubeflow.org,configmaps > /dev/null
  kubectl create rolebinding views --role=views --serviceaccount=default:viewer > /dev/null
  local token
  token=$(kubectl create token viewer)
  expect "who may not read the keys" grep -q '"code":7' <(curl -s --cacert "$scratch/data/keys/ca.crt" -H "Authorization: Bearer $token" \
    "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')/pipeline/apis/v2beta1/runs/$(kubectl get pipelinerun plain -o 'jsonpath={.metadata.uid}')/nodes/root.write/artifacts/one:read")
  head -c 20000000 /dev/zero > "$scratch/large"
  local key=bucket-1/given/one.txt signed=(-H 'Authorization: AWS4-HMAC-SHA256 Credential=me/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0')
  curl -sf "${signed[@]}" -X PUT -H 'Content-Type: text/plain' --data-binary "@$scratch/large" "http://127.0.0.1:$port/$key"
  expect "one that is too large" grep -q 'has 20000000 bytes, and 16777216 at most' <(read_artifact root.read given)
  expect "its first bytes" grep -q '"size":20000000' <(read_artifact root.read given 'read?max_bytes=10')
  curl -sf "${signed[@]}" -X PUT -H 'Content-Type: text/plain' --data-binary "" "http://127.0.0.1:$port/$key"
  expect "an empty one" grep -q '"size":0' <(read_artifact root.read given)
  address=127.0.0.1 stores_are "$port" http
  expect "a store on the server's own machine" grep -q "an address of the server's own machine" <(read_artifact root.write one)
  end_store
  stores_are "$port" http
  expect "a store that is away" grep -q '"code":14' <(read_artifact root.write one)
  expect "the store again" serve "$port"
  curl -sf -X PUT -H 'Content-Type: text/plain' --data-binary 'from outside' "http://127.0.0.1:$port/bucket-1/given/one.txt"
}
a_store_that_is_away_is_waited_for() {
  end_store
  expect "a run" run away '{"text": "away"}'
  expect "a step that runs" wait_for 30 sh -c "[ \"\$(kubectl get pipelinetasks -l pipelines.kubeflow.org/run=away -o 'jsonpath={.items[?(@.spec.taskName==\"write\")].status.state}')\" = RUNNING ]"
  expect "the store again" serve "$port"
  curl -sf -X PUT -H 'Content-Type: text/plain' --data-binary 'from outside' "http://127.0.0.1:$port/bucket-1/given/one.txt"
  expect "its end" wait_for 60 ended away
  expect "its state" field_is pipelinerun away .status.state SUCCEEDED
}
# A loop whose turns write a folder of some MB each, two at a time.
uploads() {
  python3 - $turns << 'PYTHON' | kubectl create -f - > /dev/null
import json, sys
write = 'mkdir -p "$1"; for i in $(seq 8); do seq -f "$0 $i %.0f" 100000 > "$1/$i"; done'
number = {"parameterType": "NUMBER_INTEGER"}
data = {"artifactType": {"schemaTitle": "system.Dataset", "schemaVersion": "0.0.1"}}
spec = {
    "schemaVersion": "2.1.0", "pipelineInfo": {"name": "uploads"},
    "deploymentSpec": {"executors": {"write": {"container": {"image": "host", "command": ["sh", "-c", write], "args": [
        "{{$.inputs.parameters['n']}}", "{{$.outputs.artifacts['data'].path}}"]}}}},
    "components": {"write": {"executorLabel": "write", "inputDefinitions": {"parameters": {"n": number}},
                             "outputDefinitions": {"artifacts": {"data": data}}}},
    "root": {"dag": {"tasks": {"loop": {"componentRef": {"name": "write"}, "iteratorPolicy": {"parallelismLimit": 2},
                                        "parameterIterator": {"itemInput": "n", "items": {"raw": json.dumps(list(range(int(sys.argv[1]))))}}}}}}}
print(json.dumps({"apiVersion": "pipelines.kubeflow.org/v2beta1", "kind": "PipelineRun", "metadata": {"name": "uploads"}, "spec": {"pipelineSpec": spec}}))
PYTHON
}
objects() { curl -sf "http://127.0.0.1:$port/bucket-1?list-type=2&prefix=runs/uploads/" | grep -o '<Key>' | wc -l; }
has_objects() { [ "$(objects)" -ge "$1" ]; }
folders_are_whole() {
  "$volcano" pipeline artifacts uploads --download "$scratch/uploads" > /dev/null || return 1
  local turn part
  for turn in $(seq 0 $((turns - 1))); do
    for part in $(seq 8); do
      seq -f "$turn $part %.0f" 100000 | cmp - <(tar -xOf "$scratch/uploads/loop[$turn]/data.tar" "$part") || return 1
    done
  done
}
# Each kill meets uploads: some objects of a folder are there, and not all of them.
uploads_outlive_their_server() {
  expect "a run" uploads
  for some in 1 12 20; do
    expect "an upload under way after $some" wait_for 60 has_objects $some
    kill_cluster
    expect "others to come" [ "$(objects)" -lt $((turns * 8)) ]
    expect "the server again" start_cluster "${flags[@]}"
  done
  expect "its end" wait_for 90 ended uploads
  expect "its state: $(field pipelinerun uploads .status.error)" field_is pipelinerun uploads .status.state SUCCEEDED
  expect "a pod for each step" [ "$(kubectl get pods -l pipelines.kubeflow.org/run=uploads -o name | wc -l)" = $turns ]
  expect "each once" [ -z "$(kubectl get pods -l pipelines.kubeflow.org/run=uploads -o 'jsonpath={.items[*].status.containerStatuses[*].restartCount}' | tr -d '0 ')" ]
  expect "all objects and no other" [ "$(objects)" = $((turns * 8)) ]
  expect "whole folders" folders_are_whole
}
what_the_store_refuses_is_said() {
  end_store
  "$stores/bin/python" tests/clients/full_store.py "$port" > "$scratch/full.log" 2>&1 &
  server=$!
  expect "a store that is full" wait_for 10 curl -s "http://127.0.0.1:$port/"
  expect "a run" run full '{"text": "full"}'
  expect "its end" wait_for 60 ended full
  expect "why" sh -c "kubectl get pipelinerun full -o 'jsonpath={.status.error}' | grep -qE 'write: exit code 125: launch: cannot put http://[^ ]*/bucket-1/runs/files/[^ ]*: 507 XMinioStorageFull: '"
  expect "a signature as it is calculated by Amazon's own library" grep -q '^the signature fits' "$scratch/full.log"
}
tls_is_checked() {
  end_store
  (cd "$scratch" && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=store -addext "subjectAltName=IP:$address,DNS:localhost" 2> /dev/null)
  expect "a store with TLS" serve "$port" -c "$scratch/cert.pem" -k "$scratch/key.pem"
  stores_are "$port" https
  expect "a run" run unknown '{"text": "unknown"}'
  expect "its end" wait_for 60 ended unknown
  expect "why" sh -c "kubectl get pipelinerun unknown -o 'jsonpath={.status.error}' | grep -q 'TLS: '"
}

port=$(free_port)
turns=6
flags=(--node-name n1 --host-rootfs --runtime runc)
start_cluster "${flags[@]}"
kubectl run first --image=host --restart=Never -- true > /dev/null 2>&1
wait_for 30 sh -c "kubectl get pod first -o 'jsonpath={.status.podIP}' | grep -q ."
address=$(field pod first .status.podIP)
address=${address%.*}.1 # the machine, as pods see it
run_tests files_go_through_the_store artifacts_of_the_store_are_read uploads_outlive_their_server a_store_that_is_away_is_waited_for what_the_store_refuses_is_said tls_is_checked
exit "${failed:-0}"
