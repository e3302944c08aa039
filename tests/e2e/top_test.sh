#!/usr/bin/env bash
# What pods and the machine use: kubectl top, the pages of a node, who may see them, and an autoscaler that goes by it.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

holds() { grep -qF -- "$1" <<< "$2" || { echo "$2"; return 1; }; }
shows() { # shows TEXT COMMAND...
  local text=$1
  shift
  holds "$text" "$("$@" 2>&1)"
}
raw() { kubectl get --raw "$@"; }

usage_is_shown() {
  expect "the group" shows metrics.k8s.io kubectl api-resources --api-group=metrics.k8s.io
  expect "the node" wait_for 60 shows n1 kubectl top node
  expect "the pod" wait_for 60 shows busy kubectl top pod
  expect "its containers" shows main kubectl top pod --containers
  expect "a sum" shows '_' sh -c 'kubectl top pod --sum | tr -d "[:alnum:]() " | head -3; echo _'
  expect "pods by label" shows busy kubectl top pod -l app=busy
  expect "not those of another" shows 'No resources found' kubectl top pod -l app=other
  expect "the use of the machine since the start" sh -c 'kubectl get --raw /debug/usage | grep -qE "^.\"points\":\[\[[0-9]+,[0-9.]+,[0-9]+,[0-9.]+\]"'
  expect "rights for that" refused 'User "bob" cannot get path "/debug/usage"' raw /debug/usage --as bob
  expect "the busy one to use a processor's part" sh -c '[ "$(kubectl top pod busy --no-headers | awk "{print \$2 + 0}")" -gt 0 ]'
  expect "one by its name" shows '"name":"busy"' raw /apis/metrics.k8s.io/v1beta1/namespaces/default/pods/busy
  expect "none that is not there" refused 'pods.metrics.k8s.io "none" not found' raw /apis/metrics.k8s.io/v1beta1/namespaces/default/pods/none
  expect "nobody to write" shows '"code":405' api_request /apis/metrics.k8s.io/v1beta1/namespaces/default/pods -X POST -H 'Content-Type: application/json' -d '{"metadata":{"name":"x"}}'
}
pages_are_served() {
  expect "the summary" shows '"podRef":{"name":"busy"' raw /api/v1/nodes/n1/proxy/stats/summary
  expect "the resources" shows 'pod_cpu_usage_seconds_total{namespace="default",pod="busy"}' raw /api/v1/nodes/n1/proxy/metrics/resource
  expect "cadvisor's" shows 'container_memory_working_set_bytes{container="main"' raw /api/v1/nodes/n1/proxy/metrics/cadvisor
  expect "no other page" refused 'the node has no page /secrets' raw /api/v1/nodes/n1/proxy/secrets
  expect "no other node" refused 'nodes "n2" not found' raw /api/v1/nodes/n2/proxy/stats/summary
  expect "rights" refused 'nodes "n1" is forbidden: User "bob" cannot get resource "nodes/proxy"' raw /api/v1/nodes/n1/proxy/stats/summary --as bob
  kubectl create clusterrole stats --verb=get --resource=nodes/stats > /dev/null
  kubectl create clusterrolebinding stats --clusterrole=stats --user=bob > /dev/null
  expect "as a kubelet asks for them" wait_for 5 raw /api/v1/nodes/n1/proxy/stats/summary --as bob
  expect "and not for other pages" refused forbidden raw /api/v1/nodes/n1/proxy/metrics/resource --as bob
}
pods_follow_their_use() {
  kubectl apply -f - > /dev/null << MANIFEST
apiVersion: apps/v1
kind: Deployment
metadata: {name: scaled}
spec:
  selector: {matchLabels: {app: scaled}}
  template:
    metadata: {labels: {app: scaled}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: c, image: i, command: [sh, -c, 'while true; do :; done'], resources: {requests: {cpu: 10m}}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaled}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: scaled}
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
MANIFEST
  expect "more pods" wait_for 120 field_is deployment scaled .spec.replicas 3
  expect "an event" wait_for 5 shows 'reason: cpu resource utilization (percentage of request) above target' kubectl get events
  expect "a condition" shows 'ValidMetricFound' kubectl describe hpa scaled
  expect "a row" shows 'Deployment/scaled' kubectl get hpa scaled
  kubectl delete hpa/scaled deployment/scaled > /dev/null
  expect "bounds that contradict each other to be refused" refused 'must be greater than or equal to `minReplicas`' kubectl create -f - << MANIFEST
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: wrong}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}, minReplicas: 5, maxReplicas: 3}
MANIFEST
}
scaler() { # scaler NAME API_VERSION KIND: of two to three
  printf 'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: %s}\nspec:\n  scaleTargetRef: {apiVersion: %s, kind: %s, name: %s}\n  minReplicas: 2\n  maxReplicas: 3\n  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]\n---\n' "$1" "$2" "$3" "$1"
}
whatever_has_a_scale_is_scaled() {
  kubectl apply -f - > /dev/null << MANIFEST
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.x.io}
spec:
  group: x.io
  scope: Namespaced
  names: {plural: webs, kind: Web}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size, labelSelectorPath: .status.selector}}
