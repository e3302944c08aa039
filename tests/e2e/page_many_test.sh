#!/usr/bin/env bash
# The web page with 10,000 jobs and 2,000 nodes of a cluster without controllers. Needs Node.js 18 with npm, and Chromium or (BROWSER=firefox) Firefox.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/page/lib.sh
need_browser "page with many jobs"
jobs=10000
start_cluster --components apiserver
for path in usage waiting colocation config; do
  kubectl get --raw /debug/$path > "$scratch/answer" 2>&1 || grep -q "not found" "$scratch/answer" || { cat "$scratch/answer"; echo "FAIL page with many jobs: /debug/$path without its component"; }
done
python3 bench/ui/objects.py $jobs 2000 > "$scratch/objects.json"
python3 bench/ui/fill.py "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')" "$scratch/data/keys/token" "$scratch/objects.json" || { echo "FAIL page with many jobs: they were not created"; exit 1; }
node tests/page/many_test.mjs "$("$volcano" ui link 2> /dev/null)" $jobs
stop_cluster
rm -rf "$scratch"
