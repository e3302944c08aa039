#!/usr/bin/env bash
# Spark as Python's registry has it, submitted from a pod in cluster mode to `volcano up`, its pods placed by us.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
[ $root = 1 ] || { echo "skip outside spark: it needs an image, and images need root"; exit 0; }
image=$PWD/build/spark/image.tar
tests/outside/spark/image.sh "$image" > "$scratch/image.log" 2>&1 || { echo "skip outside spark: its image cannot be made: $(tail -1 "$scratch/image.log")"; rm -rf "$scratch"; exit 0; }
trap 'stop_cluster; rm -rf "$scratch"' EXIT

# submit NAME CONF...: spark-submit in cluster mode, from a Job; the driver is the pod NAME-driver.
submit() {
  local name=$1 confs="" conf
  shift
  for conf in "$@"; do confs+=" --conf $conf"; done
  kubectl apply -f - << END
apiVersion: batch/v1
kind: Job
metadata: {name: submit-$name}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      serviceAccountName: spark
      containers:
      - name: submit
        image: spark:test
        args:
        - sh
        - -c
        - >-
          exec /opt/spark/pyspark/bin/spark-submit --master k8s://https://\$KUBERNETES_SERVICE_HOST:\$KUBERNETES_SERVICE_PORT
          --deploy-mode cluster --name $name
          --conf spark.kubernetes.container.image=spark:test
          --conf spark.kubernetes.authenticate.driver.serviceAccountName=spark
          --conf spark.kubernetes.driver.pod.name=$name-driver
          --conf spark.kubernetes.scheduler.name=volcano
          --conf spark.executor.instances=2
          --conf spark.kubernetes.driver.request.cores=0.2
          --conf spark.kubernetes.executor.request.cores=0.2$confs
          local:///opt/spark/pyspark/examples/src/main/python/pi.py 4
END
}
executors_are() { [ "$(kubectl get pods -l spark-role=executor -o name | wc -l)" = "$1" ]; }
placed_by_volcano() { ! kubectl get pods -l spark-role -o 'jsonpath={range .items[*]}{.spec.schedulerName}{"\n"}{end}' | grep -v '^volcano$'; }
said() { kubectl logs "$1" | grep -E "$2"; }

a_driver_gets_its_executors() {
  start_cluster --node-name n1
  expect "an image" "$volcano" image import --data "$scratch/data" spark:test "$image"
  kubectl create serviceaccount spark > /dev/null
  kubectl create rolebinding spark --clusterrole=edit --serviceaccount=default:spark > /dev/null
  expect "a job that submits" submit pi
  expect "two executors" wait_for 120 executors_are 2
  expect "all placed by volcano" placed_by_volcano
  expect "an end" wait_for 120 field_is job submit-pi .status.succeeded 1
  expect "a result" said pi-driver '^Pi is roughly 3'
  expect "the submitter saw the end" said job/submit-pi 'phase: Succeeded'
  expect "no executor is left" wait_for 30 executors_are 0
  local uid
  uid=$(field pod pi-driver .metadata.uid)
  expect "the driver's group is complete" wait_for 20 field_is podgroup "podgroup-$uid" .status.phase Completed
}
# What Spark's step for Volcano writes, by hand: the registry's Spark is built without it.
a_group_holds_the_driver_until_its_queue_has_room() {
  kubectl apply -f - > /dev/null << 'END'
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: spark}
spec: {capability: {cpu: 500m}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: two}
spec: {queue: spark, minMember: 1, minResources: {cpu: 600m}}
END
  expect "a job that submits" submit two spark.kubernetes.{driver,executor}.annotation.scheduling.k8s.io/group-name=two
  expect "a driver" wait_for 60 kubectl get pod two-driver
  expect "it waits, and says why" wait_for 20 sh -c 'kubectl get podgroup two -o yaml | grep "queue spark"'
  expect "it does not run" field_is pod two-driver .status.phase Pending
  kubectl patch queue spark --type merge -p '{"spec":{"capability":{"cpu":"1"}}}' > /dev/null
  expect "an end" wait_for 120 field_is job submit-two .status.succeeded 1
  expect "a result" said two-driver '^Pi is roughly 3'
}

run_tests a_driver_gets_its_executors a_group_holds_the_driver_until_its_queue_has_room
exit "${failed:-0}"
