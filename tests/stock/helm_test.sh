#!/usr/bin/env bash
# The chart, rendered by the stock Helm library: sets of values compared with tests/golden/chart, wrong values refused with their
# message, arguments that our programs take, and deploy/ as deploy/generate writes it. Prints "ok NAME" or "FAIL NAME: why". Needs
# `tests/stock/build.sh helm-template`, and no server. `helm_test.sh --update` rewrites the golden files.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${VOLCANO_BIN:-$PWD/build/release/bin}
helm=${STOCK_DIR:-$HOME/.cache/stock-kubernetes}/bin/helm-template
[ -x "$helm" ] || { echo "skip chart: helm-template is not built (tests/stock/build.sh helm-template)"; exit 0; }
update=0
[ "${1:-}" = --update ] && update=1
chart=deploy/chart/volcano golden=tests/golden/chart
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
ok() { echo "ok chart: $1"; }
no() { echo "FAIL chart: $1: $2"; failed=1; }

# CRDs and policies are compared by tools/golden, and dashboards stand in the chart as files: here only their names are compared, and the
# metadata of dashboards.
outline() {
  awk 'function flush() { if (text != "") printf "%s", (long ? "---\n# " kind " " name "\n" : text); text = ""; long = 0; name = "" }
    /^---/ { flush() }
    /^kind: / { kind = $2; long = kind ~ /CustomResourceDefinition|AdmissionPolicy/ }
    /^  name: / && name == "" { name = $2 }
    /^---|^data:/ { skipped = /^data:/ && kind == "ConfigMap" && name ~ /dashboard/ }
    !skipped { text = text $0 "\n" }
    END { flush() }'
}
declare -A release=([hooks]="-release batch -namespace jobs" [agents]="-release edge -namespace kube-agents"
  [policies]="-api admissionregistration.k8s.io/v1/MutatingAdmissionPolicy")
