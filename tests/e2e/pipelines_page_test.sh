#!/usr/bin/env bash
# The pages of pipelines with a real browser and real runs. Needs Node.js 18 with npm, and Chromium or (BROWSER=firefox) Firefox.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/page/lib.sh
need_browser page
[ $root = 1 ] || { echo "skip page: containers need root"; exit 0; }
pictures=build/page
[ "$BROWSER" = firefox ] && pictures+=/firefox
mkdir -p $pictures
start_cluster --node-name n1 --host-rootfs --runtime runc
node tests/page/pipelines_test.mjs "$("$volcano" ui link 2> /dev/null)" $pictures tests/pipelines/compiled/hello.yaml tests/pipelines/compiled/evidence.yaml tests/pipelines/workflows/train_predict.yaml
stop_cluster
rm -rf "$scratch"
