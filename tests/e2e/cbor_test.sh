#!/usr/bin/env bash
# CBOR, spoken by curl, and by a codec that shares nothing with the program's.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
maps=/api/v1/namespaces/default/configmaps
answer=$scratch/answer.json

# Each leaves the answer in $answer, as JSON, and its headers in $scratch/head.
send() { # send METHOD PATH TYPE JSON
  tests/e2e/cbor.py encode <<< "$4" |
    api_request "$2" -X "$1" -D "$scratch/head" -H "Content-Type: $3" -H 'Accept: application/cbor' --data-binary @- | tests/e2e/cbor.py decode > "$answer"
}
look() { # look PATH [ACCEPT]
  api_request "$1" -D "$scratch/head" -H "Accept: ${2:-application/cbor}" | tests/e2e/cbor.py decode > "$answer"
}
says() { grep -q -- "$1" "$answer" || { cat "$answer"; return 1; }; }
type_is() { grep -qi "^content-type: $1.\?$" "$scratch/head"; }
in_order() { python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin), sort_keys=True))'; }

writes_and_shows_objects() {
  send POST $maps application/cbor '{"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "v", "none": ""}}'
  expect "create" says '"uid"'
  expect "in CBOR" type_is application/cbor
  expect "kubectl sees it" field_is configmap a .data.k v
  look $maps/a
  kubectl get --raw $maps/a | in_order > "$scratch/json"
  expect "the same as in JSON" cmp "$scratch/json" <(in_order < "$answer")
  send PUT $maps/a application/cbor "$(sed 's/"k": "v"/"k": "w"/' "$answer")"
  expect "update" field_is configmap a .data.k w
  send POST /api/v1/namespaces/default/secrets application/cbor '{"metadata": {"name": "s"}, "data": {"k": "AP8Q"}}'
  expect "bytes of a secret" says '"k": "AP8Q"'
  send PATCH "$maps/b?fieldManager=f" application/apply-patch+cbor '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"k": "v"}}'
  expect "apply" field_is configmap b '.metadata.managedFields[0].operation' Apply
  send DELETE $maps/b application/cbor '{"propagationPolicy": "Background"}'
  expect "delete" says '"status": "Success"'
  expect "gone" sh -c '! kubectl get configmap b'
}
shows_lists_tables_and_documents() {
  look "$maps?labelSelector=x=y"
  expect "a list" says '"kind": "ConfigMapList"'
  expect "its item" says '"name": "a"'
  look $maps 'application/json;q=0.9,application/cbor;q=1'
  expect "as client-go asks" says ConfigMapList
  look "$maps?includeObject=None" 'application/cbor;as=Table;v=v1;g=meta.k8s.io'
  expect "a table" says columnDefinitions
  look $maps/a 'application/cbor;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
  expect "metadata" says PartialObjectMetadata
  look /apis
  expect "what is served" says APIGroupList
  look /apis/scheduling.volcano.sh/v1beta1/queues/root
  expect "a kind of Volcano" says '"kind": "Queue"'
  kubectl get --raw $maps > "$answer"
  expect "nobody else notices" says '^{"kind":"ConfigMapList"'
}
watches() {
  api_request "$maps?watch=1" -N -D "$scratch/watch-head" -H 'Accept: application/cbor-seq' > "$scratch/watch" &
  local curl=$!
  expect "what is there" wait_for 10 grep -aq ADDED "$scratch/watch"
  kubectl create configmap watched > /dev/null
  kubectl delete configmap watched > /dev/null
  expect "what happens" wait_for 10 sh -c "tests/e2e/cbor.py decode < $scratch/watch | grep DELETED"
  kill $curl
  tests/e2e/cbor.py decode < "$scratch/watch" > "$answer"
  expect "a sequence" grep -qi '^content-type: application/cbor-seq' "$scratch/watch-head"
  expect "in order" test "$(grep '"name": "watched"' "$answer" | sed 's/.*"type": "\([A-Z]*\)".*/\1/' | tr '\n' ' ')" = "ADDED DELETED "
}
refuses_in_it() {
  look $maps/nothing
  expect "a missing object" says '"reason": "NotFound"'
  expect "in CBOR" type_is application/cbor
  printf '\241\104name\377' | api_request $maps -H 'Content-Type: application/cbor' --data-binary @- > "$answer"
  expect "bytes that are none" says 'invalid CBOR: name: a break ends nothing (byte 7)'
  printf '\240' | api_request $maps/a -X PATCH -H 'Content-Type: application/merge-patch+cbor' --data-binary @- > "$answer"
  expect "a patch that has no such form" says 'accepted media types include.*apply-patch+cbor'
}

start_cluster || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
run_tests writes_and_shows_objects shows_lists_tables_and_documents watches refuses_in_it
