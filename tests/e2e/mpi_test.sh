#!/usr/bin/env bash
# Containers with a network of their own: the MPI example over the ssh and svc plugins, images, names.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

the_mpi_example_prints_its_ranks() {
  sed -E 's/cpu: "(500m|1000m)"/cpu: "100m"/' examples/manifests/mpi.yaml | kubectl apply -f - > /dev/null
  expect "the ssh secret" wait_for 10 kubectl get secret lm-mpi-job-ssh
  expect "its keys" sh -c '[ "$(kubectl get secret lm-mpi-job-ssh -o json | grep -cE "\"(id_rsa|id_rsa.pub|authorized_keys|config)\":")" = 4 ]'
  expect "the group's minimum" wait_for 10 sh -c 'kubectl get podgroup -o "jsonpath={.items[*].spec.minResources}" | grep -q "\"count/pods\":\"4\",\"cpu\":\"400m\""'
  expect "completed" wait_for 90 phase_is lm-mpi-job Completed
  expect "three ranks" sh -c '[ "$(kubectl logs lm-mpi-job-mpimaster-0 | grep -c "Hello world from processor lm-mpi-job-mpiworker-")" = 3 ]'
  expect "the reduction" sh -c 'kubectl logs lm-mpi-job-mpimaster-0 | grep -q "sum of all ranks: 3"'
  expect "one succeeded pod" field_is vcjob lm-mpi-job .status.succeeded 1
}
an_mpijob_reaches_its_workers_through_exec() {
  sed "s#example/mpi:1#registry.example/volcanosh/example-mpi:0.0.1#" examples/training/manifests/mpi.yaml | kubectl apply -f - > /dev/null
  expect "succeeds" wait_for 90 sh -c 'kubectl get mpijob mpi -o "jsonpath={.status.conditions[-1:].type}" | grep -q Succeeded'
  expect "two ranks" sh -c '[ "$(kubectl logs mpi-launcher | grep -c "Hello world from processor mpi-worker-")" = 2 ]'
  expect "by its own rights alone" sh -c '! kubectl auth can-i create pods --subresource=exec --as system:serviceaccount:default:mpi-launcher'
}
a_container_has_its_own_image() {
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: own}\nspec: {schedulerName: volcano, restartPolicy: Never, containers: [{name: c, image: nginx, command: [sh, -c, "test -x /usr/sbin/nginx && hostname && exit 7"]}]}\n' | kubectl apply -f - > /dev/null
  expect "its exit code" wait_for 20 field_is pod own '.status.containerStatuses[0].state.terminated.exitCode' 7
  expect "its host name" sh -c '[ "$(kubectl logs own)" = own ]'
}
a_stop_leaves_nothing() {
  stop_cluster
  expect "no mount" sh -c "! grep -q $scratch /proc/mounts"
  expect "no bridge" sh -c '! ip -o link | grep -qE "volcano[0-9]|vc-[0-9a-f]+:"'
}

if [ $root = 0 ]; then
  for name in the_mpi_example_prints_its_ranks an_mpijob_reaches_its_workers_through_exec a_container_has_its_own_image a_stop_leaves_nothing; do echo "skip $name: needs root"; done
  exit 0
fi
import_image() { # import_image NAME FILE
  "$volcano" image import --data "$scratch/data" "$1" "build/images/$2.tar" > /dev/null && return
  echo "FAIL images: $2 could not be imported"
  exit 1
}
examples/images/build build/images nginx mpi kubectl || { echo "FAIL images: could not be built"; exit 1; }
import_image nginx nginx
import_image registry.example/volcanosh/example-mpi:0.0.1 mpi
import_image kubeflow/kubectl-delivery:latest kubectl
start_cluster || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
run_tests the_mpi_example_prints_its_ranks an_mpijob_reaches_its_workers_through_exec a_container_has_its_own_image a_stop_leaves_nothing
