#!/usr/bin/env bash
# The web page: `volcano up` and `volcano ui` with a real browser (tests/page). Needs Node.js 18 with npm, and Chromium or (BROWSER=firefox) Firefox.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/page/lib.sh
page=src/ui/page
need_browser page
tools/ui --check | grep -E '^(ok|FAIL)'
(cd $page && npm test --silent > "$scratch/pure.log" 2>&1) && echo "ok page: its pure parts" || { grep -A8 '^not ok' "$scratch/pure.log"; echo "FAIL page: its pure parts"; }

start_cluster --runtime process --host-rootfs
cpus=$(nproc)
kubectl apply -f - > /dev/null << YAML
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: waits}
spec:
  minAvailable: 1
  tasks: [{name: main, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: [sleep, "1"], resources: {requests: {cpu: "$((cpus * 4))"}}}]}}}]
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: hostile}
spec:
  minAvailable: 1
  tasks: [{name: main, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: [sh, -c, "printf '<img src=x onerror=alert(1)>\\\\n\\\\342\\\\200\\\\256back\\\\n\\\\033[31mred\\\\n'; sleep 300"]}]}}}]
YAML
kubectl create role reader --verb=get,list,watch --resource=jobs.batch.volcano.sh > /dev/null
kubectl create rolebinding ann --role=reader --user=ann > /dev/null
link=$("$volcano" ui link 2> /dev/null)
grep -q login "$scratch/up.log" && echo "FAIL page: a log has a link" || echo "ok page: a log has no link"
pictures=build/page
[ "$BROWSER" = firefox ] && pictures+=/firefox
node tests/page/page_test.mjs "$link" $pictures "$volcano"

# The same page on loopback, by plain HTTP: watches are WebSockets there.
"$volcano" ui --port 0 > "$scratch/ui.log" 2>&1 &
served=$!
wait_for 10 grep -q login "$scratch/ui.log"
node tests/page/loopback_test.mjs "$(sed -n 's/^  \(http:.*login.*\)$/\1/p' "$scratch/ui.log")"
kill $served
wait $served 2> /dev/null
stop_cluster
rm -rf "$scratch"
