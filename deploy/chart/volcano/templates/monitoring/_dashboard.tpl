{{- /* A dashboard of Grafana from its description in monitoring/dashboards: two panels in a row, KSM for kube-state-metrics' job. */}}
{{- define "volcano.dashboard" -}}
{{- $source := dict "type" "prometheus" "uid" "prometheus" -}}
{{- $panels := list -}}
{{- range $i, $panel := .panels -}}
{{- $type := $panel.type | default "timeseries" -}}
{{- $targets := list -}}
{{- range $j, $query := $panel.queries -}}
{{- $target := dict "refId" (substr $j (int (add $j 1)) "ABCDEF") "datasource" $source "expr" (replace "KSM" "job=\"kube-state-metrics\"" $query) "legendFormat" ($panel.legend | default "__auto") -}}
{{- if eq $type "heatmap" }}{{ $_ := set $target "format" "heatmap" }}{{ end -}}
{{- if eq $type "table" }}{{ $_ := set $target "format" "table" }}{{ $_ := set $target "instant" true }}{{ end -}}
{{- $targets = append $targets $target -}}
{{- end -}}
{{- $panels = append $panels (dict "id" (add $i 1) "title" $panel.title "type" $type "datasource" $source
      "gridPos" (dict "h" 8 "w" 12 "x" (mul (mod $i 2) 12) "y" (mul (div $i 2) 8)) "targets" $targets
      "fieldConfig" (dict "defaults" (dict "unit" ($panel.unit | default "short")) "overrides" list)) -}}
{{- end -}}
{{- $variables := list -}}
{{- with .variable -}}
{{- $variables = list (dict "name" .name "type" "query" "datasource" $source "query" .query "definition" .query "refresh" 2 "sort" 1) -}}
{{- end -}}
{{- dict "uid" .uid "title" .title "tags" (list "volcano") "schemaVersion" 39 "editable" true "refresh" "30s" "time" (dict "from" "now-6h" "to" "now")
      "templating" (dict "list" $variables) "panels" $panels | toPrettyJson -}}
{{- end -}}
