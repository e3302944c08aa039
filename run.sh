#!/usr/bin/env bash
# Builds volcano, starts a cluster on this machine in a scratch folder, and runs the main job and an MPI job to their end.
# usage: ./run.sh [--keep]      --keep leaves the cluster's files for a look
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
keep=0
[ "${1:-}" = --keep ] && keep=1
root=0
[ "$(id -u)" = 0 ] && root=1
images=build/images
started=$(date +%s)

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
show() { printf '\033[2m$ %s\033[0m\n' "$*"; "$@"; }

cat <<'TEXT'
This installs the Debian packages that are missing (compilers, libraries, runc, conmon; about 700 MB at the most), builds the program (about
15 minutes on two cores and 500 MB the first time), and with root builds two small images from Debian packages (two minutes and 600 MB the first time).
Then it starts a cluster on a free port of 127.0.0.1 in a scratch folder and runs two jobs, which takes less than a minute.
Your own kubeconfig is not touched.
TEXT

say "packages"
tools/install-packages build run || exit 1
say "build"
mkdir -p build
tools/build release build/run-build.log volcano ||
  { grep -E 'error|FAILED' build/run-build.log | head; echo "the build failed; see build/run-build.log"; exit 1; }
volcano=$PWD/build/release/bin/volcano
if [ $root = 1 ]; then
  say "images"
  examples/images/build $images nginx mpi || exit 1
fi

built=$(date +%s)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-run.XXXXXX")
export KUBECONFIG=$scratch/kubeconfig
cluster=""
finish() {
  local code=$?
  trap - EXIT INT TERM
  if [ -n "$cluster" ]; then
    kill "$cluster" 2> /dev/null
    wait "$cluster" 2> /dev/null
  fi
  if [ $code = 0 ] && [ $keep = 0 ]; then
    rm -rf "$scratch"
  else
    echo "the scratch folder is kept: $scratch (the program's output: $scratch/up.log)"
  fi
  exit $code
}
trap finish EXIT INT TERM
give_up() { echo; echo "run.sh: $*"; [ -s "$scratch/up.log" ] && tail -20 "$scratch/up.log"; exit 1; }

# until_true SECONDS WHAT COMMAND...: waits for a command to succeed.
until_true() {
  local limit=$1 what=$2 end
  shift 2
  end=$(($(date +%s) + limit))
  until "$@" > /dev/null 2>&1; do
    [ "$(date +%s)" -ge $end ] && give_up "$what did not happen within $limit s"
    kill -0 "$cluster" 2> /dev/null || give_up "the cluster has ended"
    sleep 0.2
  done
}
phase_is() { [ "$(kubectl get vcjob "$1" -o 'jsonpath={.status.state.phase}')" = "$2" ]; }

say "volcano up"
flags="--data $scratch/data --kubeconfig $KUBECONFIG --port 0"
if [ $root = 1 ]; then
  show $volcano image import --data "$scratch/data" nginx:latest $images/nginx.tar || give_up "the image nginx could not be imported"
  show $volcano image import --data "$scratch/data" registry.example/volcanosh/example-mpi:0.0.1 $images/mpi.tar || give_up "the image of the MPI job could not be imported"
else
  echo "(without root, pods are plain processes that see this machine's files: --host-rootfs)"
  flags+=" --host-rootfs"
fi
$volcano up $flags > "$scratch/up.log" 2>&1 &
cluster=$!
until_true 20 "the start of the cluster" kubectl get --raw /readyz
cat "$scratch/up.log"
until_true 20 "a ready node" sh -c 'kubectl get nodes | grep -qw Ready'
show kubectl get nodes

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
