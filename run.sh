#!/usr/bin/env bash
# Builds volcano, starts a cluster on this machine in a scratch folder, and runs the main job and an MPI job to their end.
# usage: ./run.sh [--keep]      --keep leaves the cluster's files for a look
#        ./run.sh [--keep] --example pytorch|tensorflow|...      a training job instead, from nothing to its result; ./run.sh --list names them
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
keep=0
started=$(date +%s)
while [ $# -gt 0 ]; do
  case $1 in
    --keep) keep=1; shift ;;
    --list) exec examples/training/run.sh --list ;;
    --example) KEEP=$keep exec examples/training/run.sh "${@:2}" ;;
    *) sed -n '3,4p' "$0" >&2; exit 2 ;;
  esac
done
. examples/cluster.sh

cat <<'TEXT'
This installs the Debian packages that are missing (compilers, libraries, runc, conmon; about 700 MB at the most), builds the program (about
15 minutes on two cores and 500 MB the first time), and with root builds two small images from Debian packages (two minutes and 600 MB the first time).
Then it starts a cluster on a free port of 127.0.0.1 in a scratch folder and runs two jobs, which takes less than a minute.
Your own kubeconfig is not touched.
TEXT

build_program
if [ $root = 1 ]; then
  say "images"
  examples/images/build $images nginx mpi || exit 1
fi

built=$(date +%s)
open_scratch
phase_is() { [ "$(kubectl get vcjob "$1" -o 'jsonpath={.status.state.phase}')" = "$2" ]; }

say "volcano up"
flags=()
if [ $root = 1 ]; then
  import_image nginx:latest nginx
  import_image registry.example/volcanosh/example-mpi:0.0.1 mpi
else
  echo "(without root, pods are plain processes that see this machine's files: --host-rootfs)"
  flags+=(--host-rootfs)
fi
start_cluster "${flags[@]}"

say "queue test"
show kubectl apply -f examples/manifests/queue-test.yaml || give_up "the queue was refused"
until_true 10 "the queue to be open" sh -c '[ "$(kubectl get queue test -o "jsonpath={.status.state}")" = Open ]'
show kubectl get queue

say "job-1 (its sleep cut from 10m to 5s)"
sed 's/- 10m$/- 5s/' examples/manifests/job-1.yaml > "$scratch/job-1.yaml"
show kubectl apply -f "$scratch/job-1.yaml" || give_up "the job was refused"
until_true 30 "job-1 to run" phase_is job-1 Running
show kubectl get vcjob,podgroup,pod -o wide
show kubectl get queue test -o 'jsonpath={.status}'
echo
until_true 30 "job-1 to complete" phase_is job-1 Completed
show kubectl get vcjob
show kubectl get pod -o wide
show kubectl describe vcjob job-1 | sed -n '/^Status:/,$p'
[ "$(kubectl get vcjob job-1 -o 'jsonpath={.status.succeeded} {.status.version}')" = "1 3" ] || give_up "job-1 does not show one succeeded pod and version 3"

mpi="skipped: pods need root for a network of their own"
if [ $root = 1 ]; then
  say "MPI (requests cut to 100m)"
  sed -E 's/cpu: "(500m|1000m)"/cpu: "100m"/' examples/manifests/mpi.yaml > "$scratch/mpi.yaml"
  show kubectl apply -f "$scratch/mpi.yaml" || give_up "the MPI job was refused"
  until_true 30 "the MPI job to run" sh -c 'kubectl get vcjob lm-mpi-job -o "jsonpath={.status.state.phase}" | grep -qE "Running|Complet"'
  show kubectl get podgroup,pod -o wide
  until_true 60 "the MPI job to complete" phase_is lm-mpi-job Completed
  show kubectl logs lm-mpi-job-mpimaster-0 | tee "$scratch/mpi.out"
  show kubectl get vcjob
  [ "$(grep -c 'Hello world from processor' "$scratch/mpi.out")" = 3 ] || give_up "the MPI job did not print three ranks"
  mpi="completed, three ranks on three pods"
else
  echo
  echo "skipping the MPI job lm-mpi-job: without root, pods cannot have a network of their own"
fi

say "summary"
echo "job-1       completed: $(kubectl get vcjob job-1 -o 'jsonpath={.status.runningDuration}') from creation to the last pass"
echo "lm-mpi-job  $mpi"
echo "$(($(date +%s) - built)) s after the build and the images; $(($(date +%s) - started)) s in all"