for values in "$golden"/*.in.yaml; do
  name=$(basename "$values" .in.yaml)
  # shellcheck disable=SC2086
  if ! "$helm" ${release[$name]:-} -values "$values" $chart > "$scratch/$name.all" 2> "$scratch/why"; then no "$name" "$(cat "$scratch/why")"; continue; fi
  outline < "$scratch/$name.all" > "$scratch/$name.yaml"
  [ $update = 1 ] && cp "$scratch/$name.yaml" "$golden/$name.yaml"
  if diff -u "$golden/$name.yaml" "$scratch/$name.yaml" > "$scratch/diff" 2>&1; then ok "$name"; else
    head -40 "$scratch/diff"
    no "$name" "differs from $golden/$name.yaml; tests/stock/helm_test.sh --update rewrites it"
  fi
done

# A value that is text may be given as the list or the map that the text means: what is rendered says the same.
same_in_both_forms() { # same_in_both_forms KEY TEXT FORM: both in YAML; fields are compared, configurations by what they say
  local form
  for form in text other; do
    printf 'custom:\n  agent_scheduler_enable: true\n  hypernode_controller_mode: controller-manager\n  %s: %s\n' "$1" "$([ $form = text ] && echo "$2" || echo "$3")" > "$scratch/form.yaml"
    "$helm" -values "$scratch/form.yaml" $chart 2> "$scratch/why" > "$scratch/form.all" || { no "both forms of $1" "$(cat "$scratch/why")"; return; }
    outline < "$scratch/form.all" | python3 -c '
import json, sys, yaml
for document in yaml.safe_load_all(sys.stdin):
    if document and document["kind"] == "ConfigMap":
        document["data"] = {key: yaml.safe_load(text) for key, text in document["data"].items()}
    print(json.dumps(document, sort_keys=True, default=str))' > "$scratch/form.$form"
  done
  "$helm" -set custom.agent_scheduler_enable=true $chart > "$scratch/without" 2> /dev/null
  if ! diff -q "$scratch/form.text" "$scratch/form.other" > /dev/null; then no "both forms of $1" "$(diff "$scratch/form.text" "$scratch/form.other" | head -4)"
  elif cmp -s "$scratch/without" "$scratch/form.all"; then no "both forms of $1" "it changes nothing"
  else ok "both forms of $1"; fi
}
same_in_both_forms scheduler_config_override '"actions: \"enqueue, allocate\"\ntiers: [{plugins: [{name: gang}]}]\n"' '{actions: "enqueue, allocate", tiers: [{plugins: [{name: gang}]}]}'
same_in_both_forms agent_scheduler_config_override '"actions: allocate"' '{actions: allocate}'
same_in_both_forms admission_config_override '"resourceGroups: [{resourceGroup: cpu, schedulerName: volcano}]"' '{resourceGroups: [{resourceGroup: cpu, schedulerName: volcano}]}'
same_in_both_forms controller_config_override '"networkTopologyDiscovery: [{source: label, enabled: true}]"' '{networkTopologyDiscovery: [{source: label, enabled: true}]}'
same_in_both_forms sharding_configmap_data '"schedulerConfigs: [{name: volcano, type: volcano}]"' '{schedulerConfigs: [{name: volcano, type: volcano}]}'
same_in_both_forms scheduler_name '"one"' '[one]'
same_in_both_forms controller_enabled_controllers '"*,-gc-controller"' '["*", -gc-controller]'
same_in_both_forms enabled_admissions '/jobs/mutate,/podgroups/mutate' '[/jobs/mutate, /podgroups/mutate]'
same_in_both_forms ignored_provisioners 'rancher.io/local-path,example.com/disks' '[rancher.io/local-path, example.com/disks]'
for component in admission scheduler agent_scheduler controller; do
  same_in_both_forms ${component}_feature_gates 'CronVolcanoJobSupport=false,SchedulingGatesQueueAdmission=true' '{SchedulingGatesQueueAdmission: true, CronVolcanoJobSupport: false}'
done

# What docs/operations/from-volcano.md gives beside kept values names our images, whatever tag these pin.
printf 'basic: {image_registry: docker.io, image_tag_version: v1.15.0}\ncustom: {agent_scheduler_enable: true, hypernode_controller_mode: standalone}\n' > "$scratch/kept.yaml"
images=$("$helm" -values "$scratch/kept.yaml" -set basic.image_registry=registry.example.com,basic.image_tag_version=0.1.0 $chart | sed -n 's/^ *image: //p' | grep -v '^{' | sort -u)
theirs=$(grep -v '^registry.example.com/volcanosh/vc-[a-z-]*:0.1.0$' <<< "$images")
if [ -z "$theirs" ] && [ "$(wc -l <<< "$images")" = 5 ]; then ok "our images with kept values"; else no "our images with kept values" "$(xargs <<< "${theirs:-$images}")"; fi

# Each program of ours reads the arguments that the chart gives it: with --version behind them it says what it is, or what it cannot read.
commands() { # prints a line "PROGRAM ARGUMENT..." for each container with an image of ours and arguments, tabs between them
  awk '/^ *image: / { sub(/.*\//, ""); sub(/:.*/, ""); program = $0 }
    /^ *args:$/ { inside = 1; line = program; next }
    inside && /^ *- / { sub(/^ *- /, ""); line = line "\t" $0; next }
    inside { inside = 0; if (line ~ /^vc-(scheduler|agent-scheduler|controller-manager|hypernode-controller-manager|webhook-manager)\t--[a-z-]+=/ || line ~ /\t--logtostderr/) print line }' "$@"
}
read_by=0
while IFS=$'\t' read -r -a words; do
  if out=$("$bin/${words[0]}" "${words[@]:1}" --version 2>&1) && [[ $out == *"0.1.0"* ]]; then read_by=$((read_by + 1)); else
    no "arguments of ${words[0]}" "$(head -1 <<< "$out")"
  fi
