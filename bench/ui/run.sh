#!/usr/bin/env bash
# What the page costs browser and server, with many jobs and nodes. Needs Node.js, Chromium and kubectl.
# usage: bench/ui/run.sh [JOBS [NODES]]      default 10000 2000
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export JOBS=${1:-10000} NODES=${2:-2000} 
export CHROMIUM=${CHROMIUM:-/usr/lib/chromium/chromium-headless-shell}
scratch=$(mktemp -d)
touch "$scratch/up.log"
build/release/bin/volcano up --data "$scratch/data" --kubeconfig "$scratch/kubeconfig" --port 0 --components apiserver > "$scratch/up.log" 2>&1 &
server=$!
trap 'kill $server 2> /dev/null; wait $server 2> /dev/null; rm -rf "$scratch"' EXIT
export KUBECONFIG=$scratch/kubeconfig
until grep -q "ui link" "$scratch/up.log"; do kill -0 $server; sleep 0.1; done
python3 bench/ui/objects.py "$JOBS" "$NODES" > "$scratch/objects.json"
server_url=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
python3 bench/ui/fill.py "$server_url" "$scratch/data/keys/token" "$scratch/objects.json"
kubectl get queues -o name | wc -l | sed 's/^/queues                     /'
cpu() { awk '{print ($14 + $15) / 100}' /proc/$server/stat; }
touch "$scratch/open"
node bench/ui/measure.mjs "$(build/release/bin/volcano ui link 2> /dev/null)" "$scratch/open" &
browser=$!
cost() { # cost PAGES GOAL: of the server while so many are open
  local before
  until grep -qx "$1" "$scratch/open"; do kill -0 $browser; sleep 0.2; done
  before=$(cpu)
  sleep 10
  awk -v pages="$1" -v goal="$2" -v a="$before" -v b="$(cpu)" 'BEGIN { printf "server, %2d pages open      %.2f %% of a core   (goal %s)\n", pages, (b - a) * 10, goal }'
}
cost 1 0.5
cost 10 5
wait $browser
bytes() { for file in "$@"; do gzip -9nc "$file"; done | wc -c; }
later=src/ui/bundle/later.js # loaded when a tab of it is opened
echo "bundle                     $(($(bytes src/ui/bundle/*) - $(bytes $later))) bytes compressed   (goal 61440)"
echo "bundle of later tabs       $(bytes $later) bytes compressed"
