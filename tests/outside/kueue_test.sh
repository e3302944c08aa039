#!/usr/bin/env bash
# Kueue's controller (sigs.k8s.io/kueue), unchanged, against `volcano up`: its definitions convert, its queues hold Jobs, training jobs, Deployments and pods back.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
stock=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}
[ -x "$stock/bin/kueue" ] && [ -d "$stock/kueue" ] || { echo "skip outside kueue: it is not built (tests/stock/build.sh kueue)"; exit 0; }
. tests/outside/operator_lib.sh

job() { # job NAME CPU COMMAND [more of the pod]
  apply <<YAML
apiVersion: batch/v1
kind: Job
metadata: {name: $1, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  backoffLimit: 0
  template: {spec: {${4:-}restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: main, image: i, command: [sh, -c, "$3"], resources: {requests: {cpu: $2}}}]}}
YAML
}
workload_is() { # workload_is KIND NAME CONDITION: the Workload of this object has it
  [ "$(kubectl get workloads -o json | jq -r --arg kind "$1" --arg name "$2" --arg type "$3" '.items[] | select(.metadata.ownerReferences[0].kind == $kind and .metadata.ownerReferences[0].name == $name) | .status.conditions[]? | select(.type == $type) | .status')" = True ]
}
count_is() { [ "$(kubectl get clusterqueue all -o "jsonpath={.status.$1}")" = "$2" ]; }

its_controller_starts() {
  make_keys
  kubectl create namespace kueue-system > /dev/null
  local bundle server
  server=$(kubectl config view -o "jsonpath={.clusters[0].cluster.server}")
  bundle=$(base64 -w0 "$scratch/certs/tls.crt")
  for one in "$stock"/kueue/crd/bases/*.yaml; do
    # Those of two shapes convert by its webhook, as its kustomization says.
    if [ -f "$stock/kueue/crd/patches/webhook_in_$(basename "${one#*_}")" ]; then
      sed "s#^spec:#&\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: \"https://127.0.0.1:$port/convert\", caBundle: $bundle}}}#" "$one"
    else
      cat "$one"
    fi > "$scratch/definition.yaml"
    expect "the definition of $(basename "$one") to be taken" kubectl create -f "$scratch/definition.yaml"
  done
  { printf 'apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n'; settings; cat <<'YAML'; } > "$scratch/kueue.yaml"
managedJobsNamespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, kueue-system]}]}
integrations: {frameworks: [batch/job, kubeflow.org/pytorchjob, pod, deployment, statefulset]}
YAML
  sed -i 's/resourceNamespace: default}/resourceName: kueue, resourceNamespace: kueue-system}/; s/^metrics: .*/metrics: {bindAddress: "0"}/' "$scratch/kueue.yaml"
  # It wants keys in folders of /, and to be in a pod: it gets a root of its own.
  cat > "$scratch/kueue" <<SH
#!/bin/sh
set -e
mkdir -p "$scratch/root" && mount -t tmpfs none "$scratch/root" && cd "$scratch/root"
mkdir -p etc/kueue/metrics tmp "./$scratch" && mount --bind "$scratch" "./$scratch"
ln -s "$scratch/certs" visibility && ln -s "$scratch/certs" etc/kueue/metrics/certs
mkdir -p var/run/secrets/kubernetes.io/serviceaccount && ln -s "$scratch/data/keys/token" "$scratch/data/keys/ca.crt" var/run/secrets/kubernetes.io/serviceaccount
touch kueue && mount --bind "$stock/bin/kueue" kueue
exec chroot . /kueue "\$@"
SH
  chmod +x "$scratch/kueue"
  expect "it to answer" start_operator env KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT="${server##*:}" unshare -m "$scratch/kueue" --config "$scratch/kueue.yaml"
  expect "its webhooks to be taken" webhooks kueue "$stock/kueue/webhook/manifests.yaml" kueue.x-k8s.io/queue-name
}
its_queues_are_ready() {
  expect "a flavor, a queue of the cluster and a queue" apply <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: plain}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: plain, resources: [{name: cpu, nominalQuota: 1}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team, namespace: default}
spec: {clusterQueue: all}
YAML
  expect "the queue to be active" wait_for 20 sh -c '[ "$(kubectl get clusterqueue all -o "jsonpath={.status.conditions[?(@.type==\"Active\")].status}")" = True ]'
  expect "the older version of it" sh -c '[ "$(kubectl get clusterqueues.v1beta1.kueue.x-k8s.io all -o "jsonpath={.apiVersion} {.spec.resourceGroups[0].flavors[0].name}")" = "kueue.x-k8s.io/v1beta1 plain" ]'
}
jobs_take_turns() {
  job first 800m 'while [ ! -e /tmp/first-ends ]; do sleep 0.1; done'
  expect "the first to be let in" wait_for 30 workload_is Job first Admitted
  expect "its pod to run" wait_for 30 sh -c '[ "$(kubectl get pods -l job-name=first -o "jsonpath={.items[*].status.phase}")" = Running ]'
  job second 800m 'exit 0' 'schedulerName: volcano, '
  expect "the second to be held" wait_for 20 count_is pendingWorkloads 1
  expect "it to rest" field_is job second .spec.suspend true
  expect "no pod of it" [ -z "$(kubectl get pods -l job-name=second -o name)" ]
  kubectl exec "$(kubectl get pods -l job-name=first -o name)" -- touch /tmp/first-ends
  expect "the first to end" wait_for 30 workload_is Job first Finished
  expect "the second to be let in, and to end" wait_for 60 workload_is Job second Finished
  expect "its Job to be complete" field_is job second .status.succeeded 1
}
a_higher_priority_evicts() {
  apply <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: urgent}
