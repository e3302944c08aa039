#!/usr/bin/env bash
# The page of a cluster for all its users: each logs in with a token and has that user's rights; the program has none.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
jar=$scratch/jar

start_page() { # start_page [flags...]; $page is its address
  port=$(free_port)
  page=http://127.0.0.1:$port
  "$PWD/build/release/bin/volcano-ui" --master "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')" \
    --certificate-authority "$scratch/data/keys/ca.crt" --listen-address "127.0.0.1:$port" "$@" > "$scratch/page.log" 2>&1 &
  page_pid=$!
  wait_for 20 curl -sf "$page/healthz"
}
stop_page() { kill "$page_pid" && wait "$page_pid"; }
status() { curl -s -o "$scratch/answer" -w '%{http_code}' "$@"; }
log_in() { rm -f "$jar"; status -c "$jar" -H "Origin: $page" --data-urlencode "token=$1" "$page/ui/login"; }
as_page() { status -b "$jar" "$@"; }

users_log_in_by_token() {
  kubectl create namespace team > /dev/null
  kubectl create serviceaccount jane -n team > /dev/null
  kubectl create rolebinding jane -n team --clusterrole=edit --serviceaccount=team:jane > /dev/null
  start_page
  expect "the way to the form" [ "$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' "$page/")" = "303 $page/ui/login" ]
  expect "no data without a session" [ "$(status "$page/api/v1/namespaces")" = 401 ]
  expect "a refusal of a made-up token" [ "$(log_in nonsense)" = 401 ]
  expect "its reason" grep -q "does not accept this token" "$scratch/answer"
  token=$(kubectl create token jane -n team)
  expect "the form of another site refused" [ "$(status -H 'Origin: http://evil.example' --data-urlencode "token=$token" "$page/ui/login")" = 403 ]
  expect "a login" [ "$(log_in "$token")" = 303 ]
  expect "the page" [ "$(as_page --compressed "$page/ui/")" = 200 ]
  expect "her name" sh -c "curl -s -b '$jar' '$page/ui/session' | grep -q 'system:serviceaccount:team:jane'"
  expect "a cookie that does not show the token" sh -c "! grep -q '$token' '$jar'"
}
each_has_the_rights_of_the_token() {
  proof=$(curl -s -b "$jar" "$page/ui/session" | sed 's/.*"proof":"\([^"]*\)".*/\1/')
  expect "her namespace" [ "$(as_page "$page/api/v1/namespaces/team/pods")" = 200 ]
  expect "no other" [ "$(as_page "$page/api/v1/namespaces/kube-system/secrets")" = 403 ]
  body='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}'
  expect "no change without a proof" [ "$(as_page -H "Origin: $page" -H 'Content-Type: application/json' -d "$body" "$page/api/v1/namespaces/team/configmaps")" = 403 ]
  expect "a change with one" [ "$(as_page -H "Origin: $page" -H "X-Volcano-Proof: $proof" -H 'Content-Type: application/json' -d "$body" "$page/api/v1/namespaces/team/configmaps")" = 201 ]
  expect "no change by another site" [ "$(as_page -H 'Origin: http://evil.example' -H "X-Volcano-Proof: $proof" -H 'Content-Type: application/json' -d "$body" "$page/api/v1/namespaces/team/configmaps")" = 403 ]
  expect "no pods by proxy" [ "$(as_page "$page/api/v1/namespaces/team/pods/x/proxy/")" = 403 ]
  expect "another name of the server refused" [ "$(as_page -H 'Host: rebound.example' "$page/ui/session")" = 403 ]
  kubectl delete serviceaccount jane -n team > /dev/null
  expect "nothing once the account is gone" [ "$(as_page "$page/api/v1/namespaces/team/pods")" = 401 ]
  stop_page
}
a_proxy_logs_in_where_it_is_meant() {
  kubectl create serviceaccount ben -n team > /dev/null
  kubectl create rolebinding ben -n team --clusterrole=view --serviceaccount=team:ben > /dev/null
  token=$(kubectl create token ben -n team)
  start_page
  expect "a header that counts for nothing" [ "$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' -H "Authorization: Bearer $token" "$page/ui/")" = "303 $page/ui/login" ]
  stop_page
  start_page --login proxy
  rm -f "$jar"
  expect "a login by header" [ "$(status -c "$jar" -H "Authorization: Bearer $token" "$page/ui/")" = 303 ]
  expect "his rights" [ "$(as_page -H "Authorization: Bearer $token" "$page/api/v1/namespaces/team/pods")" = 200 ]
  stop_page
}
replicas_share_sessions_by_a_secret() {
  printf 'replicas-know-this-secret-of-32-bytes-and-more' > "$scratch/secret"
  kubectl create serviceaccount eve -n team > /dev/null
  token=$(kubectl create token eve -n team)
  start_page
  expect "a login" [ "$(log_in "$token")" = 303 ]
  stop_page
  start_page
  expect "a session that ended with its process" [ "$(as_page "$page/api/v1/namespaces")" = 401 ]
  stop_page
  start_page --session-secret-file "$scratch/secret"
  expect "another login" [ "$(log_in "$token")" = 303 ]
  first=$page first_pid=$page_pid
  start_page --session-secret-file "$scratch/secret"
  expect "the second to know whose session it is" [ "$(as_page "$page/api/v1/namespaces")" = 403 ]
  expect "the user to be told" grep -q "system:serviceaccount:team:eve" "$scratch/answer"
  stop_page
  page=$first page_pid=$first_pid
  stop_page
  printf short > "$scratch/secret"
  expect "a short secret" refused '--session-secret-file: 5 bytes are fewer than 32' "$PWD/build/release/bin/volcano-ui" --master https://x --session-secret-file "$scratch/secret"
}
wrong_flags_are_named() {
  local ui=$PWD/build/release/bin/volcano-ui
  expect "a login that is none" refused '--login: "x"' "$ui" --login x
  expect "an address without a scheme" refused "--external-url" "$ui" --master https://x --external-url volcano.example.com
  expect "a certificate without a key" refused "go together" "$ui" --master https://x --tls-cert-file /dev/null
  expect "an authority that is missing" refused "--certificate-authority" "$ui" --master https://x --certificate-authority /nowhere
}

start_cluster
run_tests users_log_in_by_token each_has_the_rights_of_the_token a_proxy_logs_in_where_it_is_meant replicas_share_sessions_by_a_secret wrong_flags_are_named
exit ${failed:-0}
