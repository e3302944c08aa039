# What the examples share: a cluster in a scratch folder, shown commands, waits that say what did not happen.
# Sourced from the project's root by run.sh and examples/training/run.sh, which set keep=0 or 1.
root=0
[ "$(id -u)" = 0 ] && root=1
images=build/images
say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
show() { printf '\033[2m$ %s\033[0m\n' "$*"; "$@"; }

build_program() { # build_program PURPOSE...: the packages of these purposes, and the program
  say "packages"
  tools/install-packages build run "$@" || exit 1
  say "build"
  mkdir -p build
  tools/build release build/run-build.log volcano ||
    { grep -E 'error|FAILED' build/run-build.log | head; echo "the build failed; see build/run-build.log"; exit 1; }
  volcano=$PWD/build/release/bin/volcano
}

open_scratch() {
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-run.XXXXXX")
  export KUBECONFIG=$scratch/kubeconfig
  cluster=""
  trap finish EXIT INT TERM
}
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
import_image() { # import_image NAME FILE: as an image of the cluster that is to start
  show $volcano image import --data "$scratch/data" "$1" "$images/$2.tar" || give_up "the image $1 could not be imported"
}
start_cluster() { # start_cluster [FLAG...]
  $volcano up --data "$scratch/data" --kubeconfig "$KUBECONFIG" --port 0 "$@" > "$scratch/up.log" 2>&1 &
  cluster=$!
  until_true 20 "the start of the cluster" kubectl get --raw /readyz
  cat "$scratch/up.log"
  until_true 20 "a ready node" sh -c 'kubectl get nodes | grep -qw Ready'
  show kubectl get nodes
}