value: 100
YAML
  kubectl patch clusterqueue all --type merge -p '{"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}' > /dev/null
  job low 800m 'sleep 1000'
  expect "the low one to be let in" wait_for 30 workload_is Job low Admitted
  apply <<'YAML'
apiVersion: batch/v1
kind: Job
metadata: {name: high, labels: {kueue.x-k8s.io/queue-name: team, kueue.x-k8s.io/priority-class: urgent}}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i, command: [sh, -c, "exit 0"], resources: {requests: {cpu: 800m}}}]}}
YAML
  expect "the high one to end" wait_for 60 workload_is Job high Finished
  expect "the low one to be let in again" wait_for 60 workload_is Job low Admitted
  kubectl delete job low --wait > /dev/null
}
a_training_job_of_ours_waits_in_its_queue() {
  job holds 800m 'while [ ! -e /tmp/holds-ends ]; do sleep 0.1; done'
  expect "the quota to be taken" wait_for 30 workload_is Job holds Admitted
  apply <<'YAML'
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, restartPolicy: Never, template: {spec: {containers: [{name: pytorch, image: i, command: [sh, -c, "exit 0"], resources: {requests: {cpu: 300m}}}]}}}
    Worker: {replicas: 2, restartPolicy: Never, template: {spec: {containers: [{name: pytorch, image: i, command: [sh, -c, "exit 0"], resources: {requests: {cpu: 300m}}}]}}}
YAML
  expect "it to be held" wait_for 20 count_is pendingWorkloads 1
  expect "it to rest" wait_for 10 field_is pytorchjob train .spec.runPolicy.suspend true
  expect "a queue that changes under a Job that runs to be refused" refused 'admission webhook "vjob.kb.io" denied the request' kubectl label job holds --overwrite kueue.x-k8s.io/queue-name=other
  kubectl exec "$(kubectl get pods -l job-name=holds -o name)" -- touch /tmp/holds-ends
  expect "it to be let in, and to end" wait_for 60 workload_is PyTorchJob train Finished
}
pods_and_deployments_wait_behind_its_gate() {
  apply <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: alone, labels: {kueue.x-k8s.io/queue-name: team}}
spec: {schedulerName: volcano, restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: main, image: i, command: [sleep, "1000"], resources: {requests: {cpu: 800m}}}]}
YAML
  expect "the pod to run" wait_for 30 field_is pod alone .status.phase Running
  apply <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: serves, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  selector: {matchLabels: {app: serves}}
  template:
    metadata: {labels: {app: serves}}
    spec: {schedulerName: volcano, terminationGracePeriodSeconds: 0, containers: [{name: main, image: i, command: [sleep, "1000"], resources: {requests: {cpu: 500m}}}]}
YAML
  expect "the pod of the Deployment to be held" wait_for 20 sh -c 'kubectl get pods -l app=serves -o "jsonpath={.items[*].spec.schedulingGates[*].name}" | grep -q kueue.x-k8s.io/admission'
  expect "the server to say that it is gated" sh -c '[ "$(kubectl get pods -l app=serves --no-headers | tr -s " " | cut -d" " -f3)" = SchedulingGated ]'
  kubectl delete pod alone --wait=false > /dev/null
  expect "it to run when there is room" wait_for 60 field_is deployment serves .status.readyReplicas 1
  kubectl delete deployment serves --wait > /dev/null
}
mistakes_are_refused_by_its_webhooks() {
  expect "a flavor with no quota" refused 'flavors must have the same number of resources as the coveredResources' kubectl apply --validate=false -f - <<< '{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "wrong"}, "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "plain", "resources": []}]}]}}'
}

if [ $root = 0 ]; then
  echo "skip outside kueue: pods have names of their own with root alone"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc
run_tests its_controller_starts
[ -z "${failed:-}" ] || exit 1
run_tests its_queues_are_ready
[ -z "${failed:-}" ] || exit 1
run_tests jobs_take_turns a_higher_priority_evicts a_training_job_of_ours_waits_in_its_queue pods_and_deployments_wait_behind_its_gate mistakes_are_refused_by_its_webhooks
exit "${failed:-0}"
