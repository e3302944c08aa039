#!/usr/bin/env bash
# docs/notebooks.md, played as it is written, with a real JupyterLab and TensorBoard in a real browser; prints how long the first page
# takes. Needs root, runc, Node.js with npm, Chromium, and the registries of apt and pip. usage: bench/notebooks/run.sh [FOLDER-OF-IMAGES]
# PICTURES=docs/pictures makes the page's pictures anew.
images=${1:-$PWD/build/images}
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/lib.sh"
. tests/page/lib.sh
export DATA=$scratch/data
PATH=$PWD/build/release/bin:$PATH
repository=$PWD
work=$scratch/work
mkdir -p "$work" "$images"
ln -s "$repository/examples" "$work/examples"
ln -s "$(realpath "$images")" "$work/images"
# play HEADING: the first block under it, and its output in $scratch/said.
play() {
  awk -v h="## $1" '/^## /{here=(index($0, h) == 1)} here && /^```/{n++; next} here && n==1' "$repository/docs/notebooks.md" > "$scratch/block"
  [ -s "$scratch/block" ] || { echo "no block under $1"; return 1; }
  (cd "$work" && . "$scratch/block") > "$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
}
said() { grep -qE -- "$1" "$scratch/said" || { cat "$scratch/said"; return 1; }; }
link() { "$volcano" ui link 2> /dev/null; }

images_are_there() {
  expect "section 1" play 1.
}
a_notebook_is_created_and_opened() {
  local begin end
  begin=$(date +%s%N)
  expect "section 2" play 2.
  end=$(date +%s%N)
  echo "   ready after $(((end - begin) / 1000000)) ms"
  expect "a link" said '^https://.*&to=%2Fnotebook%2Fdefault%2Fone%2F$'
  expect "to be told that it is ready" said 'one: ready$'
  expect "section 3" play 3.
  expect "its state in the list" said 'one +ready'
  PICTURE=$PWD/build/page/jupyter.png expect "JupyterLab in a browser" node bench/notebooks/jupyter_test.mjs "$(link)" /notebook/default/one/
  cat "$scratch/expect.out"
}
a_run_is_shown_by_tensorboard() {
  expect "section 4" play 4.
  expect "section 5" play 5.
  expect "to be told that it is ready" said 'curves: ready$'
  expect "the curve in a browser" node bench/notebooks/tensorboard_test.mjs "$(link)" /tensorboard/default/curves/
}
pictures_are_made() {
  [ -n "${PICTURES:-}" ] || { skipped="PICTURES names no folder"; return; }
  expect "the pictures of the page" node bench/notebooks/pictures.mjs "$(link)" "$PICTURES"
}
a_viewer_shows_the_files_of_a_volume() {
  kubectl apply -f - > /dev/null <<YAML
apiVersion: kubeflow.org/v1alpha1
kind: PVCViewer
metadata: {name: one-workspace, namespace: default}
spec: {pvc: one-workspace, rwoScheduling: true, networking: {targetPort: 8080, basePrefix: /pvcviewers, rewrite: /pvcviewers/default/one-workspace/}}
YAML
  expect "the file of the cell in a browser" python3 - "$repository/tests/e2e" "$(link)" <<'PYTHON'
import sys, time
sys.path.insert(0, sys.argv[1])
from notebook_browser import Browser
person, end = Browser(), time.monotonic() + 60
seen = person.visit(sys.argv[2] + "&to=/pvcviewers/default/one-workspace/")
while "written.txt" not in seen.text and time.monotonic() < end:
    time.sleep(0.5)
    seen = person.visit(sys.argv[2].split("/ui/")[0] + "/pvcviewers/default/one-workspace/")
assert "written.txt" in seen.text, seen.text[:400]
assert person.request(seen.url + "written.txt").read() == b"kept"
PYTHON
  kubectl delete pvcviewer one-workspace > /dev/null
}
files_outlive_a_stop() {
  expect "stop and start" sh -c "volcano notebook stop one && kubectl wait --for=delete pod/one-0 --timeout=60s && volcano notebook start one"
  expect "the file of the cell" [ "$(kubectl exec one-0 -- cat written.txt)" = kept ]
  expect "section 6" play 6.
  expect "the volume to stay" kubectl get pvc one-workspace
}

if [ $root = 0 ]; then
  echo "skip notebooks: containers need root"
  exit 0
fi
page_packages
start_cluster --node-name n1
run_tests images_are_there a_notebook_is_created_and_opened a_run_is_shown_by_tensorboard pictures_are_made a_viewer_shows_the_files_of_a_volume files_outlive_a_stop
exit "${failed:-0}"
