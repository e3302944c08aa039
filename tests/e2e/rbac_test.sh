#!/usr/bin/env bash
# Who may do what, with stock kubectl: roles and bindings, tokens of service accounts, reviews, and what is refused.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

as() { # as USER COMMAND...: kubectl with a token of that service account of the namespace default
  local token
  token=$(kubectl create token "$1") || return 1
  shift
  kubectl --kubeconfig "$scratch/nobody" --server "$server" --certificate-authority "$scratch/data/keys/ca.crt" --token "$token" "$@"
}

accounts_have_tokens() {
  kubectl create serviceaccount reader > /dev/null
  expect "its own name" [ "$(as reader auth whoami -o 'jsonpath={.status.userInfo.username}')" = system:serviceaccount:default:reader ]
  expect "no right yet" refused 'cannot list resource "pods"' as reader get pods
  expect "no token without an account" refused 'serviceaccounts "none" not found' kubectl create token none
  expect "no short tokens" refused "less than 10 minutes" kubectl create token reader --duration=1m
}
roles_give_rights() {
  kubectl create role pods --verb=get,list --resource=pods > /dev/null
  kubectl create rolebinding pods --role=pods --serviceaccount=default:reader > /dev/null
  expect "pods to be listed" as reader get pods
  expect "nothing else" refused 'cannot list resource "secrets"' as reader get secrets
  expect "no other namespace" refused 'in the namespace "kube-system"' as reader -n kube-system get pods
  expect "can-i to say yes" as reader auth can-i list pods
  expect "can-i to say no" refused no as reader auth can-i delete pods
  as reader auth can-i --list > "$scratch/list"
  expect "the rules in a list" grep -q '^pods ' "$scratch/list"
  expect "an administrator to ask for others" sh -c "kubectl auth can-i list pods --as system:serviceaccount:default:reader | grep -qx yes"
  kubectl delete rolebinding pods > /dev/null
  expect "rights to end with the binding" refused 'cannot list resource "pods"' as reader get pods
}
default_roles_are_there() {
  expect "those of controllers and components" kubectl get clusterrole,clusterrolebinding system:controller:deployment-controller system:kube-scheduler system:public-info-viewer
  expect "those of namespaces" kubectl get role,rolebinding -n kube-system system::leader-locking-kube-scheduler
  kubectl create rolebinding viewer --clusterrole=view --serviceaccount=default:reader > /dev/null
  expect "what view shows" as reader get pods,configmaps,vcjob
  expect "no secrets" refused 'cannot list resource "secrets"' as reader get secrets
  expect "no writes" refused 'cannot create resource "configmaps"' as reader create configmap x
  kubectl create rolebinding editor --clusterrole=edit --serviceaccount=default:reader > /dev/null
  expect "writes of edit" as reader create configmap x
  expect "no roles" refused 'cannot create resource "roles"' as reader create role x --verb=get --resource=pods
  expect "commands to jobs" sh -c "kubectl --as system:serviceaccount:default:reader create -f - << 'END'
apiVersion: bus.volcano.sh/v1alpha1
kind: Command
metadata: {name: c1, namespace: default}
action: ResumeJob
target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: none, uid: x}
END"
  expect "no commands to queues" refused 'user not permitted to update queue "default"' kubectl --as system:serviceaccount:default:reader create -f - << 'END'
