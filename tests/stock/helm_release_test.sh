#!/usr/bin/env bash
# Stock Helm on a stock server: a release of a chart with the names, labels and hook of Volcano's (written from spec/install 3 to 5, with
# Deployments of other images) is upgraded to our chart, rolled back, upgraded again, changed, and uninstalled; jobs and CRDs stay all the
# time. Then what an operator meets: a second release, and CRDs that Helm does not own. Prints "ok NAME" or "FAIL NAME: why". Needs what
# tests/stock/build.sh makes, and its helm.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need "helm release" etcd kube-apiserver kube-controller-manager kwok helm
start_server
. tests/stock/helm_lib.sh
helm=("$built/bin/helm")
kubectl create namespace $ns > /dev/null
a_machine
old=$scratch/before
chart_of_before "$old"
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
