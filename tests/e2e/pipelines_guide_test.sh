#!/usr/bin/env bash
# docs/pipelines.md as a reader follows it: its files and commands as written, in both versions of the SDK, to the numbers that the steps print.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
[ $root = 1 ] || { echo "skip pipelines_guide: containers need root"; exit 0; }
guide=$PWD/docs/pipelines.md
PATH=$PWD/build/release/bin:$PATH

# block HEADING LANGUAGE NUMBER: that block of code under the heading.
block() { awk -v h="## $1" -v l="$2" -v n="$3" '/^## /{here=($0==h)} here && /^```/{if (!in_code) {in_code=1; count+=($0=="```" l); mine=($0=="```" l && count==n); next} in_code=0; mine=0; next} here && mine' "$guide"; }
# sdk FOLDER PACKAGES...: a Python with these packages; false where they cannot be had.
sdk() {
  local folder=$1
  shift
  "$folder/bin/python" -c 'import kfp' 2> /dev/null || { python3 -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check "$@"; } > "$scratch/pip.log" 2>&1
}
# A block of Python with the addresses of this cluster.
python_block() {
  local server
  server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
  block "$@" | sed "s|https://127.0.0.1:6443|$server|; s|/home/me/.local/share/volcano|$scratch/data|; s|=TOKEN|=\"$(cat "$scratch/data/keys/token")\"|"
}
# play FOLDER FILE: the commands of a file, those of pip apart, with the programs of that Python; RUN stands for the run of the guide.
play() {
  local run
  while read -r line; do
    [[ $line = pip* || -z $line ]] && continue
    run=$(kubectl get pipelineruns -o 'jsonpath={.items[0].metadata.name}' 2> /dev/null)
    echo "\$ $line"
    (cd "$scratch" && PATH=$1/bin:$PATH bash -c "${line//train-x7k2p/$run}") < /dev/null || { echo "it failed: $line"; return 1; }
  done < "$2"
}

the_four_steps_in_version_2() {
  sdk "$sdk2" kfp==2.17.3 kfp-kubernetes==2.17.3 || { skipped="pip cannot install kfp"; return; }
  block "From a file to a run" "" 1 > "$scratch/commands"
  expect "commands" [ "$(grep -c '^volcano pipeline' "$scratch/commands")" = 6 ]
  local code=0
  play "$sdk2" "$scratch/commands" > "$scratch/out" 2>&1 || code=$?
  expect "them to work: $(tail -2 "$scratch/out" | tr '\n' ' ')" [ $code = 0 ]
  expect "what the last step prints" grep -qE 'slope 3.*result 31.0' "$scratch/out"
  expect "the graph of the run" grep -qE '^show +SUCCEEDED' "$scratch/out"
  python_block "From Python" python 1 > "$scratch/client.py"
  (cd "$scratch" && HOME=$scratch "$sdk2/bin/python" client.py) > "$scratch/out" 2>&1
  expect "the client's run: $(tail -1 "$scratch/out")" grep -qx SUCCEEDED "$scratch/out"
}
both_succeeded() { [ "$(kubectl get workflows -o 'jsonpath={.items[*].status.phase}')" = "Succeeded Succeeded" ]; }
the_four_steps_in_version_1() {
  sdk "$sdk1" kfp==1.8.22 || { skipped="pip cannot install kfp 1.8"; return; }
  block "Version 1" python 1 > "$scratch/train_v1.py"
  block "Version 1" "" 1 > "$scratch/commands"
  expect "commands" [ "$(grep -cE '^(kubectl|volcano|dsl-compile)' "$scratch/commands")" = 4 ]
  local code=0
  play "$sdk1" "$scratch/commands" > "$scratch/out" 2>&1 || code=$?
  expect "them to work: $(tail -2 "$scratch/out" | tr '\n' ' ')" [ $code = 0 ]
  expect "the graph" grep -qE '^print +step +predict, train' "$scratch/out"
  python_block "Version 1" python 2 > "$scratch/client.py"
  (cd "$scratch" && HOME=$scratch "$sdk1/bin/python" client.py) > "$scratch/out" 2>&1
  expect "the client's run: $(tail -1 "$scratch/out")" grep -qx Succeeded "$scratch/out"
  expect "both runs to succeed" wait_for 60 both_succeeded
  expect "what the last step prints" [ "$(kubectl logs -l workflows.argoproj.io/workflow --tail=-1 | grep -c '^slope 3.00 result 31.0$')" = 2 ]
}

sdk2=${KFP_CLIENTS:-$PWD/build/kfp-clients} sdk1=${KFP1_CLIENTS:-$PWD/build/kfp1-clients}
start_cluster --node-name n1 --host-rootfs --runtime runc || { echo "FAIL pipelines_guide: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
block "Four steps" python 1 > "$scratch/steps.py"
block "Four steps" python 2 > "$scratch/train.py"
run_tests the_four_steps_in_version_2 the_four_steps_in_version_1
exit "${failed:-0}"
