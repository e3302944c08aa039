#!/usr/bin/env bash
# Admission policies as stock kubectl writes them and meets them, and our own rules as policies.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

says() { # says TEXT COMMAND...: the command's output contains the text, whether it fails or not
  local text=$1 out
  shift
  out=$("$@" 2>&1)
  [[ $out == *"$text"* ]] || { echo "$out"; return 1; }
}
write_policy() {
  cat << 'YAML'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small-jobs}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [batch.volcano.sh], apiVersions: [v1alpha1], operations: [CREATE, UPDATE], resources: [jobs]}
  paramKind: {apiVersion: v1, kind: ConfigMap}
  variables:
  - {name: pods, expression: "object.spec.tasks.map(t, int(t.replicas)).sum()"}
  validations:
  - expression: variables.pods <= int(params.data.pods)
    messageExpression: "'at most ' + params.data.pods + ' pods here'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: small-jobs}
spec:
  policyName: small-jobs
  validationActions: [Deny]
  paramRef: {name: limits, parameterNotFoundAction: Deny}
YAML
}
big_job() {
  cat << 'YAML'
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: big}
spec:
  schedulerName: nobody
  tasks:
  - {name: w, replicas: 5, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}
YAML
}

a_policy_with_a_parameter_is_in_force() {
  write_policy > "$scratch/policy.yaml"
  big_job > "$scratch/job.yaml"
  expect "apply" kubectl apply -f "$scratch/policy.yaml"
  expect "without its parameter" says 'no params found for policy binding' kubectl create -f "$scratch/job.yaml"
  expect "the parameter" kubectl create configmap limits --from-literal=pods=3
  expect "refused" says "ValidatingAdmissionPolicy 'small-jobs' with binding 'small-jobs' denied request: at most 3 pods here" \
    kubectl create -f "$scratch/job.yaml"
  expect "its row" says 'v1/ConfigMap' kubectl get validatingadmissionpolicies
}
it_warns_and_notes_instead() {
  expect "patch" kubectl patch validatingadmissionpolicybinding small-jobs --type=merge -p '{"spec":{"validationActions":["Warn","Audit"]}}'
  expect "a warning" says 'Warning: Validation failed for ValidatingAdmissionPolicy' kubectl create -f "$scratch/job.yaml"
  expect "a line of the log" grep -q 'audit: .* create jobs.batch.volcano.sh default/big: validation.policy.admission' "$scratch/up.log"
  expect "what cannot be compiled" says 'spec.validations[0].expression: Invalid value: "object.x"' \
    kubectl patch validatingadmissionpolicy small-jobs --type=json -p '[{"op":"replace","path":"/spec/validations/0/expression","value":"object.x"}]'
  expect "delete" kubectl delete -f "$scratch/policy.yaml"
}
our_rules_are_policies() {
  "$volcano" policies > "$scratch/ours.yaml"
  expect "apply" kubectl apply -f "$scratch/ours.yaml"
  expect "again" sh -c "! kubectl apply -f $scratch/ours.yaml | grep -v unchanged"
  expect "what they fill in" says 'w-1' sh -c "sed 's/name: big/name: w-1/' $scratch/job.yaml | kubectl create -f -"
  expect "what they refuse" says "ValidatingAdmissionPolicy 'job-validation-policy'" \
    sh -c "sed 's/name: big/name: w-2/; s/replicas: 5/replicas: 5, minAvailable: 6/' $scratch/job.yaml | kubectl create -f -"
}

labels_of_a_namespace_judge_its_pods() {
  local level=pod-security.kubernetes.io/enforce
  expect "a namespace" kubectl create namespace guarded
  expect "a pod from before" kubectl -n guarded run old --image=x --overrides='{"spec":{"hostPID":true,"schedulerName":"nobody"}}'
  expect "a level that is none" refused "metadata.labels[$level]: Invalid value: \"high\": must be one of privileged, baseline, restricted" \
    kubectl label namespace guarded $level=high
  expect "who is told of the pod" says 'Warning: old: host namespaces' kubectl label --dry-run=server namespace guarded $level=restricted
  expect "labelled" kubectl label namespace guarded $level=restricted
  expect "refused" refused 'pods "p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "p" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities' \
    kubectl -n guarded run p --image=x
  expect "a warning" says 'Warning: would violate PodSecurity "restricted:latest"' kubectl -n guarded create deployment d --image=x
  expect "its pods are refused, which it says" wait_for 20 sh -c "kubectl -n guarded get events | grep -q 'violates PodSecurity'"
  expect "what meets it" kubectl -n guarded run good --image=x --overrides='{"spec":{"schedulerName":"nobody","securityContext":{"runAsNonRoot":true,
    "seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c","image":"x","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}'
  expect "delete" kubectl delete namespace guarded --wait=false
}

if ! start_cluster; then
  echo "FAIL start: volcano up did not become ready"
  exit 1
fi
run_tests a_policy_with_a_parameter_is_in_force it_warns_and_notes_instead our_rules_are_policies labels_of_a_namespace_judge_its_pods
