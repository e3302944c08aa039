#!/usr/bin/env bash
# Admission webhooks of strangers, as stock kubectl writes them and meets them: a server over HTTPS whose path says how it answers.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

server=""
end_of_webhooks() {
  [ -n "$server" ] && kill "$server" 2> /dev/null
  end_of_tests
}
trap end_of_webhooks EXIT

make_keys() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout "$scratch/ca.key" -out "$scratch/ca.crt"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=hooks -keyout "$scratch/tls.key" -out "$scratch/tls.csr"
  printf 'subjectAltName=IP:127.0.0.1,DNS:hooks.default.svc\n' > "$scratch/san"
  openssl x509 -req -days 2 -in "$scratch/tls.csr" -CA "$scratch/ca.crt" -CAkey "$scratch/ca.key" -CAcreateserial \
    -extfile "$scratch/san" -out "$scratch/tls.crt"
} > "$scratch/openssl.log" 2>&1
start_server() {
  rm -f "$scratch/port"
  python3 tests/e2e/webhook_server.py "$scratch/tls.crt" "$scratch/tls.key" "$scratch/asked.log" > "$scratch/port" 2> "$scratch/server.log" &
  server=$!
  wait_for 20 test -s "$scratch/port"
  port=$(cat "$scratch/port")
}
stop_server() {
  kill "$server" 2> /dev/null
  wait "$server" 2> /dev/null
  server=""
}
says() { # says TEXT COMMAND...: the command's output contains the text, whether it fails or not
  local text=$1 out
  shift
  out=$("$@" 2>&1)
  [[ $out == *"$text"* ]] || { echo "$out"; return 1; }
}
# One webhook about ConfigMaps: hook Validating|Mutating NAME PATH [more fields, as JSON members]
hook() {
  kubectl apply -f - << JSON
{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "$1WebhookConfiguration", "metadata": {"name": "$2"}, "webhooks": [{
  "name": "$2.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 5, ${4:-}
  "clientConfig": {"url": "https://127.0.0.1:$port$3", "caBundle": "$(base64 -w0 "$scratch/ca.crt")"},
  "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}]}]}
JSON
}
drop() { kubectl delete "$1webhookconfiguration" "$2"; }
config_map() { kubectl create configmap "$@"; }
last_asked() { # last_asked PATH EXPRESSION: of the last review that the path was sent, as python sees it
  python3 -c 'import json, sys
asked = [json.loads(line)["review"]["request"] for line in open(sys.argv[1]) if json.loads(line)["path"] == sys.argv[2]]
r = asked[-1]
print(eval(sys.argv[3]))' "$scratch/asked.log" "$1" "$2"
}

one_denies_with_its_words() {
  expect "configure" hook Validating v /deny
  expect "refused" refused 'admission webhook "v.example.com" denied the request: not on my watch' config_map a
  expect "nothing is stored" refused 'not found' kubectl get configmap a
  expect "asked" test "$(last_asked /deny 'r["operation"] + " " + r["name"] + " " + r["userInfo"]["groups"][0]')" = "CREATE a system:masters"
  expect "its row" says 'NAME' kubectl get validatingwebhookconfigurations
  expect "drop" drop validating v
  expect "allowed" config_map a
}
one_warns() {
  expect "configure" hook Validating w /warn
  expect "warned" says 'Warning: mind the gap' config_map b
  expect "noted" grep -q 'w.example.com/seen=yes' "$scratch/up.log"
  expect "drop" drop validating w
}
two_change_in_the_order_of_names() {
  expect "configure" hook Mutating n2 /second
  expect "configure" hook Mutating n1 /first '"reinvocationPolicy": "IfNeeded",'
  expect "create" config_map c
  expect "labels" field_is configmap c '.metadata.labels.first}{.metadata.labels.second' yesyes
  expect "asked again" test "$(grep -c '"/first"' "$scratch/asked.log")" = 2
  expect "apply" kubectl label configmap c third=yes
  expect "labels" field_is configmap c '.metadata.labels.first}{.metadata.labels.third' yesyes
  expect "drop" drop mutating n1
  expect "drop" drop mutating n2
}
a_broken_patch_is_refused() {
  expect "configure" hook Mutating x /break
  expect "what the object may not be" refused 'data' config_map d
  expect "configure" hook Mutating x /nowhere
  expect "what is not there" refused 'Internal error occurred' config_map d
  expect "configure" hook Mutating x /namespace
  expect "another namespace" refused 'does not match the namespace' config_map d
  expect "drop" drop mutating x
}
a_dead_one_refuses_or_is_ignored() {
  stop_server
  expect "configure" hook Validating dead /allow
  expect "refused" refused 'Internal error occurred: failed calling webhook "dead.example.com": failed to call webhook: Post "https://127.0.0.1:' config_map e
  expect "ignore" hook Validating dead /allow '"failurePolicy": "Ignore",'
  expect "let through" config_map e
  expect "drop" drop validating dead
  start_server
}
a_certificate_of_others_is_refused() {
  expect "configure" hook Validating t /allow
  expect "another authority" kubectl patch validatingwebhookconfiguration t --type=json \
    -p "[{\"op\":\"replace\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"$(base64 -w0 "$scratch/data/keys/ca.crt")\"}]"
  expect "refused" refused 'failed calling webhook "t.example.com"' config_map f
  expect "drop" drop validating t
}
a_dry_run_is_said() {
  expect "configure" hook Validating dry /allow
  expect "dry run" kubectl create configmap g --dry-run=server
  expect "asked" test "$(last_asked /allow 'r["dryRun"], r["options"]["dryRun"]')" = "(True, ['All'])"
  expect "drop" drop validating dry
}
selectors_and_conditions_choose() {
  expect "configure" hook Validating s /deny '"objectSelector": {"matchLabels": {"watched": "yes"}}, "matchConditions": [{"name": "c", "expression": "object.metadata.name.startsWith(\"h\")"}],'
  expect "not selected" config_map i
  expect "the condition is false" kubectl label configmap i watched=yes
  expect "not selected" config_map h
  expect "refused" refused 'not on my watch' kubectl label configmap h watched=yes
  expect "configure" hook Validating s /deny '"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-public"}},'
  expect "another namespace" config_map j
  expect "refused" refused 'not on my watch' kubectl create configmap j -n kube-public
  expect "drop" drop validating s
}
a_service_stands_for_its_endpoints() {
  kubectl create -f - > /dev/null << YAML
apiVersion: v1
kind: Service
metadata: {name: hooks}
spec: {ports: [{name: https, port: 443, targetPort: 8443}]}
YAML
  expect "configure" hook Validating svc /deny
  expect "by service" kubectl patch validatingwebhookconfiguration svc --type=json -p '[{"op":"remove","path":"/webhooks/0/clientConfig/url"},
    {"op":"add","path":"/webhooks/0/clientConfig/service","value":{"name":"hooks","namespace":"default","path":"/deny"}}]'
  expect "the port" field_is validatingwebhookconfiguration svc '.webhooks[0].clientConfig.service.port' 443
  expect "no endpoints" refused 'no endpoints available for service "hooks"' config_map k
  kubectl create -f - > /dev/null << YAML
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: hooks-1, labels: {kubernetes.io/service-name: hooks}}
addressType: IPv4
ports: [{name: https, port: $port, protocol: TCP}]
endpoints: [{addresses: [127.0.0.1], conditions: {ready: true}}]
YAML
  expect "refused" refused 'admission webhook "svc.example.com" denied the request: not on my watch' config_map k
  expect "drop" drop validating svc
}
deletions_and_subresources_are_asked_about() {
  kubectl apply -f - > /dev/null << JSON
{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "del"}, "webhooks": [{
  "name": "del.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1beta1"],
  "clientConfig": {"url": "https://127.0.0.1:$port/teapot", "caBundle": "$(base64 -w0 "$scratch/ca.crt")"},
  "rules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["DELETE"], "resources": ["configmaps"]},
            {"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["deployments/scale"]}]}]}
JSON
  expect "a deletion" refused 'Error from server: admission webhook "del.example.com" denied the request: no tea' kubectl delete configmap a
  expect "what was deleted" test "$(last_asked /teapot 'r["object"], r["oldObject"]["metadata"]["name"]')" = "(None, 'a')"
  expect "a deployment" kubectl create deployment dep --image=x --replicas=0
  expect "a scale" refused 'no tea' kubectl scale deployment dep --replicas=1
  expect "what was scaled" test "$(last_asked /teapot 'r["kind"]["kind"], r["subResource"], r["object"]["spec"]["replicas"]')" = "('Scale', 'scale', 1)"
  expect "drop" drop validating del
  expect "a deletion" kubectl delete configmap a
}
controllers_are_asked_about_too() {
  kubectl apply -f - > /dev/null << JSON
{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": {"name": "pods"}, "webhooks": [{
  "name": "pods.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
  "clientConfig": {"url": "https://127.0.0.1:$port/first", "caBundle": "$(base64 -w0 "$scratch/ca.crt")"},
  "rules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["pods"]}]}]}
JSON
  expect "a deployment" kubectl create deployment marked --image=x
  expect "its pod is marked" wait_for 20 test_pod_is_marked
  expect "drop" drop mutating pods
}
test_pod_is_marked() { [ "$(kubectl get pods -l first=yes,app=marked -o name | wc -l)" = 1 ]; }

# The definition of Widgets, converted by the path of the webhook's server.
widgets() { # widgets PATH
  kubectl apply -f - << JSON
{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"}, "spec": {
  "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
  "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
    "clientConfig": {"url": "https://127.0.0.1:$port$1", "caBundle": "$(base64 -w0 "$scratch/ca.crt")"}}},
  "versions": [
    {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
      "spec": {"type": "object", "properties": {"size": {"type": "string"}}}}}}},
    {"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
      "spec": {"type": "object", "properties": {"count": {"type": "integer", "minimum": 0}}}}}}}]}}
