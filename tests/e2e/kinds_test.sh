#!/usr/bin/env bash
# Every kind of the first path meets every kubectl verb: a manifest each, and one list of steps for all of them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# One manifest a kind; names are k-KIND. Nothing schedules or runs them.
manifest() { # manifest KIND
  local head="metadata: {name: k-$1}"
  case $1 in
    vcjob) cat << YAML
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
$head
spec:
  schedulerName: nobody
  minAvailable: 1
  tasks: [{name: a, replicas: 1, minAvailable: 1, maxRetry: 3, template: {spec: {containers: [{name: c, image: x}]}}}]
YAML
      ;;
    deployment | statefulset) printf 'apiVersion: apps/v1\nkind: %s\n%s\nspec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n' "$([ "$1" = deployment ] && echo Deployment || echo StatefulSet)" "$head" ;;
    cronjob) printf 'apiVersion: batch/v1\nkind: CronJob\n%s\nspec: {schedule: "@yearly", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}}\n' "$head" ;;
    queue) printf 'apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n%s\nspec: {weight: 2}\n' "$head" ;;
    podgroup) printf 'apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n%s\nspec: {minMember: 1, queue: default}\n' "$head" ;;
    command) printf 'apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\n%s\naction: SyncJob\n' "$head" ;;
    namespace) printf 'apiVersion: v1\nkind: Namespace\n%s\n' "$head" ;;
    node) printf 'apiVersion: v1\nkind: Node\n%s\n' "$head" ;;
    pod) printf 'apiVersion: v1\nkind: Pod\n%s\nspec: {schedulerName: nobody, containers: [{name: c, image: x}]}\n' "$head" ;;
    service) printf 'apiVersion: v1\nkind: Service\n%s\nspec: {clusterIP: None, selector: {a: b}}\n' "$head" ;;
    endpoints) printf 'apiVersion: v1\nkind: Endpoints\n%s\nsubsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 80, protocol: TCP}]}]\n' "$head" ;;
    configmap) printf 'apiVersion: v1\nkind: ConfigMap\n%s\ndata: {k: v}\n' "$head" ;;
    secret) printf 'apiVersion: v1\nkind: Secret\n%s\ndata: {k: dg==}\n' "$head" ;;
    serviceaccount) printf 'apiVersion: v1\nkind: ServiceAccount\n%s\n' "$head" ;;
    event) printf 'apiVersion: v1\nkind: Event\n%s\ninvolvedObject: {kind: Pod, name: p, namespace: default}\nreason: Seen\nmessage: seen\ntype: Normal\n' "$head" ;;
    priorityclass) printf 'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n%s\nvalue: 7\n' "$head" ;;
    persistentvolumeclaim) printf 'apiVersion: v1\nkind: PersistentVolumeClaim\n%s\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n' "$head" ;;
    persistentvolume) printf 'apiVersion: v1\nkind: PersistentVolume\n%s\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /nowhere}}\n' "$head" ;;
    storageclass) printf 'apiVersion: storage.k8s.io/v1\nkind: StorageClass\n%s\nprovisioner: example.com/p\n' "$head" ;;
    lease) printf 'apiVersion: coordination.k8s.io/v1\nkind: Lease\n%s\nspec: {holderIdentity: me}\n' "$head" ;;
    validatingadmissionpolicy) printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n%s\nspec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [secrets], scope: "*"}]}, validations: [{expression: "true"}]}\n' "$head" ;;
    mutatingadmissionpolicybinding) printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding\n%s\nspec: {policyName: nobody}\n' "$head" ;;
    mutatingwebhookconfiguration) printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\n%s\nwebhooks: [{name: a.example.com, clientConfig: {service: {name: s, namespace: default}}, sideEffects: None, admissionReviewVersions: [v1]}]\n' "$head" ;;
    networkpolicy) printf 'apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n%s\nspec: {podSelector: {}}\n' "$head" ;;
  esac
}
kinds="vcjob queue podgroup command namespace node pod service endpoints configmap secret serviceaccount event priorityclass
  persistentvolumeclaim persistentvolume storageclass lease networkpolicy validatingadmissionpolicy mutatingadmissionpolicybinding mutatingwebhookconfiguration deployment statefulset cronjob"

label_of() { field "$1" "k-$1" ".metadata.labels.$2"; }
has() { # has TEXT COMMAND...: the command's output contains the text
  local text=$1 out
  shift
  out=$("$@" 2>&1) && [[ $out == *"$text"* ]]
}

# To kubectl before 1.21 a CronJob of batch/v1 is a stranger's: it describes batch/v1beta1, and always has something to apply.
strange_to_an_old_version() { # strange_to_an_old_version KIND
  local minor
  [ "$1" = cronjob ] || return 1
  minor=$(kubectl version --client -o json | sed -n 's/.*"minor": "\([0-9]*\).*/\1/p')
  [ "$minor" -lt 21 ]
}