MANIFEST
  expect "a kind" wait_for 10 kubectl get webs
  kubectl apply -f - > /dev/null << MANIFEST
{"apiVersion": "x.io/v1", "kind": "Web", "metadata": {"name": "web"}, "spec": {"size": 1}}
MANIFEST
  local kind
  for kind in ReplicaSet StatefulSet; do
    printf 'apiVersion: apps/v1\nkind: %s\nmetadata: {name: %s}\nspec: {replicas: 1, serviceName: x, selector: {matchLabels: {of: %s}}, template: {metadata: {labels: {of: %s}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: i, command: [sleep, "1000"]}]}}}\n---\n' $kind ${kind,,} $kind $kind
  done | sed 's/, serviceName: x\(.*of: ReplicaSet\)/\1/' | kubectl apply -f - > /dev/null
  { scaler web x.io/v1 Web; scaler replicaset apps/v1 ReplicaSet; scaler statefulset apps/v1 StatefulSet; scaler gone x.io/v1 Web; } | kubectl apply -f - > /dev/null
  expect "a stranger's kind" wait_for 40 field_is web web .spec.size 2
  expect "a ReplicaSet" wait_for 40 field_is replicaset replicaset .spec.replicas 2
  expect "a StatefulSet" wait_for 40 field_is statefulset statefulset .spec.replicas 2
  expect "by their scale" shows '"subresource":"scale"' sh -c "kubectl get web web --show-managed-fields -o json | tr -d ' \n'"
  expect "what is not there to be said" wait_for 40 shows 'webs.x.io "gone" not found' kubectl describe hpa gone
  kubectl delete hpa web replicaset statefulset gone > /dev/null
  kubectl delete replicaset/replicaset statefulset/statefulset crd/webs.x.io > /dev/null
}
unknown_images_are_named() {
  expect "a warning" shows 'Warning: spec.containers[0].image: "ngnix" is not imported' kubectl run typo --image=ngnix --restart=Never --command -- true
}
without_a_node_nothing_is_measured() {
  kubectl apply -f - > /dev/null << MANIFEST
apiVersion: apps/v1
kind: Deployment
metadata: {name: unmeasured}
spec:
  selector: {matchLabels: {app: unmeasured}}
  template:
    metadata: {labels: {app: unmeasured}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 10m}}}]}
MANIFEST
  scaler unmeasured apps/v1 Deployment | kubectl apply -f - > /dev/null
  expect "the autoscaler to raise it to its least" wait_for 40 field_is deployment unmeasured .spec.replicas 2
  expect "a reason" wait_for 40 shows FailedGetResourceMetric kubectl describe hpa unmeasured
  expect "the server to answer" kubectl get --raw /readyz
}

runtimes=process
[ $root = 1 ] && runtimes="process runc"
for runtime in $runtimes; do
  echo "as $runtime"
  start_cluster --node-name n1 --host-rootfs --runtime "$runtime"
  wait_for 10 kubectl get node n1
  kubectl run busy --image=i --labels=app=busy --overrides='{"spec":{"terminationGracePeriodSeconds":0,"containers":[{"name":"main","image":"i","command":["sh","-c","while true; do :; done"]}]}}' > /dev/null
  wait_for 20 field_is pod busy .status.phase Running
  run_tests usage_is_shown pages_are_served
  kubectl delete pod busy > /dev/null
  run_tests pods_follow_their_use whatever_has_a_scale_is_scaled
  [ "$runtime" = runc ] && run_tests unknown_images_are_named
  stop_cluster
  rm -rf "$scratch/data"
done
start_cluster --components apiserver,controllers
run_tests without_a_node_nothing_is_measured
exit ${failed:-0}
