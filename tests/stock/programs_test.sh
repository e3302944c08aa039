#!/usr/bin/env bash
# vc-scheduler, vc-controller-manager and vc-webhook-manager on a stock kube-apiserver: job-1, a gang that waits, a queue
# that closes and opens. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need programs etcd kube-apiserver kube-controller-manager kwok
start_server
"$bin/volcano" crd > "$scratch/crd.yaml"
check "the server accepts our CRDs" kubectl apply --server-side -f "$scratch/crd.yaml"
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
kubectl create namespace volcano-system > /dev/null
check "the roles of the chart" kubectl apply -f tests/stock/roles.yaml
# The programs run as the service accounts that the chart makes for them, with no more rights than those have there.
as() { # as PROGRAM: prints the name of a kubeconfig
  local file=$scratch/$1.kubeconfig
  cp "$KUBECONFIG" "$file"
  kubectl --kubeconfig "$file" config set-credentials "$1" --token="$(kubectl -n volcano-system create token "volcano-$1")" > /dev/null
  kubectl --kubeconfig "$file" config set-context --current --user "$1" > /dev/null
  echo "$file"
}

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/key.pem" -out "$scratch/cert.pem" -days 2 -subj /CN=localhost \
  -addext subjectAltName=IP:127.0.0.1 2> /dev/null
hook_port=28443
paths=/jobs/mutate,/jobs/validate,/queues/mutate,/queues/validate,/podgroups/validate,/pods/mutate
configuration() { # configuration PATH KIND NAME GROUP VERSION RESOURCE OPERATIONS
  cat << YAML
---
apiVersion: admissionregistration.k8s.io/v1
kind: ${2}WebhookConfiguration
metadata: {name: volcano-admission-service${1//\//-}}
webhooks:
- name: $3.volcano.sh
  admissionReviewVersions: [v1]
  sideEffects: NoneOnDryRun
  clientConfig: {url: "https://127.0.0.1:$hook_port$1"}
  rules: [{apiGroups: [$4], apiVersions: [$5], resources: [$6], operations: [$7]}]
YAML
}
{
  configuration /jobs/mutate Mutating mutatejob batch.volcano.sh v1alpha1 jobs CREATE
  configuration /jobs/validate Validating validatejob batch.volcano.sh v1alpha1 jobs CREATE,UPDATE
  configuration /queues/mutate Mutating mutatequeue scheduling.volcano.sh v1beta1 queues CREATE
  configuration /queues/validate Validating validatequeue scheduling.volcano.sh v1beta1 queues CREATE,UPDATE,DELETE
  configuration /podgroups/validate Validating validatepodgroup scheduling.volcano.sh v1beta1 podgroups CREATE
  configuration /pods/mutate Mutating mutatepod '""' v1 pods CREATE
} | kubectl apply -f - > /dev/null
pool() { printf 'resourceGroups:\n- {resourceGroup: g, object: {key: namespace, value: [ml]}, labels: {pool: %s}}\n' "$1" > "$scratch/pods.yaml"; }
pool a
run webhooks "$bin/vc-webhook-manager" --admission-conf "$scratch/pods.yaml" --kubeconfig "$(as admission)" --port $hook_port --tls-cert-file "$scratch/cert.pem" \
  --tls-private-key-file "$scratch/key.pem" --ca-cert-file "$scratch/cert.pem" --webhook-url here --enabled-admission $paths
wait_for 20 grep -q answering "$scratch/webhooks.log" || echo "FAIL stock: the webhook server does not answer"
run controllers "$bin/vc-controller-manager" --kubeconfig "$(as controllers)"
run scheduler "$bin/vc-scheduler" --kubeconfig "$(as scheduler)"

kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "2", memory: 8Gi, pods: "50"}, allocatable: {cpu: "2", memory: 8Gi, pods: "50"}}
YAML
check "the scheduler makes the queues root and default" wait_for 30 field_is queue default .status.state Open
kubectl apply -f - > "$scratch/queue.log" 2>&1 << 'YAML'
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: test}
spec: {weight: 1, reclaimable: false, capability: {cpu: 2}}
YAML
check "a queue opens below root" wait_for 20 field_is queue test .status.state Open
job() { # job NAME QUEUE MIN CPU
  cat << YAML
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $1}
spec:
  minAvailable: $3
  queue: $2
  policies: [{event: PodEvicted, action: RestartJob}]
  tasks:
  - name: nginx
    replicas: $3
    policies: [{event: TaskCompleted, action: CompleteJob}]
    template:
      spec:
        restartPolicy: Never
        containers: [{name: nginx, image: "nginx:latest", command: [sleep, 10m], resources: {requests: {cpu: "$4"}, limits: {cpu: "$4"}}}]
