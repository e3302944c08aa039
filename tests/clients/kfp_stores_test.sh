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
artifacts_of_the_store_are_read() {
  expect "the whole" [ "$(bytes_of root.write one)" = "one file 8" ]
  expect "the first bytes" [ "$(bytes_of root.write one 'read?max_bytes=3')" = "one 8" ]
  expect "what was imported" [ "$(bytes_of root.read given)" = "from outside 12" ]
  expect "HTML for a frame" grep -q "sandbox" <(read_artifact root.write one view -D - -o /dev/null)
  expect "a folder" grep -q 'there is no object bucket-1/runs/files/.*several files' <(read_artifact root.write tree)
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
start_cluster --node-name n1 --host-rootfs --runtime runc
kubectl run first --image=host --restart=Never -- true > /dev/null 2>&1
wait_for 30 sh -c "kubectl get pod first -o 'jsonpath={.status.podIP}' | grep -q ."
address=$(field pod first .status.podIP)
address=${address%.*}.1 # the machine, as pods see it
run_tests files_go_through_the_store artifacts_of_the_store_are_read a_store_that_is_away_is_waited_for what_the_store_refuses_is_said tls_is_checked
exit "${failed:-0}"
