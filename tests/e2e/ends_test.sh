#!/usr/bin/env bash
# How servers end that clients ask meanwhile: at SIGTERM nothing that was sent fails, watches end in words, and the program goes with code 0.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

hooks=""
end_of_ends() {
  [ -n "$hooks" ] && kill -9 "$hooks" 2> /dev/null
  end_of_tests
}
trap end_of_ends EXIT

make_keys() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=hooks -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$scratch/tls.key" -out "$scratch/tls.crt"
} > "$scratch/openssl.log" 2>&1
ready() { [ "$(curl -s --cacert "$scratch/tls.crt" -o /dev/null -w '%{http_code}' "https://127.0.0.1:$health/readyz")" = "$1" ]; }
start_hooks() {
  port=$(free_port)
  health=$(free_port)
  kubectl create -f - > /dev/null << YAML
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: volcano-admission-service-queues-validate}
webhooks: [{name: validatequeue.volcano.sh, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:$port/queues/validate"},
  rules: [{apiGroups: [scheduling.volcano.sh], apiVersions: [v1beta1], operations: [CREATE], resources: [queues]}]}]
YAML
  build/release/bin/vc-webhook-manager --enabled-admission /queues/validate --kubeconfig "$KUBECONFIG" --listen-address 127.0.0.1 --port "$port" --webhook-url "https://127.0.0.1:$port" \
    --enable-healthz --healthz-address "127.0.0.1:$health" --tls-cert-file "$scratch/tls.crt" --tls-private-key-file "$scratch/tls.key" \
    --ca-cert-file "$scratch/tls.crt" ${HOOK_FLAGS:-} 2> "$scratch/hooks.log" &
  hooks=$!
  wait_for 20 ready 200
}
review='{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","name":"q",
  "kind":{"group":"scheduling.volcano.sh","version":"v1beta1","kind":"Queue"},
  "resource":{"group":"scheduling.volcano.sh","version":"v1beta1","resource":"queues"},
  "object":{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":1}}}}'

closed() { ! (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }
gone() { ! kill -0 "$1" 2> /dev/null || [ "$(ps -o stat= -p "$1" | cut -c1)" = Z ]; }
# A request of which the half has been sent: begin_half NAME FD VERSION URL TEXT [curl flags...]; end_half sends the rest.
begin_half() {
  local name=$1 fd=$2 version=$3 url=$4 text=$5
  mkfifo "$scratch/$name.in"
  curl -sSv "--$version" -X POST -H 'Content-Type: application/json' "${@:6}" -T . "$url" -o "$scratch/$name.answer" -w '%{http_code}' \
    < "$scratch/$name.in" > "$scratch/$name.code" 2> "$scratch/$name.log" 7>&- 8>&- & # who holds the other's would keep it from its end
  halves[$fd]=$!
  eval "exec $fd> '$scratch/$name.in'"
  printf %s "${text:0:40}" >&"$fd"
  wait_for 20 grep -q '^> POST' "$scratch/$name.log"
}
end_half() { # end_half NAME FD TEXT CODE
  (printf %s "${3:40}" >&"$2") # in a process of its own: a request that has failed already ends whoever writes to it
  eval "exec $2>&-"
  wait "${halves[$2]}" || { tail -3 "$scratch/$1.log"; return 1; }
  [ "$(cat "$scratch/$1.code")" = "$4" ] || { cat "$scratch/$1.answer"; return 1; }
}
declare -A halves=()

# One connection that asks one thing after the other until nobody takes connections any more: what was sent was answered.
ask_on() { # ask_on VERSION
  local code
  curl -sS "--$1" --cacert "$scratch/tls.crt" --fail-early -H 'Content-Type: application/json' -d "$review" -o /dev/null -w '%{http_code} %{http_version}\n' \
    "https://127.0.0.1:$port/queues/validate?timeout=[1-1000000]" > "$scratch/asked.$1" 2> "$scratch/asked.$1.err"
  code=$?
  # Not connected: nothing was sent.
  [ $code = 7 ] || [ $code = 35 ] || { echo "curl ended with $code: $(cat "$scratch/asked.$1.err")"; return 1; }
}
asks_well() { [ -s "$scratch/asked.$1" ]; }
a_webhook_server_ends_and_nobody_notices() {
  local url=https://127.0.0.1:$port/queues/validate first second
  ask_on http1.1 > "$scratch/first" & first=$!
  ask_on http2 > "$scratch/second" & second=$!
  expect "asks" wait_for 20 asks_well http1.1
  expect "asks" wait_for 20 asks_well http2
  expect "half a review" begin_half h1 7 http1.1 "$url" "$review" --cacert "$scratch/tls.crt"
  expect "half a review" begin_half h2 8 http2 "$url" "$review" --cacert "$scratch/tls.crt"
  kill "$hooks"
  expect "not ready" wait_for 20 ready 503
  expect "no connections" wait_for 20 closed "$port"
  expect "the rest of a review, HTTP/1.1" end_half h1 7 "$review" 200
  expect "the rest of a review, HTTP/2" end_half h2 8 "$review" 200
  wait $first || problem=${problem:+$problem; }"HTTP/1.1: $(cat "$scratch/first")"
  wait $second || problem=${problem:+$problem; }"HTTP/2: $(cat "$scratch/second")"
  expect "by HTTP/1.1" test "$(grep -v '^000' "$scratch/asked.http1.1" | sort -u)" = "200 1.1"
  expect "by HTTP/2" test "$(grep -v '^000' "$scratch/asked.http2" | sort -u)" = "200 2"
  expect "it ends" wait_for 20 gone "$hooks"
  wait "$hooks"
  expect "in peace" test $? = 0
  hooks=""
}
answers_probes() { curl -s -o /dev/null "http://127.0.0.1:$1/healthz"; }
health_servers_end_and_no_probe_notices() {
  local program probes at
  for program in vc-scheduler vc-controller-manager; do
    at=$(free_port)
    build/release/bin/$program --kubeconfig "$KUBECONFIG" --leader-elect=false --enable-healthz --healthz-address "127.0.0.1:$at" 2> "$scratch/$program.log" &
    probes=$!
    expect "$program answers" wait_for 20 answers_probes "$at"
    expect "half a request" begin_half $program 7 http1.1 "http://127.0.0.1:$at/none" "$review"
    kill $probes
    expect "no connections" wait_for 20 closed "$at"
    expect "the rest, $program" end_half $program 7 "$review" 404
    expect "it ends" wait_for 20 gone $probes
    wait $probes
    expect "in peace" test $? = 0
  done
}
watch_on() { # watch_on VERSION
  api_request '/api/v1/configmaps?watch=true' "--$1" -N -o "$scratch/watch.$1" -D "$scratch/watch.$1.head"
  echo "ended with $?" > "$scratch/watch.$1.end"
}
a_cluster_ends_its_watches_and_answers() {
  local server map='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"at-the-end"},"data":{"a":"b"}}' version
  server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
  local key=(--cacert "$scratch/data/keys/ca.crt" -H "Authorization: Bearer $(cat "$scratch/data/keys/token")")
  for version in http1.1 http2; do
    watch_on $version &
    expect "a watch" wait_for 20 test -s "$scratch/watch.$version.head"
  done
  expect "half a ConfigMap" begin_half m1 7 http1.1 "$server/api/v1/namespaces/default/configmaps" "$map" "${key[@]}"
  expect "half a ConfigMap" begin_half m2 8 http2 "$server/api/v1/namespaces/kube-public/configmaps" "$map" "${key[@]}"
  kill "$cluster"
  expect "no connections" wait_for 20 closed "${server##*:}"
  expect "the rest, HTTP/1.1" end_half m1 7 "$map" 201
  expect "the rest, HTTP/2" end_half m2 8 "$map" 201
  for version in http1.1 http2; do
    expect "the end of the watch, $version" wait_for 20 test -s "$scratch/watch.$version.end"
    expect "in words, $version" grep -q 'with 0$' "$scratch/watch.$version.end"
  done
  expect "it ends" wait_for 20 gone "$cluster"
  wait "$cluster"
  expect "in peace" test $? = 0
  cluster=""
}

make_keys
start_cluster --components=apiserver || { echo "FAIL start: the cluster is not ready"; failed=1; exit 1; }
start_hooks || { echo "FAIL start: the webhook server is not ready: $(tail -1 "$scratch/hooks.log")"; failed=1; exit 1; }
run_tests a_webhook_server_ends_and_nobody_notices health_servers_end_and_no_probe_notices a_cluster_ends_its_watches_and_answers
exit "${failed:-0}"
