#!/usr/bin/env bash
# Custom resources of strangers with stock kubectl: definitions, their objects, versions, rights, and the end of both.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

says() { # says TEXT COMMAND...
  local text=$1 out
  shift
  out=$("$@" 2>&1) || { echo "$out"; return 1; }
  grep -qF -- "$text" <<< "$out" || { echo "$out"; return 1; }
}
submit() { # submit MANIFEST KUBECTL-ARGUMENTS...
  local text=$1
  shift
  kubectl "$@" -f - <<< "$text"
}
definition() { # definition MAXIMUM: of crontabs
  cat <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    additionalPrinterColumns:
    - {name: Spec, type: string, jsonPath: .spec.cronSpec}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    selectableFields: [{jsonPath: .spec.image}]
    schema: &schema
      openAPIV3Schema:
        type: object
        description: A table of times.
        properties:
          spec:
            type: object
            description: What runs when.
            required: [cronSpec]
            x-kubernetes-validations:
            - {rule: "self.replicas < $1", message: too many replicas, reason: FieldValueForbidden, fieldPath: .replicas}
            properties:
              cronSpec: {type: string, pattern: '^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$', description: When.}
              image: {type: string}
              replicas: {type: integer, minimum: 1, maximum: 10, default: 1}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
  - {name: v1beta1, served: true, storage: false, deprecated: true, schema: *schema}
YAML
}
crontab() { # crontab NAME [MORE OF SPEC] [MORE OF METADATA]
  printf '%s
' "apiVersion: stable.example.com/v1" "kind: CronTab" "metadata: {name: $1${3:+, $3}}" \
    "spec: {cronSpec: '* * * * */5', image: $1${2:+, $2}}"
}

definitions_are_served_at_once() {
  submit "$(definition 8)" apply > /dev/null
  expect "established" kubectl wait --for condition=established --timeout=5s crd/crontabs.stable.example.com
  expect "an object" submit "$(crontab one)" apply
  expect "api-resources" says "crontabs" kubectl api-resources --api-group=stable.example.com
  expect "a short name" says "crontab.stable.example.com/one" kubectl get ct -o name
  expect "a category" says "one" kubectl get all
  expect "columns" says "SPEC" kubectl get ct
  expect "a default" field_is ct one .spec.replicas 1
  expect "explain" says "When." kubectl explain crontab.spec.cronSpec
  expect "the name of a definition" says "crontabs.stable.example.com" kubectl get crd
}
objects_are_held_to_the_schema() {
  expect "a pattern" refused "should match" submit "$(crontab x | sed 's/\*/x/')" apply
  expect "what is required" refused "spec.cronSpec: Required value" submit "$(crontab x | sed 's/cronSpec/image2/')" create --validate=false
  expect "a rule" refused "spec.replicas: Forbidden: too many replicas" kubectl patch ct one --type=merge -p '{"spec": {"replicas": 9}}'
  expect "an unknown field" refused 'unknown field "spec.other"' submit "$(crontab x 'other: 1')" apply
  expect "no strategic patch" refused "media type" kubectl patch ct one --type=strategic -p '{"spec": {"replicas": 2}}'
}
objects_change() {
  expect "an apply" submit "$(crontab one 'replicas: 2')" apply
  expect "a server-side apply" submit "$(crontab two 'replicas: 2')" apply --server-side
  expect "a conflict" refused "conflict" submit "$(crontab two 'replicas: 3')" apply --server-side --field-manager=other
  expect "a scale" kubectl scale ct one --replicas=4
  expect "its number" field_is ct one .spec.replicas 4
  expect "a status" kubectl patch ct one --subresource=status --type=merge -p '{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}'
  expect "the status in a column" says "True" kubectl get ct one
  expect "a selectable field" says "crontab.stable.example.com/two" kubectl get ct --field-selector spec.image=two -o name
  expect "another version" says "stable.example.com/v1beta1" kubectl get crontabs.v1beta1.stable.example.com one -o yaml
  expect "its warning" says "is deprecated" kubectl get crontabs.v1beta1.stable.example.com one
}
changes_of_definitions_count_at_once() {
  submit "$(definition 4)" apply > /dev/null
  expect "the new rule" refused "too many replicas" kubectl patch ct two --type=merge -p '{"spec": {"replicas": 5}}'
  expect "what is immutable" refused "field is immutable" kubectl patch crd crontabs.stable.example.com --type=merge -p '{"spec": {"scope": "Cluster"}}'
  expect "a schema without types" refused "must not be empty for specified object fields" sh -c "kubectl get crd crontabs.stable.example.com -o json | sed 's/\"type\": \"object\",//' | kubectl replace -f -"
}
roles_count_for_groups_of_strangers() {
  kubectl create serviceaccount reader > /dev/null
  kubectl create role tables --verb=get,list --resource=crontabs.stable.example.com > /dev/null
  kubectl create rolebinding tables --role=tables --serviceaccount=default:reader > /dev/null
  expect "reading" kubectl --as system:serviceaccount:default:reader get ct
  expect "no writing" refused "forbidden" kubectl --as system:serviceaccount:default:reader delete ct one
}
a_crash_loses_nothing() {
  kill_cluster
  start_cluster
  expect "the object" field_is ct one .spec.replicas 4
  expect "the rule" refused "too many replicas" kubectl patch ct two --type=merge -p '{"spec": {"replicas": 5}}'
}
owners_and_namespaces_take_objects_along() {
  local uid
  uid=$(kubectl get ct two -o 'jsonpath={.metadata.uid}')
  submit "$(printf '%s\n' "apiVersion: v1" "kind: ConfigMap" "metadata: {name: owned, ownerReferences: [{apiVersion: stable.example.com/v1, kind: CronTab, name: two, uid: $uid}]}")" apply > /dev/null
  kubectl create configmap owner > /dev/null
  uid=$(kubectl get cm owner -o 'jsonpath={.metadata.uid}')
  submit "$(crontab three "" "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $uid}]")" apply > /dev/null
  expect "an owner of the kind" kubectl delete ct two
  expect "what it owned to go" wait_for 10 sh -c "! kubectl get cm owned"
  kubectl delete cm owner > /dev/null
  expect "an object that is owned to go" wait_for 10 sh -c "! kubectl get ct three"
  kubectl create namespace away > /dev/null
  submit "$(crontab four)" apply -n away > /dev/null
  expect "a namespace with objects to go" kubectl delete namespace away --timeout=20s
}
definitions_go_after_their_objects() {
  kubectl patch ct one --type=merge -p '{"metadata": {"finalizers": ["example.com/held"]}}' > /dev/null
  kubectl delete crd crontabs.stable.example.com --wait=false > /dev/null
  expect "Terminating" wait_for 5 sh -c "kubectl get crd crontabs.stable.example.com -o 'jsonpath={.status.conditions[?(@.type==\"Terminating\")].status}' | grep -q True"
  expect "no more objects" refused "terminating" submit "$(crontab five)" create
  kubectl patch ct one --type=merge -p '{"metadata": {"finalizers": null}}' > /dev/null
  expect "the end" wait_for 10 sh -c "! kubectl get crd crontabs.stable.example.com"
  expect "no resource" refused "the server" kubectl get crontabs
}

start_cluster
run_tests definitions_are_served_at_once objects_are_held_to_the_schema objects_change changes_of_definitions_count_at_once \
  roles_count_for_groups_of_strangers a_crash_loses_nothing owners_and_namespaces_take_objects_along definitions_go_after_their_objects
exit "${failed:-0}"
