#!/usr/bin/env bash
# Stock Helm on a stock server: a release of a chart with the names, labels and hook of Volcano's (written from spec/install 3 to 5, with
# Deployments of other images) is upgraded to our chart, rolled back, upgraded again, changed, and uninstalled; jobs and CRDs stay all the
# time. Then what an operator meets: a second release, and CRDs that Helm does not own. Prints "ok NAME" or "FAIL NAME: why". Needs what
# tests/stock/build.sh makes, and its helm.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need "helm release" etcd kube-apiserver kube-controller-manager kwok helm
start_server
helm=("$built/bin/helm")
export HELM_CACHE_HOME=$scratch/helm HELM_CONFIG_HOME=$scratch/helm HELM_DATA_HOME=$scratch/helm
ns=volcano-system
kubectl create namespace $ns > /dev/null
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "16", memory: 64Gi, pods: "50"}, allocatable: {cpu: "16", memory: 64Gi, pods: "50"}}
YAML
# Somebody has to bind the pods of the hook's job, which KWOK then ends; no scheduler of Kubernetes runs here.
binder() {
  while sleep 0.3; do
    kubectl get pods -A --field-selector spec.nodeName= -o 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}' 2> /dev/null |
      while read -r namespace pod; do
        printf '{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "%s"}, "target": {"kind": "Node", "name": "n1"}}' "$pod" |
          kubectl create --raw "/api/v1/namespaces/$namespace/pods/$pod/binding" -f - > /dev/null 2>&1
      done
  done
}
binder &
programs+=($!)

# The chart of before: what Helm compares with ours are kinds, names and fields.
old=$scratch/before
mkdir -p "$old/templates"
printf 'apiVersion: v2\nname: volcano\nversion: 1.15.0\nappVersion: 1.15.0\n' > "$old/Chart.yaml"
printf 'basic: {image_tag_version: v1.15.0}\ncustom: {scheduler_replicas: 1}\n' > "$old/values.yaml"
# One that came later is not there yet, so that upgrade, rollback and upgrade meet a CRD that was kept.
crds() { "$bin/volcano" crd | python3 -c 'import sys
documents = [one for one in sys.stdin.read().split("\n---\n") if ".volcano.sh" in one.split("spec:")[0] and "nodeshards" not in one.split("spec:")[0]]
print("\n---\n".join(documents))'; }
crds > "$scratch/crds.yaml" # with helm.sh/resource-policy: keep, as in both charts
sed 's/{{/{{ "{{" }}/g' "$scratch/crds.yaml" > "$old/templates/crds.yaml"
for one in "scheduler volcano-scheduler vc-scheduler" "controllers volcano-controller vc-controller-manager" "admission volcano-admission vc-webhook-manager"; do
  read -r name app image <<< "$one"
  cat << YAML
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: "{{ .Release.Name }}-$name", namespace: "{{ .Release.Namespace }}"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "{{ .Release.Name }}-$name"}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "{{ .Release.Name }}-$name-role"}
subjects: [{kind: ServiceAccount, name: "{{ .Release.Name }}-$name", namespace: "{{ .Release.Namespace }}"}]
roleRef: {kind: ClusterRole, name: "{{ .Release.Name }}-$name", apiGroup: rbac.authorization.k8s.io}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}-$name", namespace: "{{ .Release.Namespace }}", labels: {app: $app}}
spec:
  replicas: 1
  selector: {matchLabels: {app: $app}}
  template:
    metadata: {labels: {app: $app}}
    spec:
      serviceAccountName: "{{ .Release.Name }}-$name"
      containers: [{name: "{{ .Release.Name }}-$name", image: "docker.io/volcanosh/$image:{{ .Values.basic.image_tag_version }}", args: [--logtostderr, "2>&1"]}]
