#!/usr/bin/env bash
# The keys of the webhook server, on a stock kube-apiserver that calls the server as the chart's configurations say: made by the
# hook's program, shared by two servers, taken over from another installation, mended when they are rubbish; no call fails meanwhile.
# Then what it is asked: about groups and pods that move to another queue, and about no other update of theirs.
# Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need certificates etcd kube-apiserver kube-controller-manager helm-template
start_server KWOK=0
kubectl create namespace volcano-system > /dev/null
check "deploy/volcano.yaml" kubectl apply -f deploy/volcano.yaml
# The path that is not on by default.
"$built/bin/helm-template" -namespace volcano-system -set custom.enabled_admissions=/pods/validate deploy/chart/volcano |
  awk 'BEGIN { RS = "---\n" } /kind: ValidatingWebhookConfiguration/' | kubectl apply -f - > /dev/null
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
hook_port=${STOCK_HOOK_PORT:-28543}
secret=(-n volcano-system secret volcano-admission-secret)
# The API server finds the webhook under the name of its service, and the service here.
kubectl -n volcano-system delete service volcano-admission-service > /dev/null
kubectl -n volcano-system create service externalname volcano-admission-service --external-name localhost > /dev/null
for hook in $(kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o name | grep volcano-admission-service); do
  kubectl patch "$hook" --type json -p "[{op: replace, path: /webhooks/0/clientConfig/service/port, value: $hook_port}]" > /dev/null
done
account() { # account NAME: prints the name of a kubeconfig
  cp "$KUBECONFIG" "$scratch/$1.kubeconfig"
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-credentials "$1" --token="$(kubectl -n volcano-system create token "volcano-$1")" > /dev/null
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-context --current --user "$1" > /dev/null
  echo "$scratch/$1.kubeconfig"
}
init=$(account admission-init) admission=$(account admission) scheduler=$(account scheduler)
hook() { # hook NAME: what the chart's hook job runs
  "$bin/gen-admission-secret.sh" --service volcano-admission-service --namespace volcano-system --secret volcano-admission-secret \
    --kubeconfig "$init" > "$scratch/$1.log" 2>&1
}
hook one & first=$!
hook two & second=$!
check "two hooks at once both succeed" wait $first
check "and so does the other" wait $second
check "one of them has made the keys" sh -c "[ \$(cat '$scratch/one.log' '$scratch/two.log' | grep -c 'has new keys: it was not there') = 1 ]"
made=$(kubectl get "${secret[@]}" -o 'jsonpath={.data.tls\.crt}')
check "a third one leaves them" hook three
check "and says so" grep -q 'it stays as it is' "$scratch/three.log"
unchanged() { [ "$(kubectl get "${secret[@]}" -o 'jsonpath={.data.tls\.crt}')" = "$made" ]; }
check "they are the same" unchanged

server() { # server NAME PORT KUBECONFIG FLAG...: health on PORT + 1
  local name=$1 port=$2 config=$3
  shift 3
  run "$name" "$bin/vc-webhook-manager" --kubeconfig "$config" --port "$port" --healthz-address "127.0.0.1:$((port + 1))" --enable-healthz \
    --enabled-admission /jobs/mutate,/jobs/validate,/queues/mutate,/queues/validate,/podgroups/validate,/pods/validate,/hypernodes/validate,/cronjobs/validate \
    --webhook-namespace volcano-system --webhook-service-name volcano-admission-service --tls-secret-name volcano-admission-secret "$@"
}
server a $hook_port "$admission"
server b $((hook_port + 10)) "$admission"
ready() { curl -fsk "https://127.0.0.1:$1/readyz"; }
check "one server is ready" wait_for 20 ready $((hook_port + 1))
check "and so is the other" wait_for 20 ready $((hook_port + 11))
queue() { printf 'apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: %s}\nspec: {weight: 1, parent: %s}\n' "$1" "$2"; }
denied() { [[ $(queue new missing | kubectl apply --dry-run=server -f - 2>&1) == *'validatequeue.volcano.sh'*'denied'* ]]; }
check "the API server calls it by its service, and trusts it" wait_for 20 denied
serving() { openssl s_client -connect "127.0.0.1:$1" -servername x < /dev/null 2> /dev/null | openssl x509 -noout -fingerprint; }
stored() { kubectl get "${secret[@]}" -o 'jsonpath={.data.tls\.crt}' | base64 -d | openssl x509 -noout -fingerprint; }
serves_stored() { [ "$(serving "$1")" = "$(stored)" ]; }
check "both serve what the Secret has" serves_stored $hook_port
check "both, indeed" serves_stored $((hook_port + 10))

