#!/usr/bin/env bash
# Three readers do what README and docs say, as written, at a terminal of 80 columns: a data scientist with one
# workstation, an administrator of five people, an operator of a cluster. What they see is compared.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
repository=$PWD
PATH=$PWD/build/release/bin:$PATH
seen() { python3 "$repository/tests/people/seen.py" "$@"; }

# block FILE HEADING: the commands of the first block under that heading.
block() { awk -v h="$2" '/^## /{here=($0==h)} here && /^```/{n++; next} here && n==1' "$repository/$1"; }
# Account of the data scientist: nobody's, with a home of its own.
jane() {
  (cd "$home/work" && HOME=$home USER=jane KUBECONFIG=$home/kubeconfig setpriv --reuid 4242 --regid 4242 --clear-groups "$@")
}
make_home() {
  home=$scratch/jane
  chmod 755 "$scratch"
  mkdir -p "$home/work"
  cp "$KUBECONFIG" "$home/kubeconfig"
  chown -R 4242:4242 "$home"
}
owner_of() { stat -c %u "$1"; }

results_stay() {
  make_home
  expect "a run that shows its output" sh -c "cd '$home/work' && true"
  jane vsub -n hi --wait -- sh -c 'echo hi; echo result > result.txt; exit 3' > "$scratch/hi" 2>&1
  expect "its exit code" [ $? = 3 ]
  expect "its output" grep -qx hi "$scratch/hi"
  expect "where the output is, said" grep -qF "$home/work/hi-0.out" "$scratch/hi"
  expect "the file of the run" [ "$(cat "$home/work/result.txt")" = result ]
  expect "the file of the output" [ "$(cat "$home/work/hi-0.out")" = hi ]
  expect "Jane to own them" [ "$(owner_of "$home/work/result.txt") $(owner_of "$home/work/hi-0.out")" = "4242 4242" ]
}
folders_of_others_are_not_mounted() {
  mkdir -m 700 "$scratch/private"
  ln -s "$scratch/private" "$home/work/link"
  expect "no folder of root" refused "Permission denied" jane vsub -n no -V "$scratch/private:/p" -- true
  expect "nor by a link" refused "Permission denied" jane vsub -n no -V link:/p -- true
  expect "nor to write into what may be read" refused "Permission denied" jane vsub -n no -V /etc:/p -- true
  expect "to read it" jane vsub -n yes -V /etc:/p:ro --wait -- test -e /p/passwd
  jane vsub -n root --wait -- sh -c "id -u; touch /etc/volcano-was-here" > "$scratch/root" 2>&1
  expect "a failure" [ $? != 0 ]
  expect "to be nobody else" grep -qx 4242 "$scratch/root"
}
the_readme_of_runs() {
  kubectl delete vcjob --all > /dev/null
  rm -rf "$home/work"/*
  block README.md "## Runs" > "$scratch/runs"
  expect "there to be commands" [ "$(grep -c '^vsub' "$scratch/runs")" -ge 4 ]
  jane bash -euo pipefail "$scratch/runs" > "$scratch/runs.out" 2>&1
  expect "them to work" [ $? = 0 ]
  expect "all to complete" jane vcctl job wait hi train sweep report --timeout 90s
  expect "eight outputs" [ "$(cat "$home"/work/sweep-*.out | sort | tr '\n' ,)" = "run 1,run 2,run 3,run 4,run 5,run 6,run 7,run 8," ]
  expect "the report of what came before" [ "$(cat "$home/work/report-0.out")" = trained ]
  seen env KUBECONFIG="$KUBECONFIG" vjobs > "$scratch/vjobs"
  expect "a table that fits" [ $? = 0 ]
  expect "the array as one line" grep -Eq '^sweep +default +Completed +8/8 ' "$scratch/vjobs"
}
scripts_bring_flags() {
  printf '%s\n' '#!/bin/bash' '#VSUB --time 10m' '#VSUB -e WORD=seven' 'echo $WORD $(basename $PWD) $1' > "$home/work/say.sh"
  expect "a script" jane vsub --wait say.sh word
  expect "its output" [ "$(cat "$home/work/say-0.out")" = "seven work word" ]
}
tables_fit() {
  for n in 2 10; do jane vsub -n "lr-$n" -R cpu=100m -- sleep 300 > /dev/null; done
  jane vsub -n a-rather-long-name-of-a-job-that-asks -R cpu=900 -- true > /dev/null
  expect "lr-10 to run" wait_for 30 sh -c "COLUMNS=80 vjobs | grep -q '^lr-10 .*Running'"
  for tool in vjobs "vcctl job list" vqueues "vcctl queue list"; do
    WANT_COLOURS=$([[ $tool = *job* ]] && echo 1) seen $tool > "$scratch/table"
    expect "$tool in 80 columns" [ $? = 0 ]
  done
  seen vjobs > "$scratch/table"
  expect "natural order" [ "$(grep -o '^lr-[0-9]*' "$scratch/table" | tr '\n' ' ')" = "lr-2 lr-10 " ]
  expect "the node of what runs" grep -Eq "^lr-2 +default +Running +1/1 +[0-9]+s +n1$" "$scratch/table"
  expect "a reason" grep -Eq "^a-rather-long.* Pending +0/1 .*[a-z]{3}" "$scratch/table"
  expect "no counts of gangs" sh -c "! grep -q 'tasks in gang' '$scratch/table'"
  expect "states" [ "$(vjobs -s running -o table | awk 'NR > 1 {print $1}' | tr '\n' ' ')" = "lr-2 lr-10 " ]
  expect "users" [ "$(vjobs -u nobody-of-that-name -o table)" = "No resources found" ]
  expect "queues" [ "$(vjobs -q none -o table)" = "No resources found" ]
  expect "agreement" [ "$(vqueues -o table)" = "$(vcctl queue list -o table)" ]
  seen --for 3 vcctl top > "$scratch/top"
  expect "top in 80 columns" [ $? = 0 ]
  expect "what runs in it" grep -q '^default/lr-2 ' "$scratch/top"
  expect "what waits in it" grep -q '^default/a-rather' "$scratch/top"
}
no_word_is_dropped() {
  expect "two jobs to go" vcancel -n lr-2 -n lr-10
  expect "both gone" vcctl job wait lr-2 lr-10 --for deleted --timeout 60s
  expect "an unknown word" refused 'unexpected argument "extra"' vcctl job list extra
  expect "two values of one flag" refused "given twice" vqueues -n a -n b
  expect "the worst of two" refused "not found" vcctl job wait hi none
  expect "a message that reads" refused "cannot show the logs of job none: " vcctl job logs none
  expect "help of a command" sh -c "volcano help up | grep -q -- --host-rootfs"
}
a_stop_ends_nothing_for_good() {
  jane vsub -n long -R cpu=100m -- sh -c 'echo begin >> begins; sleep 300' > /dev/null
  jane vsub -n once -R cpu=100m --no-requeue -- sleep 300 > /dev/null
  expect "two runs" vcctl job wait long once --for running --timeout 60s
  expect "one begin" wait_for 20 test -s "$home/work/begins"
  stop_cluster
  expect "what ends, said" grep -q "start.* again with the next .volcano up." "$scratch/up.log"
  start_cluster --node-name n1 --host-rootfs
  expect "it to run again" wait_for 60 sh -c "[ \$(wc -l < '$home/work/begins') = 2 ]"
  expect "it without a retry" [ "$(field vcjob/long '' .status.retryCount)" = "" ]
  expect "the other to have failed" wait_for 30 sh -c "kubectl get vcjob once -o 'jsonpath={.status.state.phase}' | grep -qx Failed"
  kill_cluster
  start_cluster --node-name n1 --host-rootfs
  vcancel long > /dev/null
  expect "a failed job to run again" vresume -n once
  expect "it to run" wait_for 60 phase_is once Running
  vcancel once > /dev/null
}
it_is_installed() {
  expect "installing" volcano install --prefix "$scratch/opt"
  for file in bin/vsub bin/vc-scheduler share/man/man1/vsub.1 share/bash-completion/completions/vjobs lib/systemd/system/volcano.service; do
    expect "$file" test -e "$scratch/opt/$file"
  done
  expect "the unit to run what was installed" grep -qF "ExecStart=\"$scratch/opt/bin/volcano\" up" "$scratch/opt/lib/systemd/system/volcano.service"
  expect "a link to work" sh -c "'$scratch/opt/bin/vsub' --help | grep -q -- --array"
  if command -v dpkg-deb > /dev/null; then
    expect "a Debian package" deploy/debian "$scratch/deb"
    expect "its unit" sh -c "dpkg-deb -c '$scratch'/deb/volcano_*.deb | grep -q ./usr/lib/systemd/system/volcano.service"
  fi
}

[ $root = 1 ] || { echo "skip people: accounts of others need root"; exit 0; }
start_cluster --node-name n1 --host-rootfs
grep -q 'pods are containers' "$scratch/up.log" || { echo "skip people: pods are not containers here"; exit 0; }
run_tests results_stay folders_of_others_are_not_mounted the_readme_of_runs scripts_bring_flags tables_fit no_word_is_dropped a_stop_ends_nothing_for_good it_is_installed
exit ${failed:-0}