YAML
done > "$old/templates/programs.yaml"
cat > "$old/templates/rest.yaml" << 'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-scheduler-configmap", namespace: "{{ .Release.Namespace }}"}
data: {volcano-scheduler.conf: "actions: \"enqueue, allocate, backfill\"\n"}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}-admission-service", namespace: "{{ .Release.Namespace }}", labels: {app: volcano-admission}}
spec: {ports: [{port: 443, protocol: TCP, targetPort: 8443}], selector: {app: volcano-admission}, sessionAffinity: None}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}-scheduler-service", namespace: "{{ .Release.Namespace }}", labels: {app: volcano-scheduler}}
spec: {ports: [{port: 8080, protocol: TCP, targetPort: 8080, name: metrics}], selector: {app: volcano-scheduler}, type: ClusterIP}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: "{{ .Release.Name }}-admission-init", namespace: "{{ .Release.Namespace }}", annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "0", helm.sh/hook-delete-policy: before-hook-creation}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: "{{ .Release.Name }}-admission-init", namespace: "{{ .Release.Namespace }}", labels: {app: volcano-admission-init}, annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "5", helm.sh/hook-delete-policy: before-hook-creation}}
spec:
  backoffLimit: 3
  ttlSecondsAfterFinished: 3600
  template: {spec: {serviceAccountName: "{{ .Release.Name }}-admission-init", restartPolicy: Never, containers: [{name: main, image: volcanosh/vc-webhook-manager, command: [./gen-admission-secret.sh]}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: volcano-admission-service-jobs-validate}
webhooks:
- name: validatejob.volcano.sh
  admissionReviewVersions: [v1]
  sideEffects: NoneOnDryRun
  failurePolicy: Ignore
  clientConfig: {service: {name: "{{ .Release.Name }}-admission-service", namespace: "{{ .Release.Namespace }}", path: /jobs/validate, port: 443}}
  rules: [{apiGroups: [batch.volcano.sh], apiVersions: [v1alpha1], resources: [jobs], operations: [CREATE, UPDATE]}]
YAML
# Values of a user, who sets what Volcano's chart documents.
cat > "$scratch/values.yaml" << 'YAML'
basic: {image_registry: registry.example, image_pull_policy: IfNotPresent}
custom:
  scheduler_replicas: 2
  scheduler_log_level: 5
  enabled_admissions: "/jobs/mutate,/jobs/validate,/queues/mutate,/queues/validate"
  scheduler_config_override: |
    actions: "enqueue, allocate"
    tiers: [{plugins: [{name: priority}, {name: gang}]}]
YAML
h() { timeout 240 "${helm[@]}" -n $ns "$@"; }
check "Helm installs the chart of before" h install volcano "$old" --timeout 3m
a_job() { printf 'apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: kept}\nspec: {minAvailable: 1, schedulerName: volcano, tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}\n' | kubectl apply -f -; }
check "a job is there" wait_for 30 a_job
kubectl -n $ns create secret generic volcano-admission-secret --from-literal=tls.crt=kept > /dev/null
uids() { kubectl -n $ns get deployments,services,configmaps,serviceaccounts -l app.kubernetes.io/managed-by=Helm -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.uid}{"\n"}{end}' | sort; }
job_uid() { kubectl get vcjob kept -o 'jsonpath={.metadata.uid}'; }
uids > "$scratch/uids.before"
job=$(job_uid)
check "and has a uid" [ -n "$job" ]
ours() { kubectl -n $ns get deployment volcano-scheduler -o 'jsonpath={.spec.template.spec.containers[0].image}'; }
is() { [ "$1" = "$2" ] || { echo "\"$1\" is not \"$2\""; false; }; }
check "upgraded to our chart, with a user's values" h upgrade volcano deploy/chart/volcano -f "$scratch/values.yaml" --timeout 3m
check "the images are those of our chart" is "$(ours)" registry.example/volcanosh/vc-scheduler:latest
check "what was there is the same object" sh -c "$(declare -f uids); ns=$ns; uids | comm -23 '$scratch/uids.before' - | { ! grep .; }"
check "two schedulers were asked for, and have a budget" kubectl -n $ns get poddisruptionbudget volcano-scheduler
check "jobs are untouched" is "$(job_uid)" "$job"
kept_secret() { is "$(kubectl -n $ns get secret volcano-admission-secret -o 'jsonpath={.data.tls\.crt}' | base64 -d)" kept; }
check "and so are the webhook's keys" kept_secret
check "the same upgrade once more changes nothing" h upgrade volcano deploy/chart/volcano -f "$scratch/values.yaml" --timeout 3m
check "rolled back to the chart of before" h rollback volcano 1 --timeout 3m
check "the images are those of before" is "$(ours)" docker.io/volcanosh/vc-scheduler:v1.15.0
check "jobs are untouched by that" is "$(job_uid)" "$job"
gone() { ! kubectl -n $ns get "$@" > /dev/null 2>&1; }
check "what only our chart has is gone" gone poddisruptionbudget volcano-scheduler
check "upgraded again" h upgrade volcano deploy/chart/volcano -f "$scratch/values.yaml" --timeout 3m
fails_with() { # fails_with TEXT COMMAND...
  local text=$1 out
  shift
  out=$("$@" 2>&1) && { echo "it succeeds"; return 1; }
  [[ $out == *"$text"* ]] || { echo "$out" | tail -1; return 1; }
}
check "a value that cannot work changes nothing" fails_with 'custom.scheduler_replicas must be a number of pods' h upgrade volcano deploy/chart/volcano -f "$scratch/values.yaml" --set custom.scheduler_replicas=many
check "and the release is still the one of before that" is "$(h list -o json | sed 's/.*"revision":"\([0-9]*\)".*/\1/')" 5

# A second release.
kubectl create namespace second > /dev/null
second() { timeout 240 "${helm[@]}" -n second install second deploy/chart/volcano --set custom.crds_enable=false,custom.user_roles_enable=false,custom.admission_enable=false "$@" --timeout 3m; }
check "a second release for the same scheduler is refused in words" fails_with 'cares for the pods of scheduler "volcano" already, and would not wait for this release: install into namespace volcano-system to take its place, uninstall it, or set custom.scheduler_name' second
check "and nothing of it is there" is "$(kubectl -n second get deployments -o name)" ""
beside() { timeout 240 "${helm[@]}" -n $ns install beside deploy/chart/volcano --set custom.crds_enable=false,custom.user_roles_enable=false,custom.admission_enable=false "$@" --timeout 3m; }
check "nor one in the same namespace" fails_with 'cares for the pods of scheduler "volcano" already, and would not wait for this release: install under the name of its release to take its place, uninstall it, or set custom.scheduler_name' beside
check "nor one for another scheduler that has controllers, too" fails_with 'works on all Jobs and Queues, whatever their scheduler, as the controllers of this release would: install into namespace volcano-system to take its place, uninstall it, or set custom.controller_enable=false' second --set custom.scheduler_name=fast
check "nor one that waits for the Lease of the first" fails_with 'holds the Lease for which the scheduler of this release would wait for ever: install into another namespace, or uninstall it' beside --set custom.scheduler_name=fast,custom.controller_enable=false,custom.leader_elect_enable=true
kubectl create deployment elsewhere --image=none --dry-run=client -o yaml | sed 's/app: elsewhere/app: agent-scheduler/' | kubectl apply -f - > /dev/null
check "nor an agent scheduler beside another one" fails_with 'Deployment default/elsewhere cares for the pods of scheduler "agent-scheduler" already, and would not wait for this release: install into namespace default to take its place, uninstall it, or set custom.agent_scheduler_name' second --set custom.scheduler_name=fast,custom.controller_enable=false,custom.agent_scheduler_enable=true
kubectl delete deployment elsewhere > /dev/null
check "one for another scheduler is taken" second --set custom.scheduler_name=fast,custom.controller_enable=false
check "and uninstalled" timeout 240 "${helm[@]}" -n second uninstall second

check "uninstalled" h uninstall volcano
left() { kubectl get "$@" -A -l app.kubernetes.io/managed-by=Helm -o name | grep -v customresourcedefinition; }
nothing_left() { ! left deployments,services,configmaps,serviceaccounts,clusterroles,clusterrolebindings,roles,rolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations,poddisruptionbudgets; }
check "nothing is left that Helm made" nothing_left
check "but the CRDs and the jobs" is "$(job_uid)" "$job"
check "CRDs of another release are refused by Helm in its words" fails_with 'invalid ownership metadata' h install other deploy/chart/volcano --timeout 3m
check "and taken over where that is asked for" h install other deploy/chart/volcano --take-ownership --timeout 3m
check "jobs are untouched by all of it" is "$(job_uid)" "$job"
exit $failed