# Another installation's: as Volcano's script makes them, an RSA CA and a certificate that it has signed, both of one name.
name=volcano-admission-service.volcano-system.svc
{
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/ca.key" -out "$scratch/ca.crt" -days 3650 -subj "/CN=$name"
  openssl req -newkey rsa:2048 -nodes -keyout "$scratch/tls.key" -out "$scratch/tls.csr" -subj "/CN=$name"
  openssl x509 -req -in "$scratch/tls.csr" -CA "$scratch/ca.crt" -CAkey "$scratch/ca.key" -CAcreateserial -days 3650 -out "$scratch/tls.crt" \
    -extfile <(printf 'extendedKeyUsage=serverAuth\nsubjectAltName=DNS:volcano-admission-service,DNS:%s' $name)
} 2> /dev/null
replace() { kubectl -n volcano-system create secret generic volcano-admission-secret --from-file="$scratch/tls.key" --from-file="$scratch/tls.crt" --from-file="$scratch/ca.crt" --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f -; }
# Somebody who puts in keys by another CA without the old one has to bear with a moment; what we do ourselves must not fail.
check "the keys of an existing installation" replace
check "are taken over by the servers that run" wait_for 20 serves_stored $hook_port
check "by both" wait_for 20 serves_stored $((hook_port + 10))
check "which are called as before" wait_for 10 denied

calls=0 failures=0
keep_calling() { # keep_calling COMMAND...: until it succeeds, for 30 s
  local end=$(($(date +%s) + 30))
  until "$@" > /dev/null 2>&1; do
    calls=$((calls + 1))
    denied || failures=$((failures + 1))
    [ "$(date +%s)" -ge $end ] && return 1
  done
  return 0
}
taken_over=$(stored)
kubectl patch "${secret[@]}" --type merge -p '{"data": {"tls.crt": "cnViYmlzaA=="}}' > /dev/null
mended() { [ "$(stored)" != "$taken_over" ] && serves_stored $hook_port && serves_stored $((hook_port + 10)); }
check "rubbish in the Secret is mended" keep_calling mended
check "and named" grep -q 'Secret volcano-system/volcano-admission-secret: tls.crt holds no certificate; new keys are made' "$scratch/a.log" "$scratch/b.log"
no_failures() { [ "$failures" = 0 ] && [ "$calls" -ge 1 ] || { echo "$failures of $calls calls failed"; false; }; }
check "while no call fails" no_failures
kubectl get "${secret[@]}" -o 'jsonpath={.data.tls\.crt}' > "$scratch/before"
check "the hook of an upgrade keeps what can be used" hook four
check "for both servers" cmp "$scratch/before" <(kubectl get "${secret[@]}" -o 'jsonpath={.data.tls\.crt}')

server c $((hook_port + 20)) "$scheduler" --ca-cert-file "$scratch/ca.crt" --tls-cert-file "$scratch/tls.crt" --tls-private-key-file "$scratch/tls.key"
check "an account that may not see the Secret is told so" wait_for 10 grep -q 'Secret volcano-system/volcano-admission-secret cannot be read.*volcano-scheduler.*the account needs get, list, watch and patch' "$scratch/c.log"
kubectl -n volcano-system delete secret volcano-admission-secret > /dev/null
check "a Secret that has gone is named" wait_for 10 grep -q 'Secret volcano-system/volcano-admission-secret cannot be written.*cannot create' "$scratch/a.log"
check "and the servers go on" denied
check "until the hook makes it again" hook five
check "and they take that" wait_for 60 serves_stored $hook_port

check "a queue for others" kubectl apply -f <(queue others root | sed 's/others}/others, annotations: {volcano.sh\/allowed-namespaces: lab}}/')
check "and one for all" kubectl apply -f <(queue open root)
kubectl create namespace lab > /dev/null
wait_for 10 kubectl -n lab get serviceaccount default
for namespace in default lab; do
  kubectl -n $namespace apply -f - > "$scratch/moving.log" << 'YAML'
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g}
spec: {minMember: 1, queue: open}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: bare}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {schedulerName: volcano, containers: [{name: c, image: i}]}
YAML
done
to() { kubectl -n "$1" patch podgroup "$2" --type merge -p "{\"spec\": {\"queue\": \"$3\"}}" 2>&1; }
pod_to() { kubectl -n "$1" annotate pod p --overwrite "scheduling.volcano.sh/queue-name=$2" 2>&1; }
refused_as() { local said=$1; shift; [[ $("$@") == *"$said"* ]]; }
not_here='queue `others` is not for namespace `default` (volcano.sh/allowed-namespaces)'
check "a group that moves into it is refused" refused_as "$not_here" to default g others
check "so is one that named no queue" refused_as "$not_here" to default bare others
check "and a pod" refused_as "$not_here" pod_to default others
check "a queue that is not there takes no group" refused_as 'unable to find queue: queue.scheduling.volcano.sh "none" not found' to default g none
check "those of the namespace move" to lab g others
check "and its pods" pod_to lab others
check "and so do groups to a queue for all" to default bare open
kill "${programs[@]}" 2> /dev/null
down() { refused_as 'failed calling webhook "validatepodgroup.volcano.sh"' to default g others; }
check "without the server nothing moves" wait_for 20 down
pod_down() { refused_as 'failed calling webhook "validatepod.volcano.sh"' pod_to default others; }
check "nor does a pod" wait_for 20 pod_down
check "but what stays where it is may change" kubectl annotate podgroup/g pod/p a=b
check "in its specification" kubectl patch podgroup bare --type merge -p '{"spec": {"minMember": 2}}'
# Volcano's definition of a PodGroup has no subresource: who writes the status writes the object.
check "and its status" kubectl patch podgroup g --type merge -p '{"status": {"phase": "Inqueue"}}'
check "and go" kubectl delete podgroup g bare
exit $failed
