# Two users, two GPUs, and jobs that need two each: without gangs each job holds half and neither trains.
# Sourced by run.sh with a cluster that runs. The GPUs are an extended resource of the node that no driver stands behind.
gpu=example.com/gpu
# A worker trains once it reaches the other one by its name.
worker='i=${HOSTNAME##*-}; peer=${HOSTNAME%-*}-$((1 - i)); until ping -c 1 -W 1 "$peer" > /dev/null 2>&1; do sleep 0.2; done; echo training; sleep 4'
user() { # user NAME MINIMUM
  cat <<Y
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1}
spec:
  runPolicy: {cleanPodPolicy: None, schedulingPolicy: {minAvailable: $2}}
  tfReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: Never
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - name: tensorflow
            image: alpine:3.10
            imagePullPolicy: IfNotPresent
            command: [sh, -c, '$worker']
            resources: {limits: {$gpu: 1}}
Y
}
# A line a pod: "." waits, "=" holds a GPU and waits for its peer, "#" trains; a column is a second since the first pod.
timeline() {
  local now first pod made began trains ended
  now=$(date -u +%s)
  first=$(kubectl get pods --sort-by=.metadata.creationTimestamp -o 'jsonpath={.items[0].metadata.creationTimestamp}')
  first=$(date -d "$first" +%s)
  for pod in $(kubectl get pods -o 'jsonpath={.items[*].metadata.name}'); do
    read -r made began ended <<< "$(kubectl get pod "$pod" -o 'jsonpath={.metadata.creationTimestamp} {.status.containerStatuses[0].state.*.startedAt} {.status.containerStatuses[0].state.terminated.finishedAt}')"
    trains=$(kubectl logs "$pod" --timestamps 2> /dev/null | sed -n 's/ training$//p')
    at() { if [ -n "$1" ]; then echo $(($(date -d "$1" +%s) - first)); else echo $((now - first)); fi; }
    awk -v pod="$pod" -v made="$(at "$made")" -v began="$(at "$began")" -v trains="$(at "$trains")" -v ended="$(at "$ended")" -v mark="${ended:+|}" 'BEGIN {
      printf "  %-18s |", pod
      for (i = 0; i < ended; ++i) printf "%s", i < made ? " " : i < began ? "." : i < trains ? "=" : "#"
      print mark }'
  done
}
both() { [ "$(kubectl get tfjobs -o 'jsonpath={.items[*].status.conditions[-1:].type}')" = "Succeeded Succeeded" ]; }
holds_one() { [ "$(kubectl get pods -l "training.kubeflow.org/job-name=$1" --field-selector status.phase=Running -o name | wc -l)" = 1 ]; }

node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
show kubectl patch node "$node" --subresource status --type merge -p "{\"status\":{\"capacity\":{\"$gpu\":\"2\"},\"allocatable\":{\"$gpu\":\"2\"}}}"

say "without gangs (minAvailable: 1)"
# The node is closed until all pods are there: which of two users comes first is chance otherwise.
kubectl cordon "$node" > /dev/null
{ user ana 1; user ben 1; } | kubectl apply -f -
until_true 60 "four pods" sh -c '[ "$(kubectl get pods -o name | wc -l)" = 4 ]'
kubectl uncordon "$node" > /dev/null
until_true 60 "one GPU for each" sh -c "$(declare -f holds_one); holds_one ana && holds_one ben"
sleep 10
show kubectl get pods
timeline
kubectl logs -l training.kubeflow.org/job-name --prefix 2> /dev/null | grep training && give_up "a job trains with half of its GPUs"
echo "  Each job holds one GPU and waits for the other one: nobody trains."
kubectl delete tfjobs --all > /dev/null
until_true 60 "the end of the pods" sh -c '[ -z "$(kubectl get pods -o name)" ]'

say "with gangs (minAvailable: 2, which is the default)"
{ user ana 2; user ben 2; } | kubectl apply -f -
until_true 120 "the end of both jobs" both
timeline
show kubectl get tfjobs
echo "  One job trains on both GPUs, then the other."
