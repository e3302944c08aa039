#!/usr/bin/env bash
# The pages of pipelines with a real browser and real runs. Needs Node.js 18 with npm, and Chromium.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
page=src/ui/page
export CHROMIUM=${CHROMIUM:-/usr/lib/chromium/chromium-headless-shell}
for need in node npm "$CHROMIUM"; do
  command -v "$need" > /dev/null || { echo "skip page: $need is not installed"; exit 0; }
done
[ $root = 1 ] || { echo "skip page: containers need root"; exit 0; }
(cd $page && npm ls --silent > /dev/null 2>&1) || (cd $page && npm ci --no-audit --no-fund --silent) || { echo "FAIL page: npm ci failed"; exit 1; }
mkdir -p build/page
start_cluster --node-name n1 --host-rootfs --runtime runc
node tests/page/pipelines_test.mjs "$("$volcano" ui link 2> /dev/null)" build/page tests/pipelines/compiled/hello.yaml tests/pipelines/compiled/evidence.yaml tests/pipelines/workflows/train_predict.yaml
stop_cluster
rm -rf "$scratch"