JSON
}
widget() { # widget VERSION NAME SPEC
  kubectl apply -f - << JSON
{"apiVersion": "example.com/$1", "kind": "Widget", "metadata": {"name": "$2"}, "spec": $3}
JSON
}
versions_are_converted_both_ways() {
  expect "define" widgets /convert
  expect "write the stored version" wait_for 20 widget v1 one '{"size": "3"}'
  expect "read the other" field_is widgets.v2.example.com one '.spec.count' 3
  expect "read the stored one" field_is widgets.v1.example.com one '.spec.size' 3
  expect "write the other" widget v2 two '{"count": 5}'
  expect "it is stored" field_is widgets.v1.example.com two '.spec.size' 5
  expect "change the other" kubectl patch widgets.v2.example.com two --type=merge -p '{"spec":{"count":6}}'
  expect "its schema is asked" refused 'should be greater than or equal to 0' kubectl patch widgets.v2.example.com two --type=merge -p '{"spec":{"count":-1}}'
  expect "it is stored" field_is widgets.v1.example.com two '.spec.size' 6
  expect "a list" test "$(kubectl get widgets.v2.example.com -o 'jsonpath={.items[*].spec.count}')" = "3 6"
  expect "its version" test "$(kubectl get widgets.v2.example.com -o 'jsonpath={.items[*].apiVersion}')" = "example.com/v2 example.com/v2"
}
a_watch_is_converted() {
  timeout 60 kubectl get widgets.v2.example.com --watch -o 'jsonpath={.metadata.name}={.spec.count}{"\n"}' > "$scratch/watch.out" 2> "$scratch/watch.err" &
  local watch=$!
  expect "what is there" wait_for 20 grep -qx 'two=6' "$scratch/watch.out"
  expect "a change" widget v1 one '{"size": "4"}'
  expect "is told" wait_for 20 grep -qx 'one=4' "$scratch/watch.out"
  expect "a deletion" kubectl delete widgets.v2.example.com two
  kill "$watch" 2> /dev/null
  wait "$watch" 2> /dev/null
}
a_converter_that_lies_is_refused() {
  local begin='conversion webhook for example.com/v1, Kind=Widget'
  while read -r path text; do
    expect "$path" widgets "$path"
    expect "$path says $text" wait_for 20 refused "$begin $text" kubectl get widgets.v2.example.com one
  done << 'ROWS'
/convert-fail failed: cannot count
/convert-few returned 0 objects, expected 1
/convert-uid failed: expected response.uid=
/convert-name returned invalid converted object at index 0: must have the same name: one !=
/convert-version returned invalid converted object at index 0: invalid groupVersion (expected example.com/v2, received "example.com/v9")
/convert-meta returned invalid converted object at index 0: must have the same name: one != null
/convert-labels returned invalid metadata in object at index 0: metadata.labels[a] must be a string in converted object
/text failed: couldn't get version/kind; json parse error:
ROWS
  expect "the stored version is read all the same" field_is widgets.v1.example.com one '.spec.size' 4
  expect "define" widgets /convert
  expect "and the other again" wait_for 20 field_is widgets.v2.example.com one '.spec.count' 4
}

make_keys
start_server || echo "FAIL the webhook's server: $(cat "$scratch/server.log")"
start_cluster
run_tests one_denies_with_its_words one_warns two_change_in_the_order_of_names a_broken_patch_is_refused \
  a_dead_one_refuses_or_is_ignored a_certificate_of_others_is_refused a_dry_run_is_said selectors_and_conditions_choose \
  a_service_stands_for_its_endpoints deletions_and_subresources_are_asked_about controllers_are_asked_about_too \
  versions_are_converted_both_ways a_watch_is_converted a_converter_that_lies_is_refused
