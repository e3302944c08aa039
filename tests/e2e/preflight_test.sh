#!/usr/bin/env bash
# What `volcano preflight` reads of an installation: the flags of its Deployments, and the file that they name.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

deployment() { # deployment NAMESPACE NAME APP CONTAINER [POD]: the fields of both as a flow of YAML
  cat << YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: $2, namespace: $1, labels: {app: $3}}
spec:
  replicas: 1
  selector: {matchLabels: {app: $3}}
  template:
    metadata: {labels: {app: $3}}
    spec: {containers: [{name: c, image: i, $4}]${5:+, $5}}
YAML
}
look() { "$volcano" preflight --kubeconfig "$KUBECONFIG" > "$scratch/preflight" 2>&1; }
says() { look; grep -qE -- "$1" "$scratch/preflight" || { cat "$scratch/preflight"; false; }; }

the_file_that_the_flags_name_is_checked() {
  kubectl create configmap volcano-scheduler-configmap -n volcano-system --from-literal=volcano-scheduler.conf='actions: "first"' \
    --from-literal=z.conf='actions: "last"' > /dev/null
  kubectl create configmap own -n volcano-system --from-literal=k='actions: "chosen"' > /dev/null
  expect "without a Deployment that of the chart" says 'ConfigMap volcano-system/volcano-scheduler-configmap, file "volcano-scheduler.conf": .*first'
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [--scheduler-conf, /conf/s.conf, "2>&1"], volumeMounts: [{name: v, mountPath: /conf}]' \
    'volumes: [{name: v, configMap: {name: own, items: [{key: k, path: s.conf}]}}]' | kubectl apply -f - > /dev/null
  expect "that of the flag" says 'ConfigMap volcano-system/own, file "k": .*chosen'
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [--scheduler-conf=/elsewhere/s.conf]' | kubectl apply -f - > /dev/null
  expect "what cannot be seen" says '^change .*--scheduler-conf=/elsewhere/s.conf is in no ConfigMap'
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [-v=3]' | kubectl apply -f - > /dev/null
  expect "none" says '^ok .*no --scheduler-conf: the built-in configuration is used'
}
scheduler_names_are_read_as_the_program_reads_them() {
  kubectl create namespace second > /dev/null
  local flags
  for flags in 'args: [--scheduler-name=fast]' 'args: [--scheduler-name, fast]' 'command: [/vc-scheduler, -scheduler_name, fast]'; do
    deployment second volcano-scheduler volcano-scheduler "$flags" | kubectl replace --force -f - > /dev/null 2>&1
    expect "$flags" says '^ok .*Deployment second/volcano-scheduler .* cares for the pods of scheduler fast$'
  done
  deployment second volcano-controllers volcano-controller 'args: [--scheduler-name, volcano]' | kubectl apply -f - > /dev/null
  expect "controllers" says '^problem .*Deployment second/volcano-controllers .* cares for the pods of scheduler volcano'
}
file_says() { # file_says MAP KEY TEXT LINE: with that text in the ConfigMap
  kubectl create configmap "$1" -n volcano-system --from-literal="$2=$3" --dry-run=client -o yaml | kubectl apply -f - > /dev/null 2>&1
  expect "$3" says "$4"
}
files_of_controllers_and_webhook_are_checked() {
  local map text line
  expect "none" says '^ok .*ConfigMap volcano-system/volcano-sharding-configmap is not there, and configures nothing'
  map=(volcano-sharding-configmap sharding.yaml)
  while IFS='|' read -r text line; do file_says "${map[@]}" "$text" "$line"; done << 'ROWS'
|^ok .*volcano-sharding-configmap, file "sharding.yaml" configures nothing
{schedulerConfigs: [{name: volcano, policies: [{name: allocation-rate, weigth: 2, arguments: {maxCPUUtil: 1}}]}]}|^change .*file "sharding.yaml": not known here, and without effect: schedulerConfigs.0..policies.0..weigth$
{schedulerConfigs: [{name: volcano, policies: [{name: allocation-rate}]}]}|^change .*scheduler volcano: allocation-rate without maxCPUUtil takes every node
{schedulerConfigs: [{name: volcano}]}|^change .*scheduler volcano: allocation-rate without maxCPUUtil takes every node
{schedulerConfigs: [{name: volcano, cpuUtilizationMax: 0.6, maxNodes: 10}]}|^ok .*file "sharding.yaml": every key is understood
{schedulerConfigs: [{name: volcano, policies: [{name: node-limit, arguments: {maxNodes: 60}}]}]}|^change .*maxNodes: 60 is a limit of all nodes; Volcano takes so many of every 50
{schedulerConfigs: [{name: volcano, policies: [{name: best}]}]}|^change .*"best" is none of allocation-rate, warmup, node-limit; the sharding controller is off
ROWS
  deployment volcano-system volcano-controllers volcano-controller 'args: ["--controllers=*", --sharding-configmap=volcano-sharding-configmap]' | kubectl apply -f - > /dev/null
  expect "where it is on" says '^problem .*"best" is none of allocation-rate, warmup, node-limit; nodes would be shared out by the flags'
  map=(volcano-controller-configmap volcano-controller.conf)
  while IFS='|' read -r text line; do file_says "${map[@]}" "$text" "$line"; done << 'ROWS'
{networkTopologyDiscovery: [{source: label, enabled: true, every: 1m, config: {networkTopologyTypes: {a: [{nodeLabel: rack}]}}}]}|^change .*without effect: networkTopologyDiscovery.0..every$
{networkTopologyDiscovery: [{source: label, enabled: true, config: {networkTopologyTypes: {a: [{nodeLabel: rack}]}}}]}|^ok .*file "volcano-controller.conf": every key is understood
{networkTopologyDiscovery: [{source: roce, enabled: true}]}|^change .*source roce does not run: unsupported discoverer type: roce
{networkTopologyDiscovery: {source: label}}|^problem .*networkTopologyDiscovery is not a list; no network would be discovered
ROWS
  map=(volcano-admission-configmap volcano-admission.conf)
  while IFS='|' read -r text line; do file_says "${map[@]}" "$text" "$line"; done << 'ROWS'
{resourceGroups: [{resourceGroup: a, object: {key: namespace, value: [x]}, schedulername: s}]}|^change .*without effect: resourceGroups.0..schedulername$
{resourceGroups: [{resourceGroup: a, labels: {any: thing}, tolerations: [{key: k, tolerationSeconds: 5}]}]}|^change .*resource group "a": tolerationSeconds counts here
{resourceGroups: [{resourceGroup: a, labels: {any: thing}, tolerations: [{key: k, tolerationseconds: 5}]}]}|^ok .*file "volcano-admission.conf": every key is understood
{resourceGroups: {resourceGroup: a}}|^problem .*resourceGroups must be a list, not .*; new pods would be left as they are
{resourceGroups: [|^problem .*file "volcano-admission.conf": 
ROWS
  kubectl create configmap rules -n volcano-system --from-literal=k='{resourceGroups: 3}' > /dev/null
  deployment volcano-system volcano-admission volcano-admission 'args: [--admission-conf, /conf/a.conf], volumeMounts: [{name: v, mountPath: /conf}]' \
    'volumes: [{name: v, configMap: {name: rules, items: [{key: k, path: a.conf}]}}]' | kubectl apply -f - > /dev/null
  expect "that of the flag" says '^problem .*ConfigMap volcano-system/rules, file "k": resourceGroups must be a list'
}
plugins_and_images_are_named() {
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [--plugins-dir=/plugins/]' | kubectl apply -f - > /dev/null
  expect "plugins of the image" says '^change .*Deployment volcano-system/volcano-scheduler has --plugins-dir=/plugins/: .*Our image has none there'
  expect "what replaces the image" says '^change .*Deployment volcano-system/volcano-scheduler runs 1 of i, which would be replaced by vc-scheduler:'
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [--plugins-dir=/plugins], volumeMounts: [{name: v, mountPath: /plugins/}]' 'volumes: [{name: v, emptyDir: {}}]' |
    kubectl apply -f - > /dev/null
  expect "plugins of a volume" says '^problem .*has --plugins-dir=/plugins: .*A volume is mounted there'
}
agent_schedulers_are_seen() {
  kubectl create namespace third > /dev/null
  deployment third volcano-agent-scheduler agent-scheduler 'args: [-v=3]' | kubectl apply -f - > /dev/null
  expect "by the name that is theirs" says '^change .*Deployment third/volcano-agent-scheduler .* pods of scheduler agent-scheduler: .*another custom.agent_scheduler_name$'
  deployment third volcano-agent-scheduler agent-scheduler 'args: [--scheduler-name=quick]' | kubectl apply -f - > /dev/null
  expect "or by another" says '^ok .*Deployment third/volcano-agent-scheduler .* pods of scheduler quick$'
}
accounts_say() { # accounts_say LINE: what is said of the service accounts
  "$volcano" preflight --service-accounts --kubeconfig "$KUBECONFIG" > "$scratch/preflight" 2>&1
  grep -qE -- "$1" "$scratch/preflight" || { grep -E ' may not | rights ' "$scratch/preflight"; false; }
}
roles_of() { # roles_of MANIFEST: its accounts, roles and bindings, and nothing else of it
  python3 - "$1" > "$scratch/roles.yaml" << 'PY'
import re, sys
kinds = re.compile(r"^kind: (ServiceAccount|(Cluster)?Role(Binding)?)$", re.M)
print("\n---\n".join(one for one in open(sys.argv[1]).read().split("\n---\n") if kinds.search(one)))
PY
  kubectl apply -f "$scratch/roles.yaml" > /dev/null || problem="roles of $1"
}
the_roles_of_the_manifest_have_what_is_asked_for() {
  roles_of deploy/volcano.yaml
  kubectl delete deployment -n volcano-system volcano-admission --ignore-not-found > /dev/null
  local program
  for program in scheduler controllers admission; do
    expect "$program" accounts_say "^ok .*:volcano-$program has the [0-9]+ rights of the $program\$"
  done
  deployment volcano-system volcano-admission volcano-admission 'args: ["--enabled-admission=/apply-poddefault"]' | kubectl apply -f - > /dev/null
  expect "a path that needs PodDefaults" accounts_say '^change .*volcano-admission may not list poddefaults.kubeflow.org: no PodDefault is applied to pods'
  deployment volcano-system volcano-admission volcano-admission 'args: ["--enabled-admission=/podgroups/mutate", --tls-secret-name=other]' | kubectl apply -f - > /dev/null
  expect "a path that needs more" accounts_say '^change .*volcano-admission may not list namespaces: groups go through /podgroups/mutate unchanged'
  expect "another secret" accounts_say '^change .*volcano-admission may not patch secrets other in namespace volcano-system: certificates are not renewed'
  kubectl delete clusterrolebinding volcano-scheduler-role > /dev/null
  expect "what can be watched" accounts_say '^change .*volcano-scheduler may not watch csidrivers.storage.k8s.io: '
  expect "what is not asked for" says_nothing_of 'volcano-scheduler may not .* nodeshards'
  deployment volcano-system volcano-scheduler volcano-scheduler 'args: [--csi-storage=false, --scheduler-sharding-mode=soft]' | kubectl apply -f - > /dev/null
  expect "what its flags leave unread" says_nothing_of 'volcano-scheduler may not .* csidrivers'
  expect "what its flags need" accounts_say '^change .*volcano-scheduler may not update nodeshards/status.shard.volcano.sh: '
  kubectl delete deployment -n volcano-system volcano-scheduler > /dev/null
  expect "what is taken away" accounts_say '^problem .*volcano-scheduler may not create pods/binding: the scheduler needs that'
  expect "and what can be done without" accounts_say '^change .*volcano-scheduler may not update resourceclaims/binding.resource.k8s.io: pods with claims wait'
}
says_nothing_of() { ! accounts_say "$1" > /dev/null; }
programs_that_charts_leave_out_are_judged_where_they_are() {
  local program
  for program in agent-scheduler hypernode-controller agent; do
    expect "$program is not there" says_nothing_of ":volcano-$program (may|has) "
  done
  "$volcano" preflight --service-accounts --program hypernode-controller --kubeconfig "$KUBECONFIG" > "$scratch/preflight" 2>&1
  expect "asked for" grep -qE '^problem .*:volcano-hypernode-controller may not list nodes: the hypernode-controller needs that' "$scratch/preflight"
  deployment volcano-system volcano-agent-scheduler agent-scheduler 'args: [-v=3]' | kubectl apply -f - > /dev/null
  expect "its Deployment is there" accounts_say '^problem .*:volcano-agent-scheduler may not create pods/binding: the agent-scheduler needs that'
  kubectl delete deployment -n volcano-system volcano-agent-scheduler > /dev/null
  roles_of deploy/volcano-agent-scheduler.yaml
  roles_of tests/golden/chart/available.yaml # with a HyperNode controller of its own
  roles_of deploy/volcano-agent.yaml
  for program in agent-scheduler hypernode-controller agent; do
    expect "its account is there, $program" accounts_say "^ok .*:volcano-$program has the [0-9]+ rights of the $program\$"
  done
  kubectl get clusterrole volcano-agent-scheduler -o json | python3 -c '
import json, sys
role = json.load(sys.stdin)
role["rules"] = [one for one in role["rules"] if one["resources"] != ["pods/binding"]]
print(json.dumps(role))' | kubectl replace -f - > /dev/null
  expect "a right that its role lacks" accounts_say '^problem .*:volcano-agent-scheduler may not create pods/binding: the agent-scheduler needs that$'
  expect "but no other" says_nothing_of 'volcano-agent-scheduler may not (list|watch|get|update|patch|delete) '
  deployment volcano-system volcano-hypernode-controller volcano-hypernode-controller 'args: [--leader-elect-resource-name=own]' | kubectl apply -f - > /dev/null
  local kubeflow=(--service-accounts --program kubeflow-controllers --namespace kubeflow --kubeconfig "$KUBECONFIG")
  "$volcano" preflight "${kubeflow[@]}" > "$scratch/preflight" 2>&1
  expect "those of Kubeflow, without roles" grep -qE '^problem .*:volcano-kubeflow-controllers may not list notebooks.kubeflow.org: the kubeflow-controllers needs that' "$scratch/preflight"
  kubectl create namespace kubeflow > /dev/null
  roles_of deploy/kubeflow-controllers.yaml
  "$volcano" preflight "${kubeflow[@]}" > "$scratch/preflight" 2>&1
  expect "and with the roles of the manifest" grep -qE '^ok .*:volcano-kubeflow-controllers has the [0-9]+ rights of the kubeflow-controllers$' "$scratch/preflight"
  expect "the lease of its flags" accounts_say '^problem .*:volcano-hypernode-controller may not get leases.coordination.k8s.io own in namespace volcano-system: '
}

start_cluster --components apiserver
run_tests the_file_that_the_flags_name_is_checked scheduler_names_are_read_as_the_program_reads_them files_of_controllers_and_webhook_are_checked plugins_and_images_are_named \
  agent_schedulers_are_seen the_roles_of_the_manifest_have_what_is_asked_for programs_that_charts_leave_out_are_judged_where_they_are
exit "${failed:-0}"
