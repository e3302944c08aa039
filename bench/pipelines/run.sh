#!/usr/bin/env bash
# Pipelines on this machine: how soon a step starts after the one it waits for, and what a step of 1,000 parallel ones costs: time of the controllers'
# thread, writes, memory. Prints a figure a line. Root and runc. usage: bench/pipelines/run.sh [STEPS [CHAIN]]     (default 1000 steps, a chain of 20)
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/lib.sh"
[ $root = 1 ] && command -v runc > /dev/null || { echo "skip pipelines: containers need root and runc"; exit 0; }
start_cluster --node-name n1 --host-rootfs --runtime runc || { echo "the cluster does not start: $(tail -1 "$scratch/up.log")" >&2; exit 1; }
SERVER=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}') CA=$scratch/data/keys/ca.crt TOKEN=$(cat "$scratch/data/keys/token") \
  python3 bench/pipelines/measure.py "$cluster" "${1:-1000}" "${2:-20}"
