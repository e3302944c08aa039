#!/usr/bin/env bash
# Runs one training job from nothing to its printed result: packages, program, image, cluster, job.
# usage: examples/training/run.sh --list | NAME      (also: ./run.sh --example NAME)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# name | image | size of the image | what is shown
table='pytorch|pytorch|1.4 GB|PyTorchJob: a master and two workers, DDP over gloo; the loss falls and is the same on all ranks
pytorch-elastic|pytorch|1.4 GB|elastic PyTorchJob: a worker is added by kubectl scale, one is killed, training goes on
tensorflow|tensorflow|1.7 GB|TFJob: chief, parameter server and workers with tf.distribute
tensorflow-vcjob|tensorflow|1.7 GB|the same as a Volcano job with the plugins svc and env
xgboost|xgboost|400 MB|XGBoostJob: a tracker and three ranks
jax|jax|760 MB|JAXJob: two processes and a collective
paddle|paddle|1.0 GB|PaddleJob: two processes in collective mode
mpi|mpi kubectl|400 MB|MPIJob of v1: the launcher reaches two workers through kubectl exec
mpi-ssh|mpi|360 MB|MPIJob of v2beta1: the launcher reaches two workers through ssh
two-users|busybox|2 MB|two users, two GPUs, and jobs that need both: without gangs neither trains, with gangs one after the other'

list() { echo "$table" | while IFS='|' read -r name image size what; do printf '%-17s %s (image of %s)\n' "$name" "$what" "$size"; done; }
[ "${1:-}" = --list ] && { list; exit; }
row=$(echo "$table" | grep -F -m1 "${1:-none}|" | grep "^${1:-none}|") ||
  { printf 'there is no example "%s"; these are there:\n' "${1:-}" >&2; list >&2; exit 2; }
IFS='|' read -r name image size what <<< "$row"
keep=${KEEP:-0}
. examples/cluster.sh
[ $root = 1 ] || { echo "the training examples need root: their pods have images and a network of their own"; exit 1; }

echo "$what"
[ -s "$images/$image.tar" ] || echo "The image takes $size on the disk once, and some minutes to build."
build_program examples
say "image"
examples/images/build $images busybox $image || exit 1
built=$(date +%s)
open_scratch
say "volcano up"
import_image docker.io/library/alpine:3.10 busybox
for one in $image; do
  case $one in
    kubectl) import_image docker.io/kubeflow/kubectl-delivery:latest kubectl ;;
    *) import_image "docker.io/example/$one:1" "$one" ;;
  esac
done
case $name in mpi-ssh) flags=(--mpi-job-version v2beta1) ;; *) flags=() ;; esac
start_cluster "${flags[@]}"
[ "$name" = two-users ] && { . examples/training/two-users.sh; exit; }

manifest=examples/training/manifests/$name.yaml
job=$(sed -n 's/^kind: //p' "$manifest" | tr '[:upper:]' '[:lower:]')/$(sed -n '/^metadata:/,/^spec:/s/^  name: //p' "$manifest")
[ "${job%%/*}" = job ] && job=vcjob/${job#*/}
short=${job#*/}
ended() { # of a Volcano job its phase, of the others their last condition
  case $job in
    vcjob/*) kubectl get "$job" -o 'jsonpath={.status.state.phase}' | grep -qE 'Completed|Failed|Aborted|Terminated' ;;
    *) kubectl get "$job" -o 'jsonpath={.status.conditions[-1:].type}' | grep -qE 'Succeeded|Failed' ;;
  esac
}
logs() { kubectl logs "$@" 2> /dev/null; }
says() { logs "$1" | grep -E "$2" > /dev/null; }

say "$name"
show kubectl apply -f "$manifest" || give_up "the job was refused"
case $name in
  pytorch-elastic)
    until_true 120 "two workers at work" says "$short-worker-0" 'with 2 workers'
    show kubectl scale "$job" --replicas=3
    until_true 180 "three workers at work" sh -c "for i in 0 1 2; do kubectl logs $short-worker-\$i; done 2> /dev/null | grep 'with 3 workers'"
    show kubectl get pods
    show kubectl delete pod "$short-worker-2" --grace-period=0 --force
    ;;
esac
crashed() { kubectl get pods -o 'jsonpath={.items[*].status.containerStatuses[*].restartCount}' | grep -E '\b[3-9]' > /dev/null; }
until ended; do
  crashed && { for pod in $(kubectl get pods -o name); do echo "$pod"; kubectl logs "$pod" --previous 2> /dev/null | tail -15; done; give_up "a replica fails again and again"; }
  [ $(($(date +%s) - built)) -ge 600 ] && give_up "the job did not end within ten minutes"
  sleep 1
done
show kubectl get "$job"
show kubectl get pods
for pod in $(kubectl get pods -o name | sort); do
  case $pod in *-ps-*) continue ;; esac
  printf '\033[2m%s\033[0m\n' "$pod"
  logs "$pod" | grep -vE '^\s*$|WARNING|Warning|warn' | tail -8
done
result=$(case $job in
  vcjob/*) kubectl get "$job" -o 'jsonpath={.status.state.phase}' ;;
  *) kubectl get "$job" -o 'jsonpath={.status.conditions[-1:].type}' ;;
esac)
echo
echo "$job: $result; $(($(date +%s) - built)) s after the build and the image"
case $result in Succeeded | Completed) ;; *) give_up "the job did not succeed" ;; esac
