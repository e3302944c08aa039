#!/usr/bin/env bash
# The dashboards and alerts of deploy/volcano-monitoring.yaml, asked of a Prometheus that scrapes vc-scheduler and vc-controller-manager at
# work on a stock kube-apiserver: every query of every panel has an answer, every list of a variable has the name that is looked for, and the
# alerts that a test can bring about come. What kube-state-metrics would tell (Volcano's fork of it) is a text here, as that is not a program of ours.
# Prints "ok NAME" or "FAIL NAME: why". Needs the package prometheus and what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v prometheus > /dev/null && command -v promtool > /dev/null || { echo "skip stock panels: prometheus is not installed"; exit 0; }
need panels etcd kube-apiserver kube-controller-manager kwok
start_server
"$bin/volcano" crd > "$scratch/crd.yaml"
kubectl apply --server-side -f "$scratch/crd.yaml" > /dev/null
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
check "deploy/volcano-monitoring.yaml" kubectl apply --server-side -f deploy/volcano-monitoring.yaml
port=${STOCK_HOOK_PORT:-29460}
server=http://127.0.0.1:$port

# The programs. The plugin capacity tells more of queues than proportion does, and preempt is the action with panels of its own.
cat > "$scratch/scheduler.conf" << 'YAML'
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: drf, enablePreemptable: false}, {name: predicates}, {name: capacity}, {name: nodeorder}, {name: binpack}]
YAML
run controllers "$bin/vc-controller-manager" --leader-elect=false --kubeconfig "$KUBECONFIG" --enable-metrics=true --listen-address "127.0.0.1:$((port + 2))"
run scheduler "$bin/vc-scheduler" --leader-elect=false --kubeconfig "$KUBECONFIG" --scheduler-conf "$scratch/scheduler.conf" --schedule-period 200ms --enable-metrics=true --listen-address "127.0.0.1:$((port + 1))"
scheduler=${programs[-1]}

