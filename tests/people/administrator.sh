#!/usr/bin/env bash
# An administrator of five people does what docs/one-machine.md says, block by block, as written: only paths of the
# machine, its name and systemctl, which a test does not have, are its own.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
guide=$PWD/docs/one-machine.md
PATH=$PWD/build/release/bin:$PATH
data=$scratch/data
work=$scratch/work
port=$(free_port)

# systemd's part: the unit's command, in the background.
systemctl() {
  [ "$1" = enable ] || return 0
  local command
  command=$(sed -n 's/^ExecStart=//p' "$scratch/units/volcano.service")
  (cd / && eval "exec $command --port $port --node-name workstation") >> "$scratch/up.log" 2>&1 &
  cluster=$!
  echo $cluster > "$scratch/cluster.pid"
  wait_for 20 test -s "$data/kubeconfig" && wait_for 20 kubectl --kubeconfig "$data/kubeconfig" get --raw /readyz && wait_for 20 kubectl --kubeconfig "$data/kubeconfig" get node workstation
}
export -f systemctl wait_for
# block SECTION NUMBER: that block of commands of the section, with the test's paths.
block() {
  awk -v s="## $1. " -v n="$2" '/^## /{here=(index($0, s) == 1); k=0} here && /^```/{open=!open; if (open) k++; next} here && open && k==n' "$guide" |
    sed "s|/var/lib/volcano|$data|g; s|/etc/systemd/system|$scratch/units|g; s|https://workstation:6443|https://127.0.0.1:$port|g"
}
# play SECTION NUMBER: the block as root, and its output in $scratch/said.
play() {
  block "$1" "$2" > "$scratch/block"
  [ -s "$scratch/block" ] || { echo "no block $2 in section $1"; return 1; }
  (cd "$work" && export scratch data port && . "$scratch/block") > "$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
}
said() { grep -qE -- "$1" "$scratch/said" || { cat "$scratch/said"; return 1; }; }

a_cluster_from_its_unit() {
  mkdir -p "$scratch/units" "$work"
  expect "section 1" play 1 1
  cluster=$(cat "$scratch/cluster.pid" 2> /dev/null)
  expect "the node in the table" said '^workstation +Ready'
  expect "an audit log that grows" test -s "$data/audit.log"
  export KUBECONFIG=$data/kubeconfig
}
a_team_of_its_own() {
  expect "section 2" play 2 1
  expect "the quota" [ "$(field quota/vision '-n=vision' .spec.hard.pods)" = 50 ]
  expect "the queue to open" wait_for 20 field_is queue vision .status.state Open
}
a_person_with_rights() {
  expect "section 3" play 3 1
  block 3 2 > "$scratch/block"
  (cd "$work" && . "$scratch/block") > "$scratch/said" 2>&1
  expect "her commands to work" [ $? = 0 ]
  expect "her name" said 'Username +jane'
  expect "her right" said '^yes$'
  expect "her quota" said '^requests.cpu +[0-9.m]+ +16$'
  expect "her tools to see what they ask for" env KUBECONFIG="$work/jane.kubeconfig" vcctl queue list
  expect "the page of queues and jobs" env KUBECONFIG="$work/jane.kubeconfig" vcctl top
  expect "her jobs" env KUBECONFIG="$work/jane.kubeconfig" vjobs
  expect "nothing else of the cluster" refused Forbidden env KUBECONFIG="$work/jane.kubeconfig" kubectl get secrets -A
}
an_image_and_a_job() {
  local file
  mkdir -p "$scratch/tree/bin"
  cp /bin/dash "$scratch/tree/bin/sh"
  for file in $(ldd /bin/dash | grep -o '/[^ ]*'); do
    mkdir -p "$scratch/tree$(dirname "$file")"
    cp -L "$file" "$scratch/tree$file"
  done
  tar -C "$scratch/tree" -cf "$work/pytorch.tar" .
  expect "section 4" play 4 1
  expect "the image in the list" said 'pytorch:2.9'
  block 5 1 > "$scratch/block"
  (cd "$work" && KUBECONFIG=jane.kubeconfig && export KUBECONFIG && . "$scratch/block") > "$scratch/said" 2>&1
  expect "her job to be taken" [ $? = 0 ]
  expect "it to complete" wait_for 60 sh -c "kubectl get vcjob train -n vision -o 'jsonpath={.status.state.phase}' | grep -qx Completed"
  expect "what it printed" sh -c "kubectl logs -n vision train-main-0 | grep -qx trained"
  expect "a stranger's job to be kept out of her queue" refused allowed-namespaces vsub -n stranger -q vision -- true
}
a_notebook_of_hers() {
  block 6 1 > "$scratch/block"
  (cd "$work" && KUBECONFIG=jane.kubeconfig && export KUBECONFIG && . "$scratch/block") > "$scratch/said" 2>&1
  expect "her notebook to be made" [ $? = 0 ]
  expect "it in her list" said '^(vision +)?one '
  expect "it in her namespace" kubectl get notebook one -n vision
  expect "its server's pod" wait_for 30 kubectl get pod one-0 -n vision
  # The unit leaves pods running, and this test leaves none.
  kubectl delete notebook one -n vision > /dev/null
  expect "its end" wait_for 60 sh -c "! kubectl get pod one-0 -n vision"
}
a_backup_that_restores() {
  expect "section 7" play 7 1
  expect "a data folder of it" "$volcano" restore --data "$scratch/restored" "$data/backup-1"
  expect "it to be whole" "$volcano" fsck "$scratch/restored"
}

[ $root = 1 ] || { echo "skip administrator: the guide is for root"; exit 0; }
run_tests a_cluster_from_its_unit a_team_of_its_own a_person_with_rights an_image_and_a_job a_notebook_of_hers a_backup_that_restores
exit ${failed:-0}
