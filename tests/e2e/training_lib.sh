# What the tests of training jobs share; sourced after lib.sh.
replica() { # replica TYPE COUNT POLICY CONTAINER COMMAND
  cat <<Y
    $1:
      replicas: $2
      restartPolicy: $3
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - {name: $4, image: "nginx:latest", command: [bash, -c, '$5'], resources: {requests: {cpu: 50m}}}
Y
}
job() { # job KIND NAME MAP [more of the spec]; replicas follow on standard input
  printf 'apiVersion: kubeflow.org/v1\nkind: %s\nmetadata: {name: %s}\nspec:\n%s\n  %s:\n' "$1" "$2" "${4:-}" "$3"
  cat
}
state() { kubectl get "$1" "$2" -o 'jsonpath={.status.conditions[-1:].type}' 2> /dev/null; }
state_is() { [ "$(state "$1" "$2")" = "$3" ]; }
pods_of() { kubectl get pods -l "training.kubeflow.org/job-name=$1" -o 'jsonpath={.items[*].metadata.name}'; }
no_pods_of() { [ -z "$(pods_of "$1")" ]; }
event_is() { kubectl get events -o 'jsonpath={range .items[*]}{.source.component} {.involvedObject.kind}/{.involvedObject.name} {.reason}: {.message}{"\n"}{end}' | grep -F "$1" > /dev/null; }