done < <(commands "$scratch"/*.all | sort -u)
if [ $read_by -ge 12 ]; then ok "our programs read their arguments"; else no "our programs read their arguments" "only $read_by were tried"; fi

refused() { # refused MESSAGE FLAG...
  local message=$1 out
  shift
  if out=$("$helm" "$@" $chart 2>&1 > /dev/null); then no "$*" "is accepted"; elif [[ $out == *"$message"* ]]; then ok "refused: $*"; else no "$*" "$out"; fi
}
refused 'custom.ui_replicas: more than one replica needs custom.ui_session_secret' -set custom.ui_enable=true,custom.ui_replicas=2
refused 'custom.hypernode_controller_mode must be one of controller-manager, standalone, or disabled; got "both"' -set custom.hypernode_controller_mode=both
refused 'custom.hypernode_controller_replicas must be at least 1 when custom.hypernode_controller_mode is standalone; got 0' \
  -set custom.hypernode_controller_mode=standalone,custom.hypernode_controller_replicas=0
refused 'the cluster does not serve apiextensions.k8s.io/v1: Kubernetes 1.16 or later is needed' -without-api apiextensions.k8s.io/v1
refused 'custom.scheduler_replicas must be a number of pods; got "-1"' -set custom.scheduler_replicas=-1
refused 'custom.scheduler_sharding_mode must be one of none, hard, or soft; got "strict"' -set custom.scheduler_sharding_mode=strict
refused 'basic.admission_port must be in the range of 1 and 65535; got 70000' -set basic.admission_port=70000
refused 'basic.admission_port must not be 11251, where the health checks are' -set basic.admission_port=11251
refused 'custom.enabled_admissions: there is no path "/nope"; there are /apply-poddefault, /cronjobs/validate, ' -set custom.enabled_admissions='/jobs/mutate\,/nope'
refused 'custom.controller_enabled_controllers names hyperNode-controller, which custom.hypernode_controller_mode "disabled" takes out of' \
  -set custom.hypernode_controller_mode=disabled,custom.controller_enabled_controllers='*\,+hyperNode-controller'
refused 'basic.scheduler_config_file: the chart has no file "config/mine.conf"' -set basic.scheduler_config_file=config/mine.conf
before=$("$helm" -set custom.map_enable=true $chart | grep -A1 '^apiVersion: admissionregistration.k8s.io/v1beta1$' | grep -c '^kind: MutatingAdmissionPolicy')
if [ "$before" = 8 ]; then ok "mutating policies before 1.36"; else no "mutating policies before 1.36" "$before of 8 objects are v1beta1"; fi

# tests/stock/programs_test.sh runs our programs with the roles of Volcano's chart (roles.yaml): ours give no less.
missing=$(python3 - tests/stock/roles.yaml deploy/volcano.yaml << 'PY'
import re, sys
def rights(path):
    out = set()
    for text in open(path).read().split("\n---"):
        name = re.search(r"^(?:metadata: \{name: |  name: )([a-z-]+)", text, re.M)
        if not re.search(r"^kind: ClusterRole$", text, re.M) or name is None or name.group(1) not in ("volcano-scheduler", "volcano-controllers", "volcano-admission"):
            continue
        for groups, resources, verbs in re.findall(r"^- \{apiGroups: \[(.*?)\], resources: \[(.*?)\], verbs: \[(.*?)\]\}", text, re.M):
            words = [[word.strip(' "') for word in one.split(",")] for one in (groups, resources, verbs)]
            out |= {(name.group(1), group, resource, verb) for group in words[0] for resource in words[1] for verb in words[2]}
    return out
theirs, ours = (rights(path) for path in sys.argv[1:])
print(*sorted(theirs - ours), sep="\n")
print(len(theirs))
PY
)
if [[ $missing =~ ^[[:space:]]*[0-9]{3}$ ]]; then ok "our roles give what Volcano's give"; else no "our roles give what Volcano's give" "$(head -3 <<< "$missing" | xargs)"; fi

unknown=$(grep -rhoE 'volcano_[a-z0-9_]+' $chart/monitoring | sed 's/_bucket$//' | sort -u | while read -r metric; do
  # kube-state-metrics' label and two of its metrics are not ours
  grep -qE "^\| \`$metric\`" docs/reference/metrics.md || [[ $metric =~ ^volcano_(namespace|container_resource_requests|container_status_running)$ ]] || echo "$metric"
done)
if [ -z "$unknown" ]; then ok "dashboards and alerts ask for metrics that there are"; else no "dashboards and alerts" "nobody exports $unknown"; fi

if "$helm" -lint $chart > "$scratch/lint" 2>&1; then ok "lint"; else no "lint" "$(tr '\n' ' ' < "$scratch/lint")"; fi
deploy/generate --check || failed=1
exit $failed