# kube-state-metrics: one pod that runs all along, and one that is about to end.
state() { # state RUNNING: whether the second still runs
  local node pod resource
  echo 'kube_namespace_labels{namespace="default"} 1'
  for node in n1 n2; do
    echo "kube_node_info{node=\"$node\"} 1"
    for resource in cpu memory nvidia_com_gpu; do
      echo "kube_node_status_capacity{node=\"$node\",resource=\"$resource\"} 8"
      echo "kube_node_status_allocatable{node=\"$node\",resource=\"$resource\"} 8"
    done
  done
  for pod in 1 2; do
    local names="pod=\"train-$pod\",container=\"c\"" running=1
    [ $pod = 2 ] && running=$1
    echo "kube_pod_container_status_running{namespace=\"default\",$names} $running"
    echo "kube_pod_volcano_container_status_running{volcano_namespace=\"default\",queue=\"ml\",$names} $running"
    for resource in cpu/core memory/byte nvidia_com_gpu/integer; do
      echo "kube_pod_container_resource_requests{namespace=\"default\",$names,node=\"n$pod\",resource=\"${resource%/*}\",unit=\"${resource#*/}\"} $pod"
      echo "kube_pod_volcano_container_resource_requests{volcano_namespace=\"default\",queue=\"ml\",$names,node=\"n$pod\",resource=\"${resource%/*}\",unit=\"${resource#*/}\"} $pod"
    done
  done
}
mkdir "$scratch/state"
state 1 > "$scratch/state/metrics"
run state python3 -m http.server --bind 127.0.0.1 --directory "$scratch/state" $((port + 3))
kubectl -n volcano-monitoring get configmap prometheus-server-conf -o 'jsonpath={.data.rules\.yaml}' > "$scratch/rules.yaml"
check "promtool takes the rules" promtool check rules "$scratch/rules.yaml"
# Each alert with numbers that raise it for as long as it asks, and with some that do not quite.
cat > "$scratch/alerts.yaml" << 'YAML'
rule_files: [rules.yaml]
evaluation_interval: 1m
tests:
- name: alerts
  interval: 1m
  input_series:
  # One cycle in ten takes more than a second until 0:40; from then on one in fifty.
  - {series: 'volcano_e2e_scheduling_latency_milliseconds_bucket{le="1000"}', values: '0+90x40 3698+98x40'}
  - {series: 'volcano_e2e_scheduling_latency_milliseconds_bucket{le="2000"}', values: '0+100x80'}
  - {series: 'volcano_e2e_scheduling_latency_milliseconds_bucket{le="+Inf"}', values: '0+100x80'}
  - {series: 'volcano_eviction_transactions_total{action="preempt", plugin="a"}', values: '0+6x40 240x40'}
  - {series: 'volcano_eviction_transactions_total{action="preempt", plugin="b"}', values: '0+6x40 240x40'}
  - {series: 'volcano_eviction_transactions_total{action="reclaim", plugin="a"}', values: '0+9x80'}
  - {series: 'volcano_queue_pod_group_pending_count{queue_name="starved"}', values: '2x80'}
  - {series: 'volcano_queue_pod_group_running_count{queue_name="starved"}', values: '0x40 1x40'}
  - {series: 'volcano_queue_pod_group_inqueue_count{queue_name="starved"}', values: '0x80'}
  - {series: 'volcano_unschedule_job_count{job_name="j"}', values: '1x60 _x20'}
  - {series: 'volcano_job_failed_phase_count{queue_name="ml", job_name="often"}', values: '1+1x20 21x60'}
  - {series: 'volcano_job_failed_phase_count{queue_name="default", job_name="seldom"}', values: '1x80'}
  alert_rule_test:
  - {alertname: VolcanoSchedulingSlow, eval_time: 10m, exp_alerts: []}
  - alertname: VolcanoSchedulingSlow
    eval_time: 30m
    exp_alerts:
    - exp_labels: {severity: warning}
      exp_annotations:
        summary: One scheduling cycle in twenty takes more than a second.
        description: The panels of plugins and actions of the dashboard Volcano Scheduler Internal Metrics say which.
  - {alertname: VolcanoSchedulingSlow, eval_time: 70m, exp_alerts: []}
  - {alertname: VolcanoEvictionsMany, eval_time: 5m, exp_alerts: []}
  - alertname: VolcanoEvictionsMany
    eval_time: 30m
    exp_alerts:
    - exp_labels: {severity: warning, action: preempt}
      exp_annotations:
        summary: preempt evicted for more than a hundred groups within ten minutes.
        description: Queues or priorities may be pushing each other out in turns.
  - {alertname: VolcanoEvictionsMany, eval_time: 70m, exp_alerts: []}
  - {alertname: VolcanoQueueStarving, eval_time: 20m, exp_alerts: []}
  - alertname: VolcanoQueueStarving
    eval_time: 35m
    exp_alerts:
    - exp_labels: {severity: warning, queue_name: starved}
      exp_annotations:
        summary: Groups of queue starved have waited for half an hour, and none of it runs.
        description: The conditions of its PodGroups begin with the reason.
  - {alertname: VolcanoQueueStarving, eval_time: 70m, exp_alerts: []}
  - {alertname: VolcanoSchedulerAbsent, eval_time: 60m, exp_alerts: []}
  - alertname: VolcanoSchedulerAbsent
    eval_time: 75m
    exp_alerts:
    - exp_labels: {severity: critical}
      exp_annotations:
        summary: No scheduler has reported for five minutes.
        description: Nothing new is placed. See the pods with the label app=volcano-scheduler and their logs.
  - alertname: VolcanoJobsFailing
    eval_time: 30m
    exp_alerts:
    - exp_labels: {severity: warning, queue_name: ml}
      exp_annotations:
        summary: More than ten jobs of queue ml failed within an hour.
        description: Their names are those of volcano_job_failed_phase_count.
  - {alertname: VolcanoJobsFailing, eval_time: 80m, exp_alerts: []}
