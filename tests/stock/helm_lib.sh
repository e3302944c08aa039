# What the tests with stock Helm share: a machine, somebody who binds, and a chart of before. Sourced after lib.sh.
ns=volcano-system
export HELM_CACHE_HOME=$scratch/helm HELM_CONFIG_HOME=$scratch/helm HELM_DATA_HOME=$scratch/helm
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
a_machine() { # a node of KWOK whose pods are bound
  kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "16", memory: 64Gi, pods: "50"}, allocatable: {cpu: "16", memory: 64Gi, pods: "50"}}
YAML
  binder &
  programs+=($!)
}
# A chart with the names, labels and hook of Volcano's (written from spec/install 3 to 5): what Helm compares with ours are kinds, names and fields.
chart_of_before() { # chart_of_before FOLDER
  local old=$1 one name app image
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
}

# The programs of the Deployments run as processes, with ports of the test.
in_system() { kubectl -n volcano-system "$@"; }
account() { # account NAME: prints the name of a kubeconfig
  cp "$KUBECONFIG" "$scratch/$1.kubeconfig"
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-credentials "$1" --token="$(in_system create token "volcano-$1")" > /dev/null
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-context --current --user "$1" > /dev/null
  echo "$scratch/$1.kubeconfig"
}
folder() { # folder NAME: what a config map holds, as files
  mkdir -p "$scratch/$1"
  in_system get configmap "$1" -o go-template='{{range $file, $text := .data}}{{$file}}{{"\n"}}{{end}}' | while read -r file; do
    in_system get configmap "$1" -o "jsonpath={.data['${file//./\\.}']}" > "$scratch/$1/$file"
  done
}
run_deployment() { # run_deployment NAME PROGRAM PORT FLAG...: as the Deployment says, in the background; health on PORT
  local name=$1 program=$2 port=$3 words
  shift 3
  read -r -a words <<< "$(in_system get deployment "volcano-$name" -o 'jsonpath={.spec.template.spec.containers[0].args[*]}')"
  words=("${words[@]//\/volcano.scheduler/$scratch/volcano-scheduler-configmap}")
  words=("${words[@]//\/admission.local.config\/configmap/$scratch/volcano-admission-configmap}")
  words=("${words[@]//\/admission.local.config\/certificates/$scratch}")
  KUBE_POD_NAMESPACE=volcano-system HELM_RELEASE_NAME=volcano "$bin/$program" "${words[@]}" --kubeconfig "$(account "$name")" \
    --healthz-address "127.0.0.1:$port" "$@" > "$scratch/$name.log" 2>&1 &
  programs+=($!)
}
