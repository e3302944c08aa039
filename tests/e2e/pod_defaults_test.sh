#!/usr/bin/env bash
# PodDefaults by the webhook server, as a cluster asks it: reviews of pods by hand, and what is changed while it runs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
port=$(free_port)

pod_default() { # pod_default NAME VALUE
  kubectl apply --validate=false -f - > /dev/null <<YAML
apiVersion: kubeflow.org/v1alpha1
kind: PodDefault
metadata: {name: $1}
spec: {selector: {matchLabels: {team: a}}, env: [{name: HOME_OF, value: $2}]}
YAML
}
review() { # review NAMESPACE LABELS: the patch, or the refusal
  curl -s --cacert "$scratch/cert.pem" -H 'Content-Type: application/json' "https://127.0.0.1:$port/apply-poddefault" -d '{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "7",
    "kind": {"kind": "Pod"}, "resource": {"group": "", "version": "v1", "resource": "pods"}, "operation": "CREATE", "namespace": "'"$1"'", "name": "p",
    "object": {"metadata": {"name": "p", "labels": '"$2"'}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}' |
    python3 -c 'import base64, json, sys; r = json.load(sys.stdin)["response"]; print(base64.b64decode(r.get("patch", "")).decode() or r.get("status", {}).get("message", "nothing"))'
}
says() { review "$1" "$2" | grep -qF -- "$3"; }

pods_get_what_their_namespace_says() {
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=hook -addext 'subjectAltName=IP:127.0.0.1' -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2> /dev/null
  kubectl apply --validate=false -f - > /dev/null <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: volcano-admission-service-apply-poddefault}
webhooks: []
YAML
  pod_default first one
  build/release/bin/vc-webhook-manager --enabled-admission /apply-poddefault --kubeconfig "$KUBECONFIG" --listen-address 127.0.0.1 --port "$port" --webhook-url "https://127.0.0.1:$port" \
    --tls-cert-file "$scratch/cert.pem" --tls-private-key-file "$scratch/key.pem" --ca-cert-file "$scratch/cert.pem" >> "$scratch/hook.log" 2>&1 &
  hook=$!
  expect "the first answer to have it" wait_for 20 says default '{"team": "a"}' '{"name":"HOME_OF","value":"one"}'
  expect "its mark" says default '{"team": "a"}' poddefault.admission.kubeflow.org/poddefault-first
  expect "nothing for other labels" says default '{"team": "b"}' nothing
  expect "nothing in other namespaces" says other '{"team": "a"}' nothing
}
changes_are_taken_up() {
  pod_default first two
  expect "the new value" wait_for 10 says default '{"team": "a"}' '"value":"two"'
  pod_default second three
  expect "a refusal of what contradicts" wait_for 10 says default '{"team": "a"}' 'conflict occurred while applying poddefaults: first,second on pod: p'
  kubectl delete poddefault first second > /dev/null
  expect "nothing when they are gone" wait_for 10 says default '{"team": "a"}' nothing
  kill $hook
  wait $hook 2> /dev/null
}

start_cluster --node-name n1 --runtime process
run_tests pods_get_what_their_namespace_says changes_are_taken_up
exit "${failed:-0}"