YAML
check "each alert is raised by its numbers, and ends with them" promtool test rules "$scratch/alerts.yaml"
kubectl -n volcano-monitoring get configmap prometheus-server-conf -o 'jsonpath={.data.prometheus\.yml}' > "$scratch/installed.yml"
# Debian's build of Prometheus cannot look for targets in Kubernetes, and knows no such field.
syntax() { sed -i '/^ *kubernetes_sd_configs:/d' "$1" && promtool check config --syntax-only "$1" > "$scratch/syntax" 2>&1 || { xargs < "$scratch/syntax"; return 1; }; }
check "promtool takes the rest of the configuration" syntax "$scratch/installed.yml"
cat > "$scratch/prometheus.yml" << YAML
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [$scratch/rules.yaml]
scrape_configs:
- {job_name: programs, static_configs: [{targets: ["127.0.0.1:$((port + 1))", "127.0.0.1:$((port + 2))"]}]}
- {job_name: kube-state-metrics, static_configs: [{targets: ["127.0.0.1:$((port + 3))"]}]}
YAML
run prometheus prometheus --config.file "$scratch/prometheus.yml" --storage.tsdb.path "$scratch/tsdb" --web.listen-address "127.0.0.1:$port"
check "Prometheus is ready" wait_for 30 curl -fs "$server/-/ready"
answers() { # answers QUERY: whether it gives a number
  curl -fs "$server/api/v1/query" --data-urlencode "query=$1" | python3 -c 'import json, sys; sys.exit(all(one["value"][1] == "NaN" for one in json.load(sys.stdin)["data"]["result"]))'
}
for job in programs kube-state-metrics; do check "$job are scraped" wait_for 20 answers "min(up{job=\"$job\"}) == 1"; done

# Work: gangs that run and grow, one that pushes another out, queues in which nothing runs, jobs that fail.
node() { # node NAME
  cat << YAML
---
apiVersion: v1
kind: Node
metadata: {name: $1, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: &have {cpu: "4", memory: 8Gi, pods: "50", nvidia.com/gpu: "2"}, allocatable: *have}
YAML
}
queue() { printf -- '---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: %s}\nspec: {reclaimable: false, capability: %s, deserved: %s}\n' "$1" "$2" "$2"; }
class() { printf -- '---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: %s}\nvalue: %s\n' "$1" "$2"; }
group() { # group NAME QUEUE CLASS PODS REQUESTS: a group that needs one of its pods
  printf -- '---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: %s}\nspec: {minMember: 1, queue: %s, priorityClassName: %s, minResources: %s}\n' "$1" "$2" "$3" "$5"
  for ((i = 1; i <= $4; i++)); do
    cat << YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $1-$i, annotations: {scheduling.k8s.io/group-name: $1, volcano.sh/preemptable: "true"}}
spec: {schedulerName: volcano, priorityClassName: $3, containers: [{name: c, image: i, resources: {requests: $5, limits: $5}}]}
YAML
  done
}
job() { # job NAME: one that finds no place, and fails by hand
  cat << YAML
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $1}
spec:
  minAvailable: 1
  schedulerName: volcano
  queue: default
  tasks: [{name: t, replicas: 1, template: {spec: {restartPolicy: Never, nodeSelector: {none: none}, containers: [{name: c, image: i}]}}}]
YAML
}
want="{cpu: '3', memory: 1Gi, nvidia.com/gpu: '1'}"
{ class low 1; class high 100; queue ml "{cpu: 8, memory: 16Gi, nvidia.com/gpu: 4}"; queue starved "{cpu: 1, memory: 1Gi}"; node n1; } > "$scratch/objects.yaml"
check "queues and a node" wait_for 20 kubectl apply -f "$scratch/objects.yaml"
check "the queue is open" wait_for 30 field_is queue ml .status.state Open
{ group train ml low 2 "$want"; group waits starved low 1 "{cpu: '2', memory: 1Gi}"; } > "$scratch/groups.yaml"
check "groups" wait_for 20 kubectl apply -f "$scratch/groups.yaml"
runs() { kubectl get pods -o wide | grep "$1" | grep -w "$2" > /dev/null; }
check "the first pod is placed" wait_for 30 runs train-[12] n1
seen() { wait_for 20 answers "volcano_e2e_job_scheduling_duration{job_name=\"train\"}"; }
check "and seen" seen
elapse 2 two more scrapes of it
kubectl apply -f <(node n2) > /dev/null
check "the second is placed" wait_for 30 runs train-[12] n2
state 0 > "$scratch/state/metrics"
kubectl apply -f <(group urgent ml high 1 "$want") > /dev/null
check "another pushes it out" wait_for 40 sh -c '[ $(kubectl get pods -o name | grep -c train) -lt 2 ]'
kubectl apply -f <(for i in $(seq 12); do job "broken-$i"; done) > /dev/null
failing() {
  for pod in $(kubectl get pods -l volcano.sh/job-name -o name); do kubectl patch "$pod" --subresource status --type merge -p '{"status": {"phase": "Failed"}}'; done
  [ "$(kubectl get vcjob -o 'jsonpath={.items[*].status.state.phase}' | grep -o Failed | wc -l)" = 12 ]
}
check "twelve jobs fail" wait_for 60 failing

