#!/usr/bin/env bash
# `volcano up --web-apps`: the REST back ends of Kubeflow's web applications with curl, as two people and as a proxy that lets people in.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# as NAME METHOD PATH [curl flags...]: with that user's certificate, and with the pair that writes need.
as() {
  local name=$1 method=$2 path=$3
  shift 3
  curl -s --cacert "$scratch/data/keys/ca.crt" --cert "$scratch/$name.crt" --key "$scratch/$name.key" -X "$method" -H 'Content-Type: application/json' \
    -b "XSRF-TOKEN=$pair" -H "X-XSRF-TOKEN: ${header:-$pair}" "$@" "$server$path"
}
pair="" # what writes send as cookie and as header
# gives JQ-FILTER WANTED as NAME ...: what the answer has.
gives() {
  local filter=$1 wanted=$2 out
  shift 2
  out=$("$@")
  [ "$(jq -rc "$filter" <<< "$out")" = "$wanted" ] || { echo "$out"; return 1; }
}
person() { # a user with a certificate, whose Profile is the namespace of that name
  "$volcano" user create "$1@example.com" --data "$scratch/data" --server "$server" -o "$scratch/$1.kubeconfig" > /dev/null
  for part in certificate:crt key:key; do
    kubectl --kubeconfig "$scratch/$1.kubeconfig" config view --raw -o "jsonpath={.users[0].user.client-${part%:*}-data}" | base64 -d > "$scratch/$1.${part#*:}"
  done
  kubectl apply --validate=false -f - > /dev/null <<< "{\"apiVersion\": \"kubeflow.org/v1\", \"kind\": \"Profile\", \"metadata\": {\"name\": \"$1\"}, \"spec\": {\"owner\": {\"kind\": \"User\", \"name\": \"$1@example.com\"}}}"
  wait_for 20 kubectl get rolebinding -n "$1" namespaceAdmin
}
makes_notebook() { # as ann, in the namespace of $1
  as ann POST "/jupyter/api/namespaces/$1/notebooks" -d '{"name": "lab", "image": "i", "imagePullPolicy": "IfNotPresent", "serverType": "jupyter", "cpu": "100m", "memory": "100Mi",
    "gpus": {"num": "none"}, "configurations": [], "shm": true, "environment": "{\"A\": \"b\"}", "datavols": [],
    "workspace": {"mount": "/home/jovyan", "newPvc": {"metadata": {"name": "lab-workspace"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}'
}

two_people_have_profiles() {
  server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
  expect "ann" person ann
  expect "bob" person bob
  pair=$(as ann GET /jupyter/ -D - -o /dev/null | sed -n 's/^[Ss]et-[Cc]ookie: XSRF-TOKEN=\([0-9a-f]*\);.*/\1/p')
  expect "a cookie from the page" [ "${#pair}" = 32 ]
  expect "who asks" gives .user ann@example.com as ann GET /jupyter/info
  expect "her bindings without a right to list" gives '[.bindings[] | .referredNamespace + ":" + .roleRef.name]' '["ann:admin"]' as ann GET '/kfam/v1/bindings?user=ann%40example.com'
  expect "no administrator" gives . false as ann GET '/kfam/v1/role/clusteradmin?user=ann%40example.com'
}
a_form_makes_a_notebook() {
  expect "the form's fields" gives .config.cpu.value 500m as ann GET /jupyter/api/config
  expect "the notebook" gives .message 'Notebook created successfully.' makes_notebook ann
  expect "its creator" [ "$(kubectl get notebook -n ann lab -o 'jsonpath={.metadata.annotations.notebooks\.kubeflow\.org/creator}')" = ann@example.com ]
  expect "its claim" kubectl get pvc -n ann lab-workspace
  expect "its pod" wait_for 30 gives .pod.metadata.name lab-0 as ann GET /jupyter/api/namespaces/ann/notebooks/lab/pod
  expect "its row" gives '.notebooks[0] | .name + " " + .cpu + " " + (.volumes | join(","))' 'lab 100m dshm,lab-workspace' as ann GET /jupyter/api/namespaces/ann/notebooks
  expect "its events" gives '.success' true as ann GET /jupyter/api/namespaces/ann/notebooks/lab/events
  expect "a second of its name to be refused" gives '.status' 409 makes_notebook ann
  expect "a stop" gives .success true as ann PATCH /jupyter/api/namespaces/ann/notebooks/lab -d '{"stopped": true}'
  expect "it to be stopped" wait_for 30 gives .notebooks[0].status.phase stopped as ann GET /jupyter/api/namespaces/ann/notebooks
}
logs_are_lines() {
  kubectl apply --validate=false -f - > /dev/null <<< '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "says", "namespace": "ann"}, "spec": {"restartPolicy": "Never", "containers": [{"name": "says", "image": "i", "command": ["sh", "-c", "echo one; echo two"]}]}}'
  expect "the lines" wait_for 30 gives .logs '["one","two",""]' as ann GET /jupyter/api/namespaces/ann/notebooks/says/pod/says/logs
}
volumes_and_tensorboards_follow() {
  expect "a claim" gives .message 'PVC created successfully.' as ann POST /volumes/api/namespaces/ann/pvcs -d '{"name": "logs", "mode": "ReadWriteOnce", "class": "{empty}", "size": "1Gi", "type": "empty"}'
  expect "who uses the other" gives '.pvcs[] | select(.name == "lab-workspace") | .notebooks' '["lab"]' as ann GET /volumes/api/namespaces/ann/pvcs
  expect "a TensorBoard" gives .message 'Tensorboard created successfully.' as ann POST /tensorboards/api/namespaces/ann/tensorboards -d '{"name": "board", "logspath": "pvc://logs/run", "configurations": []}'
  expect "it in the list" gives '.tensorboards[0].logspath' pvc://logs/run as ann GET /tensorboards/api/namespaces/ann/tensorboards
  expect "its Deployment" wait_for 20 kubectl get deployment -n ann board
  expect "it gone" gives .success true as ann DELETE /tensorboards/api/namespaces/ann/tensorboards/board
  expect "the claim gone when its user is" wait_for 30 gives .success true as ann DELETE /volumes/api/namespaces/ann/pvcs/logs
}
others_are_kept_out() {
  expect "another's notebooks" gives .status 403 as bob GET /jupyter/api/namespaces/ann/notebooks
  expect "a notebook in another's namespace" gives .status 403 makes_notebook bob
  expect "a claim there" gives .status 403 as ann POST /volumes/api/namespaces/bob/pvcs -d '{"name": "x", "mode": "ReadWriteOnce", "class": "{empty}", "size": "1Gi", "type": "empty"}'
  expect "another's bindings" [ "$(as bob GET '/kfam/v1/bindings?user=ann%40example.com' -o /dev/null -w '%{http_code}')" = 403 ]
  expect "a binding that nobody gave" [ "$(as bob POST /kfam/v1/bindings -o /dev/null -w '%{http_code}' -d '{"user": {"kind": "User", "name": "bob@example.com"}, "referredNamespace": "ann", "roleRef": {"kind": "ClusterRole", "name": "admin"}}')" = 403 ]
  header=other expect "a write without the pair" gives .log 'CSRF check failed. Token in cookie XSRF-TOKEN doesn'"'"'t match token in header X-XSRF-TOKEN.' as ann DELETE /jupyter/api/namespaces/ann/notebooks/lab
  expect "somebody without credentials" [ "$(curl -sk -o /dev/null -w '%{http_code}' "$server/jupyter/api/namespaces")" = 401 ]
  expect "health for everybody" [ "$(curl -sk -o /dev/null -w '%{http_code}' "$server/jupyter/healthz/liveness")" = 200 ]
  expect "another's name in the header" gives '.status' 403 as bob GET /jupyter/api/namespaces/ann/notebooks -H 'kubeflow-userid: ann@example.com'
  expect "an administrator's name in it" gives '.status' 403 as bob GET /jupyter/api/namespaces -H 'kubeflow-userid: system:admin'
}
an_owner_shares_a_namespace() {
  expect "a binding" [ "$(as ann POST /kfam/v1/bindings -o /dev/null -w '%{http_code}' -d '{"user": {"kind": "User", "name": "bob@example.com"}, "referredNamespace": "ann", "roleRef": {"kind": "ClusterRole", "name": "view"}}')" = 200 ]
  expect "both in it" gives '[.bindings[] | .user.name + ":" + .roleRef.name] | sort' '["ann@example.com:admin","bob@example.com:view"]' as ann GET '/kfam/v1/bindings?namespace=ann'
  expect "bob to read" wait_for 10 gives '.notebooks[0].name' lab as bob GET /jupyter/api/namespaces/ann/notebooks
  expect "bob not to write" gives .status 403 as bob DELETE /jupyter/api/namespaces/ann/notebooks/lab
  expect "it to be taken back" [ "$(as ann DELETE /kfam/v1/bindings -o /dev/null -w '%{http_code}' -d '{"user": {"kind": "User", "name": "bob@example.com"}, "referredNamespace": "ann", "roleRef": {"kind": "ClusterRole", "name": "view"}}')" = 200 ]
  expect "bob not to read any more" wait_for 10 gives .status 403 as bob GET /jupyter/api/namespaces/ann/notebooks
}
a_proxy_names_the_user() {
  kubectl create serviceaccount -n kube-system proxy > /dev/null
  kubectl create clusterrole proxy --verb=impersonate --resource=users > /dev/null
  kubectl create clusterrolebinding proxy --clusterrole=proxy --serviceaccount=kube-system:proxy > /dev/null
  local token
  token=$(kubectl create token -n kube-system proxy)
  proxied() { curl -s --cacert "$scratch/data/keys/ca.crt" -H "Authorization: Bearer $token" -H "kubeflow-userid: $1@example.com" "$server$2"; }
  expect "ann by it" wait_for 10 gives '.user + " " + .notebooks[0].name' 'ann@example.com lab' proxied ann /jupyter/api/namespaces/ann/notebooks
  expect "not bob by it" gives '.status' 403 proxied bob /jupyter/api/namespaces/ann/notebooks
}

start_cluster --node-name n1 --host-rootfs --web-apps --runtime "$([ $root = 1 ] && echo runc || echo process)"
run_tests two_people_have_profiles a_form_makes_a_notebook logs_are_lines volumes_and_tensorboards_follow others_are_kept_out an_owner_shares_a_namespace a_proxy_names_the_user
exit "${failed:-0}"
