{{- /* Settings of a component: custom.<component>_<key>, or custom.default_<key>. (dict "root" . "component" "scheduler" "key" "ns") */}}
{{- define "volcano.setting" -}}
{{- $custom := .root.Values.custom -}}
{{- with get $custom (printf "%s_%s" .component .key) | default (get $custom (printf "default_%s" .key)) -}}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- /* What a component's container asks for: its own resources as they are, or default_resources.<component>. */}}
{{- define "volcano.resources" -}}
{{- $custom := .root.Values.custom -}}
{{- with get $custom (printf "%s_resources" .component) | default (get ($custom.default_resources | default dict) .component) -}}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "volcano.image" -}}
{{- $basic := .root.Values.basic -}}
{{- $tag := get $basic (printf "%s_image_tag_version" .component) | default $basic.image_tag_version -}}
{{- with $basic.image_registry }}{{ . }}/{{ end }}{{ get $basic (printf "%s_image_name" .component) }}:{{ $tag }}
{{- end -}}

{{- /* A number as programs read it: a large one of a values file would be 2e+06. */}}
{{- define "volcano.number" -}}
{{- if and (kindIs "float64" .) (eq (float64 (int64 .)) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{- /* Labels with values that are text, whatever a values file made of them. A list of dictionaries; what comes first wins. */}}
{{- define "volcano.labels" -}}
{{- $labels := dict -}}
{{- range . -}}
{{- range $key, $value := . | default dict -}}
{{- if not (hasKey $labels $key) }}{{ $_ := set $labels $key (toString $value) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $labels }}{{ toYaml $labels }}{{ end -}}
{{- end -}}

{{- /* metadata of an object. (dict "root" . "name" "scheduler" "cluster" false "labels" dict "annotations" dict) */}}
{{- define "volcano.metadata" -}}
metadata:
  name: {{ .fixed | default (printf "%s-%s" .root.Release.Name .name) }}
  {{- if not .cluster }}
  namespace: {{ .namespace | default .root.Release.Namespace }}
  {{- end }}
  {{- with include "volcano.labels" (list .labels .more .root.Values.custom.common_labels) }}
  labels:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /* A ServiceAccount, its ClusterRole's binding. (dict "root" . "name" "scheduler" "binding" "scheduler-role") */}}
{{- define "volcano.account" -}}
apiVersion: v1
kind: ServiceAccount
{{ include "volcano.metadata" (dict "root" .root "name" .name) }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
{{ include "volcano.metadata" (dict "root" .root "name" .binding "cluster" true) }}
subjects:
- kind: ServiceAccount
  name: {{ .root.Release.Name }}-{{ .name }}
  namespace: {{ .root.Release.Namespace }}
roleRef:
  kind: ClusterRole
  name: {{ .root.Release.Name }}-{{ .name }}
  apiGroup: rbac.authorization.k8s.io
{{- end -}}

{{- /* The head of a Deployment up to the pod's spec.
(dict "root" . "component" "scheduler" "name" "scheduler" "labels" (dict "app" "volcano-scheduler") "alone" true "annotations" dict) */}}
{{- define "volcano.deployment" -}}
{{- $custom := .root.Values.custom -}}
apiVersion: apps/v1
kind: Deployment
{{ include "volcano.metadata" (dict "root" .root "name" .name "labels" .labels "more" (get $custom (printf "%s_labels" .component))) }}
spec:
  replicas: {{ get $custom (printf "%s_replicas" .component) }}
  {{- if .alone }}
  # Nobody is elected, so the old pod has to end before the new one comes; a rolling update does not wait for pods that end.
  {{- /* Without "rollingUpdate: null": patches of Helm and kubectl clear the field by themselves, server-side apply would make it {}, which
  is refused, and "kubectl apply" would change the object each time. */}}
  strategy:
    type: Recreate
  {{- end }}
  selector:
    matchLabels:
      {{- toYaml .labels | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "volcano.labels" (list .labels (get $custom (printf "%s_podLabels" .component)) $custom.common_labels) | nindent 8 }}
      {{- with .annotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ .root.Release.Name }}-{{ .name }}
      priorityClassName: system-cluster-critical
      {{- include "volcano.pod" . | trim | nindent 6 }}
{{- end -}}

{{- /* Where a pod may run, and how. */}}
{{- define "volcano.pod" -}}
{{- $values := dict "affinity" "affinity" "tolerations" "tolerations" "ns" "nodeSelector" "sc" "securityContext" -}}
{{- $top := . -}}
{{- range $key, $field := $values }}
{{- with include "volcano.setting" (dict "root" $top.root "component" $top.component "key" $key) }}
{{ $field }}:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "volcano.pull_secrets" .root }}
{{ . }}
{{- end }}
{{- end -}}

{{- define "volcano.pull_secrets" -}}
{{- with .Values.basic.image_pull_secret -}}
imagePullSecrets:
- name: {{ . }}
{{- end -}}
{{- end -}}