YAML
}
kubectl create namespace ml > /dev/null
pod_pool_is() {
  [ "$(kubectl -n ml run p --image i --dry-run=server -o 'jsonpath={.spec.nodeSelector.pool}' 2> /dev/null)" = "$1" ]
}
check "pods follow the rules of --admission-conf" wait_for 20 pod_pool_is a
pool b
check "and the new ones once the file has changed" wait_for 10 pod_pool_is b
echo "resourceGroups: 7" > "$scratch/pods.yaml"
check "a file that cannot be used is told" wait_for 10 grep -q 'the previous one stays' "$scratch/webhooks.log"
check "and changes nothing" pod_pool_is b
rm "$scratch/pods.yaml"
check "so is one that is gone" wait_for 10 grep -qi 'no such file.*the previous one stays' "$scratch/webhooks.log"
check "which changes nothing either" pod_pool_is b
pool c
check "and once it is back it counts" wait_for 10 pod_pool_is c
check "job-1 is admitted" kubectl apply -f <(job job-1 test 1 1)
check "admission filled in what was missing" field_is vcjob job-1 '.spec.tasks[0].maxRetry' 3
check "job-1 completes" wait_for 60 field_is vcjob job-1 .status.state.phase Completed
check "its results stay" wait_for 10 field_is vcjob job-1 .status.succeeded 1
check "its version is 3" wait_for 10 field_is vcjob job-1 .status.version 3
check "its group is gone" wait_for 10 sh -c '! kubectl get podgroups -o name | grep -q job-1'

check "a gang larger than the machine is admitted" kubectl apply -f <(job gang default 3 1)
check "it waits as a whole" wait_for 30 sh -c 'kubectl get events | grep -q Unschedulable'
elapse 2 time to start a pod that must not
check "none of its pods runs" sh -c '! kubectl get pods -o wide | grep gang | grep -q n1'
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n2, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "2", memory: 8Gi, pods: "50"}, allocatable: {cpu: "2", memory: 8Gi, pods: "50"}}
YAML
check "it completes when there is room" wait_for 60 field_is vcjob gang .status.state.phase Completed

kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n3, annotations: {kwok.x-k8s.io/node: fake}}
---
apiVersion: nodeinfo.volcano.sh/v1alpha1
kind: Numatopology
metadata: {name: n3}
spec: {policies: {CPUManagerPolicy: static}}
YAML
check "a node has a Numatopology" wait_for 10 kubectl get numatopology n3
elapse 1 time for the scheduler to read it
kubectl delete node n3 > /dev/null
check "which goes with it" wait_for 20 sh -c '! kubectl get numatopology n3'

check "a queue closes" sh -c "'$bin/vcctl' queue operate -n test -a close"
check "its state says so" wait_for 20 field_is queue test .status.state Closed
check "a closed queue takes no job" sh -c "kubectl apply -f - 2>&1 << 'YAML' | grep -q 'can only submit job to queue with state'
$(job late test 1 1)
YAML"
check "a queue opens again" sh -c "'$bin/vcctl' queue operate -n test -a open"
check "and takes jobs" wait_for 20 sh -c "kubectl apply -f - << 'YAML'
$(job late test 1 1)
YAML"
check "which complete" wait_for 60 field_is vcjob late .status.state.phase Completed

check "a node with a label" kubectl label node n1 topology/leaf=l1
check "a ConfigMap for the controllers" kubectl apply -f - << 'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-controller-configmap, namespace: volcano-system}
data:
  volcano-controller.conf: |
    networkTopologyDiscovery:
    - {source: label, enabled: true, config: {networkTopologyTypes: {net: [{nodeLabel: topology/leaf}, {nodeLabel: kubernetes.io/hostname}]}}}
    - {source: roce, enabled: true}
YAML
hyper_node() { kubectl get hypernodes -l topology/leaf=l1 -o "jsonpath={.items[0]$1}" 2> /dev/null; }
check "a HyperNode is found in labels" wait_for 20 sh -c 'kubectl get hypernodes -l topology/leaf=l1 -o name | grep -q hypernode-net-tier1-'
hyper_node_counts_one() { [ "$(hyper_node .status.nodeCount)" = 1 ]; }
check "it counts its node" wait_for 20 hyper_node_counts_one
check "an unknown source is an event" wait_for 10 sh -c 'kubectl -n volcano-system get events | grep -q "unsupported discoverer type: roce"'

template() { job "$1" default 1 100m | sed 's/batch.volcano.sh/flow.volcano.sh/; s/kind: Job/kind: JobTemplate/'; }
check "job templates" kubectl apply -f <(template first; echo ---; template second)
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: flow}
spec: {jobRetainPolicy: retain, flows: [{name: first}, {name: second, dependsOn: {targets: [first]}}]}
YAML
check "a flow runs its first job" wait_for 30 field_is vcjob flow-first .status.state.phase Completed
check "then its second, and succeeds" wait_for 60 field_is jobflow flow .status.state.phase Succeed
check "the template knows its job" wait_for 10 field_is jobtemplate first '.status.jobDependsOnList[0]' flow-first

cronjob() { printf 'apiVersion: batch.volcano.sh/v1alpha1\nkind: CronJob\nmetadata: {name: cron}\nspec:\n  schedule: "@every 2s"\n  concurrencyPolicy: Forbid\n  jobTemplate:\n'; job x default 1 100m | sed -n '/^spec:/,$p' | sed 's/^/    /'; }
check "a cron job" kubectl apply -f <(cronjob)
check "makes a job by the clock" wait_for 20 sh -c 'kubectl get vcjob -o name | grep -q cron-'
check "and notes when" wait_for 20 sh -c 'kubectl get cronvcjob cron -o "jsonpath={.status.lastScheduleTime}" | grep -q T'
kubectl delete cronvcjob cron > /dev/null
exit $failed