# Somebody else may write the status between the read and the write, which is a conflict, and then it is read again.
replaced() { # replaced KIND NAME
  kubectl get "$1" "$2" -o yaml | sed 's/step: edited/step: replaced/' > "$scratch/replaced.yaml"
  kubectl replace -f "$scratch/replaced.yaml"
}
verbs() { # verbs KIND
  local kind=$1 name=k-$1 file=$scratch/k-$1.yaml shown=k-$1
  [ "$kind" = event ] && shown=Seen # the table of events has no names
  manifest "$kind" > "$file"
  expect "create --dry-run" has "$name" kubectl create --dry-run=server -o name -f "$file"
  expect "a dry run makes nothing" sh -c "! kubectl get $kind $name"
  expect "create" kubectl create -f "$file"
  expect "create again says so" sh -c "kubectl create -f $file 2>&1 | grep 'already exists'"
  expect "get" has "$shown" kubectl get "$kind"
  expect "get -o wide" has "$shown" kubectl get "$kind" "$name" -o wide
  expect "get -o yaml" has "name: $name" kubectl get "$kind" "$name" -o yaml
  expect "get -o json" has "\"name\": \"$name\"" kubectl get "$kind" "$name" -o json
  expect "get -o jsonpath" field_is "$kind" "$name" .metadata.name "$name"
  expect "describe" has "$name" kubectl describe "$kind" "$name"
  expect "label" kubectl label "$kind" "$name" step=label
  expect "the label" test "$(label_of "$kind" step)" = label
  expect "patch" kubectl patch "$kind" "$name" --type=merge -p '{"metadata":{"labels":{"step":"patch"}}}'
  expect "the patched label" test "$(label_of "$kind" step)" = patch
  expect "apply" kubectl apply -f "$file"
  expect "apply again changes nothing" has unchanged kubectl apply -f "$file"
  sed 's/metadata: {/metadata: {labels: {step: applied}, /' "$file" > "$file.2"
  expect "apply a change" has configured kubectl apply -f "$file.2"
  expect "the applied label" test "$(label_of "$kind" step)" = applied
  expect "edit" env KUBE_EDITOR="sed -i s/step:.applied/step:\ edited/" kubectl edit "$kind" "$name"
  expect "the edited label" test "$(label_of "$kind" step)" = edited
  expect "replace" wait_for 10 replaced "$kind" "$name"
  expect "the replaced label" test "$(label_of "$kind" step)" = replaced
  expect "explain" has "KIND" kubectl explain "$kind"
  kubectl get "$kind" "$name" -w --output-watch-events > "$scratch/k-$kind.watch" 2> /dev/null &
  local watching=$!
  expect "a watch begins" wait_for 5 grep "$shown" "$scratch/k-$kind.watch"
  expect "delete" kubectl delete --timeout=20s "$kind" "$name"
  expect "wait for the end" gone "$kind/$name"
  expect "the watch saw the end" wait_for 5 grep DELETED "$scratch/k-$kind.watch"
  kill $watching 2> /dev/null
  wait $watching 2> /dev/null
  expect "gone" has NotFound kubectl_fails get "$kind" "$name"
}
gone() { # kubectl 1.20 calls it an error to wait for the end of what has ended
  local out
  out=$(kubectl wait --for=delete --timeout=10s "$1" 2>&1) || [[ $out == *"no matching resources"* ]]
}
kubectl_fails() { ! kubectl "$@"; }

api_services_say_what_is_served() {
  expect "those of the program" wait_for 20 sh -c "kubectl get apiservice v1. v1.apps v1beta1.scheduling.volcano.sh --no-headers | grep -c 'Local *True' | grep -qx 3"
  kubectl apply -f - > /dev/null << 'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.served.example}
spec:
  group: served.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
YAML
  expect "that of a definition" wait_for 10 kubectl wait --for=condition=Available apiservice/v1.served.example --timeout=5s
  expect "none of a version that is not served" sh -c "! kubectl get apiservice v2.served.example"
  kubectl delete crd widgets.served.example > /dev/null
  expect "its end" wait_for 10 sh -c "! kubectl get apiservice v1.served.example"
  printf 'apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1beta1.elsewhere.example}\nspec: {group: elsewhere.example, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, service: {name: s, namespace: default}}\n' > "$scratch/elsewhere.yaml"
  expect "another server to be refused in a sentence" refused "spec.service: Forbidden: this server serves every group itself" kubectl create -f "$scratch/elsewhere.yaml"
  kubectl delete apiservice v1.apps > /dev/null
  expect "one that is deleted to come back" wait_for 10 kubectl get apiservice v1.apps
}

if ! start_cluster; then
  echo "FAIL start: volcano up did not become ready"
  exit 1
fi
tests=""
for kind in ${KINDS:-$kinds}; do
  strange_to_an_old_version "$kind" && continue
  eval "every_verb_on_$kind() { verbs $kind; }"
  tests+=" every_verb_on_$kind"
done
run_tests $tests api_services_say_what_is_served