{{- /* Image, resources and security of a component's main container. */}}
{{- define "volcano.container" -}}
image: {{ include "volcano.image" . }}
imagePullPolicy: {{ .root.Values.basic.image_pull_policy }}
{{- with include "volcano.resources" . }}
resources:
  {{- . | nindent 2 }}
{{- end }}
{{- with .csc | default (get .root.Values.custom (printf "%s_main_csc" .component)) | default .root.Values.custom.default_csc }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "volcano.memlimit" -}}
{{- if .Values.custom.go_memlimit_enable -}}
- name: GOMEMLIMIT
  valueFrom:
    resourceFieldRef:
      resource: limits.memory
{{- end }}
{{- end -}}

{{- /* (dict "ready" "/readyz" "scheme" "HTTP"): alive is who answers; a program that is stuck is started again after a minute. */}}
{{- define "volcano.probes" -}}
livenessProbe:
  httpGet:
    path: /healthz
    port: healthz
    {{- with .scheme }}
    scheme: {{ . }}
    {{- end }}
  initialDelaySeconds: {{ .delay | default 10 }}
  periodSeconds: {{ .period | default 20 }}
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: {{ .ready | default "/readyz" }}
    port: healthz
    {{- with .scheme }}
    scheme: {{ . }}
    {{- end }}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{- /* One --scheduler-name for each name: custom.scheduler_name is a name or a list. */}}
{{- define "volcano.scheduler_names" -}}
{{- with .Values.custom.scheduler_name }}
{{- $flags := list }}
{{- range (kindIs "slice" . | ternary . (list .)) }}
{{- $flags = append $flags (printf "- --scheduler-name=%v" .) }}
{{- end }}
{{- join "\n" $flags }}
{{- end }}
{{- end -}}

{{- /* Whether leaders of a component are elected: "true" or "false". */}}
{{- define "volcano.elects" -}}
{{- or .root.Values.custom.leader_elect_enable (gt (int (get .root.Values.custom (printf "%s_replicas" .component))) 1) -}}
{{- end -}}

{{- define "volcano.leader_election" -}}
- --leader-elect={{ include "volcano.elects" . }}
{{- if eq (include "volcano.elects" .) "true" }}
- --leader-elect-resource-namespace={{ .root.Release.Namespace }}
{{- end }}
{{- end -}}

{{- /* With more than one replica one at a time may be evicted. (dict "root" . "component" "scheduler" "name" "scheduler" "labels" dict) */}}
{{- define "volcano.budget" -}}
{{- if gt (int (get .root.Values.custom (printf "%s_replicas" .component))) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
{{ include "volcano.metadata" (dict "root" .root "name" .name "labels" .labels) }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- toYaml .labels | nindent 6 }}
{{- end }}
{{- end -}}

{{- define "volcano.families" -}}
{{- with .Values.service.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.service.ipFamilies }}
ipFamilies:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* A service of metrics. (dict "root" . "name" "scheduler-service" "app" "volcano-scheduler" "port" 8080 "scrape" true) */}}
{{- define "volcano.metrics_service" -}}
apiVersion: v1
kind: Service
{{ include "volcano.metadata" (dict "root" .root "name" .name "labels" .labels "annotations" (.scrape | ternary (dict "prometheus.io/scrape" "true" "prometheus.io/path" "/metrics" "prometheus.io/port" (toString .port)) dict)) }}
spec:
  {{- with include "volcano.families" .root | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  type: ClusterIP
  selector:
    {{- toYaml .labels | nindent 4 }}
  ports:
  - name: metrics
    port: {{ .port }}
    targetPort: {{ .target | default .port }}
    protocol: TCP
{{- end -}}

{{- /* A configuration that is given as text, or as the map that the text would be. */}}
{{- define "volcano.text" -}}
{{- if kindIs "string" . }}{{ trimSuffix "\n" . }}{{ else if . }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{- /* Words with commas between them that are given as text, as a list, or as a map of switches. */}}
{{- define "volcano.words" -}}
{{- if kindIs "slice" . -}}
{{- join "," . -}}
{{- else if kindIs "map" . -}}
{{- $words := list -}}
{{- range $name, $value := . }}{{ $words = append $words (printf "%s=%v" $name $value) }}{{ end -}}
{{- join "," $words -}}
{{- else if . -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{- /* The text of a configuration: the override, or a file of the chart, which has to be there.
(dict "root" . "override" text or map "value" "basic.scheduler_config_file" "file" path) */}}
{{- define "volcano.configuration" -}}
{{- $text := include "volcano.text" .override -}}
{{- if not $text -}}
{{- $text = .root.Files.Get .file -}}
{{- if not $text -}}
{{- fail (printf "%s: the chart has no file %q" .value .file) -}}
{{- end -}}
{{- end -}}
{{- $text | trimSuffix "\n" -}}
{{- end -}}

{{- /* "true" where the scheduler rehearses workloads, otherwise empty. */}}
{{- define "volcano.rehearses" -}}
{{- $custom := .Values.custom -}}
{{- $asked := toString $custom.scheduler_rehearsal_enable -}}
{{- if not (has $asked (list "true" "false" "auto")) -}}
{{- fail (printf "custom.scheduler_rehearsal_enable: %q is none of true, false, auto" $asked) -}}
{{- end -}}
{{- if and $custom.scheduler_enable (or (eq $asked "true") (and (eq $asked "auto") $custom.ui_enable)) -}}true{{- end -}}
{{- end -}}
