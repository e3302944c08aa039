#!/bin/sh
# Waits for the workers that an MPIJob's host file names, and gives kubectl to the launcher, which starts processes in them.
set -eu
running() { [ "$(kubectl get pod "$1" --namespace "$NAMESPACE" -o 'jsonpath={.status.phase}')" = Running ]; }
cut -d' ' -f1 /etc/mpi/hostfile | while read -r host; do
  until running "$host"; do sleep 1; done
done
cp /bin/kubectl "$TARGET_DIR/kubectl"