apiVersion: bus.volcano.sh/v1alpha1
kind: Command
metadata: {name: c2, namespace: default}
action: CloseQueue
target: {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, name: default, uid: x}
END
}
nobody_gives_what_they_do_not_have() {
  kubectl create rolebinding owner --clusterrole=admin --serviceaccount=default:reader > /dev/null
  expect "what is had can be given" as reader create role fine --verb=get --resource=pods
  expect "what is not cannot" refused "attempting to grant RBAC permissions not currently held" as reader create role more --verb=get --resource=nodes
  expect "nor by a binding" refused "attempting to grant RBAC permissions not currently held" as reader create rolebinding more --clusterrole=cluster-admin --serviceaccount=default:reader
  expect "roleRef to stay" refused "cannot change roleRef" kubectl patch rolebinding owner --type=merge -p '{"roleRef": {"name": "view"}}'
}
tokens_end_with_what_they_are_for() {
  local token
  kubectl create serviceaccount brief > /dev/null
  kubectl create clusterrolebinding brief --clusterrole=view --serviceaccount=default:brief > /dev/null
  token=$(kubectl create token brief)
  expect "it to work" sh -c "kubectl --kubeconfig '$scratch/nobody' --server '$server' --certificate-authority '$scratch/data/keys/ca.crt' --token '$token' get pods -A"
  kubectl delete serviceaccount brief > /dev/null
  kubectl create serviceaccount brief > /dev/null
  expect "another account of the name to be another" refused Unauthorized kubectl --kubeconfig "$scratch/nobody" --server "$server" --certificate-authority "$scratch/data/keys/ca.crt" --token "$token" get pods -A
  expect "a token of nobody" refused Unauthorized kubectl --kubeconfig "$scratch/nobody" --server "$server" --certificate-authority "$scratch/data/keys/ca.crt" --token "${token%?????}AAAAA" get pods -A
}
names_narrow_rights() {
  kubectl create serviceaccount narrow > /dev/null
  kubectl create namespace apart > /dev/null
  kubectl create clusterrole see-namespaces --verb=get --resource=namespaces > /dev/null
  kubectl create rolebinding see -n apart --clusterrole=see-namespaces --serviceaccount=default:narrow > /dev/null
  expect "a namespace to be seen from inside" as narrow get namespace apart
  expect "no other" refused 'cannot get resource "namespaces" in API group "" in the namespace "default"' as narrow get namespace default
  expect "not all" refused 'cannot list resource "namespaces" in API group "" at the cluster scope' as narrow get namespaces
  kubectl create configmap one > /dev/null
  kubectl create role one --verb=list,watch,deletecollection --resource=configmaps --resource-name=one > /dev/null
  kubectl create rolebinding one --role=one --serviceaccount=default:narrow > /dev/null
  expect "one to be listed by its name" [ "$(as narrow get configmaps --field-selector metadata.name=one -o name)" = configmap/one ]
  expect "one to be watched by its name" as narrow get --raw '/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Done'
  expect "no other to be listed" refused 'cannot list resource "configmaps"' as narrow get configmaps --field-selector metadata.name=two
  expect "no list" refused 'cannot list resource "configmaps"' as narrow get configmaps
  expect "no collection to be deleted" refused 'cannot deletecollection resource "configmaps"' as narrow delete --raw '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Done'
}
token_secret() { # token_secret NAME ACCOUNT
  kubectl create -f - << END
apiVersion: v1
kind: Secret
metadata: {name: $1, annotations: {kubernetes.io/service-account.name: $2}}
type: kubernetes.io/service-account-token
END
}
held_token() { kubectl get secret "$1" -o 'jsonpath={.data.token}' | base64 -d; }
has_token() { [ -n "$(held_token "$1")" ]; }
with_token() { # with_token TOKEN COMMAND...
  local token=$1
  shift
  kubectl --kubeconfig "$scratch/nobody" --server "$server" --certificate-authority "$scratch/data/keys/ca.crt" --token "$token" "$@"
}
secrets_hold_tokens() {
  local first second
  kubectl create serviceaccount holder > /dev/null
  token_secret first holder > /dev/null
  token_secret second holder > /dev/null
  expect "one token" wait_for 10 has_token first
  expect "another token" wait_for 10 has_token second
  first=$(held_token first)
  second=$(held_token second)
  expect "the account's name" [ "$(with_token "$first" auth whoami -o 'jsonpath={.status.userInfo.username}')" = system:serviceaccount:default:holder ]
  expect "the CA" sh -c "kubectl get secret first -o 'jsonpath={.data.ca\.crt}' | base64 -d | cmp - '$scratch/data/keys/ca.crt'"
  expect "the namespace" [ "$(kubectl get secret first -o 'jsonpath={.data.namespace}' | base64 -d)" = default ]
  kubectl delete secret first > /dev/null
  expect "it to end with its Secret" refused Unauthorized with_token "$first" auth whoami
  expect "the other one to go on" with_token "$second" auth whoami
  kubectl delete serviceaccount holder > /dev/null
  expect "it to end with its account" refused Unauthorized with_token "$second" auth whoami
  expect "the Secret to go, too" wait_for 10 refused "not found" kubectl get secret second
  expect "an account to be named" refused "metadata.annotations[kubernetes.io/service-account.name]: Required value" kubectl create secret generic third --type=kubernetes.io/service-account-token
}

pods_reach_the_server() {
  kubectl create serviceaccount worker > /dev/null
  kubectl create rolebinding worker --clusterrole=view --serviceaccount=default:worker > /dev/null
  kubectl apply -f - > /dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: inside}
spec:
  serviceAccountName: worker
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: i, command: [sleep, "1000"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: without}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: i, command: [sleep, "1000"]}]
YAML
  expect "it to run" wait_for 20 field_is pod inside .status.phase Running
  expect "its name" [ "$(kubectl exec inside -- kubectl auth whoami -o 'jsonpath={.status.userInfo.username}')" = system:serviceaccount:default:worker ]
  expect "what view shows" kubectl exec inside -- kubectl get pods
  expect "no secrets" refused 'cannot list resource "secrets"' kubectl exec inside -- kubectl get secrets
  expect "another to run" wait_for 20 field_is pod without .status.phase Running
  expect "no token for who wants none" refused "No such file" kubectl exec without -- ls /var/run/secrets/kubernetes.io
  expect "an account that is not there" refused "error looking up service account default/none" kubectl run bad --image=i --overrides='{"spec": {"serviceAccountName": "none"}}'
  kubectl exec inside -- cat /var/run/secrets/kubernetes.io/serviceaccount/token > "$scratch/token"
  kubectl delete pod inside > /dev/null
  expect "its token to end with the pod" refused Unauthorized kubectl --kubeconfig "$scratch/nobody" --server "$server" --certificate-authority "$scratch/data/keys/ca.crt" --token "$(cat "$scratch/token")" get pods
}

: > "$scratch/nobody"
start_cluster --node-name n1 --host-rootfs --runtime process
server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
wait_for 10 kubectl get serviceaccount default
run_tests accounts_have_tokens roles_give_rights default_roles_are_there nobody_gives_what_they_do_not_have tokens_end_with_what_they_are_for names_narrow_rights secrets_hold_tokens
if [ $root = 1 ]; then
  stop_cluster
  rm -rf "$scratch/data"
  start_cluster --node-name n1 --host-rootfs --runtime runc
  server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
  wait_for 10 kubectl get serviceaccount default
  run_tests pods_reach_the_server
else
  echo "skip pods_reach_the_server: it needs root"
fi
exit ${failed:-0}