# The panels.
kubectl -n volcano-monitoring get configmap grafana-dashboards -o json > "$scratch/dashboards.json"
python3 - "$scratch/dashboards.json" "$server" > "$scratch/panels" << 'PY' || failed=1
import json, re, sys, time, urllib.error, urllib.parse, urllib.request
path, server = sys.argv[1:]
names = {"queue": "ml", "namespace": "default"}
deadline = time.monotonic() + 60
bad = False


def ask(path, **parameters):
    try:
        with urllib.request.urlopen(f"{server}/api/v1/{path}?{urllib.parse.urlencode(parameters)}") as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        return json.load(error)["error"]


def check(name, holds):
    global bad
    result = holds()
    while result is not True and time.monotonic() < deadline:
        time.sleep(0.5)
        result = holds()
    bad |= result is not True
    print(f"ok stock: {name}" if result is True else f"FAIL stock: {name}: {result}")


def answers(query):
    data = ask("query", query=query)
    if isinstance(data, str):
        return f"{query}: {data}"
    return any(one["value"][1] != "NaN" for one in data["result"]) or f"nothing for {query}"


def lists(query, wanted):
    metric, label = re.fullmatch(r"label_values\((\w+), *(\w+)\)", query).groups()
    data = ask(f"label/{label}/values", **{"match[]": metric})
    return wanted in data or f"{query}: {wanted} is not among {data}"


for file, text in json.load(open(path))["data"].items():
    dashboard = json.loads(text)
    for variable in dashboard["templating"]["list"]:
        check(f"{dashboard['title']}: variable {variable['name']}", lambda: lists(variable["query"], names[variable["name"]]))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            query = re.sub(r"\$(\w+)", lambda found: names[found[1]], target["expr"])
            check(f"{dashboard['title']}: {panel['title']} ({target['refId']})", lambda: answers(query))
sys.exit(bad)
PY
cat "$scratch/panels"
check "all panels were asked" sh -c "[ \$(grep -c '^ok\|^FAIL' '$scratch/panels') -gt 60 ]"

# The alerts, as rules that Prometheus evaluates: pending is enough, as `for` is longer than a test.
raised() { answers "ALERTS{alertname=\"$1\"}"; }
check "a queue in which nothing runs is told" wait_for 20 raised VolcanoQueueStarving
only() { answers 'count(ALERTS{alertname="VolcanoQueueStarving", queue_name="starved"})' && ! answers 'ALERTS{alertname="VolcanoQueueStarving", queue_name="ml"}'; }
check "of that queue, not of one that works" wait_for 20 only
check "more than ten failed jobs are told" wait_for 20 raised VolcanoJobsFailing
check "evictions are counted" wait_for 20 answers 'sum(increase(volcano_eviction_transactions_total[10m])) by (action)'
check "so is the time of cycles" wait_for 20 answers 'histogram_quantile(0.95, sum(rate(volcano_e2e_scheduling_latency_milliseconds_bucket[5m])) by (le))'
quiet() { ! raised VolcanoSchedulerAbsent && ! raised VolcanoSchedulingSlow && ! raised VolcanoEvictionsMany; }
check "nothing else is told" quiet
kill "$scheduler"
check "a scheduler that is gone is told" wait_for 20 raised VolcanoSchedulerAbsent
exit $failed
