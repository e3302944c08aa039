#!/usr/bin/env bash
# The training operator as deploy/training-operator.yaml installs it, with no more rights than it has there, and our scheduler, on a stock
# kube-apiserver: one job of each kind, the certificate of the webhook, an autoscaler, and MPIJobs of the other version.
# Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need training etcd kube-apiserver kube-controller-manager kwok
start_server
"$bin/volcano" crd podgroups queues jobs hypernodes numatopologies nodeshards > "$scratch/crd.yaml"
kubectl apply --server-side -f "$scratch/crd.yaml" > /dev/null
kubectl create namespace volcano-system > /dev/null
kubectl apply -f tests/stock/roles.yaml > /dev/null
check "deploy/training-operator.yaml" kubectl apply --server-side --validate=strict -f deploy/training-operator.yaml
kubectl wait --for condition=established --timeout=30s crd --all > /dev/null 2>&1
as() { # as NAMESPACE ACCOUNT: prints the name of a kubeconfig
  local file=$scratch/$2.kubeconfig
  cp "$KUBECONFIG" "$file"
  kubectl --kubeconfig "$file" config set-credentials "$2" --token="$(kubectl -n "$1" create token "$2")" > /dev/null
  kubectl --kubeconfig "$file" config set-context --current --user "$2" > /dev/null
  echo "$file"
}
hook_port=${STOCK_HOOK_PORT:-28444} health_port=${STOCK_HEALTH_PORT:-28445}
operator() { # operator LOG FLAG...: as the Deployment says, but with the ports of this test
  local log=$1
  shift
  mapfile -t words < <(kubectl -n kubeflow get deployment training-operator -o 'jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end}')
  MY_POD_NAMESPACE=kubeflow run "$log" "$bin/training-operator" "${words[@]}" --kubeconfig "$(as kubeflow training-operator)" \
    --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address "127.0.0.1:$health_port" --webhook-server-port "$hook_port" "$@"
}
operator operator
run scheduler "$bin/vc-scheduler" --kubeconfig "$(as volcano-system volcano-scheduler)"
check "the operator is ready" wait_for 30 curl -sf "http://127.0.0.1:$health_port/readyz"

# The server cannot reach services here, so the webhook is asked by hand, and then not by the server.
webhooks=validatingwebhookconfiguration/validator.training-operator.kubeflow.org
kubectl get "$webhooks" -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' | base64 -d > "$scratch/hook-ca.pem"
asked() { # asked OBJECT MESSAGE: the webhook, of a JAXJob
  curl -sf --cacert "$scratch/hook-ca.pem" --resolve "training-operator.kubeflow.svc:$hook_port:127.0.0.1" -H 'Content-Type: application/json' \
    "https://training-operator.kubeflow.svc:$hook_port/validate-kubeflow-org-v1-jaxjob" -d '{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request":
    {"uid": "u", "operation": "CREATE", "kind": {"group": "kubeflow.org", "version": "v1", "kind": "JAXJob"}, "name": "j", "namespace": "default", "userInfo": {"username": "dora"},
     "resource": {"group": "kubeflow.org", "version": "v1", "resource": "jaxjobs"}, "object": '"$1"'}}' | grep -qF "$2"
}
refused() { asked '{"metadata": {"name": "j"}, "spec": {}}' 'spec.jaxReplicaSpecs: Required value: must be required'; }
check "the webhook answers under the certificate of the configuration" refused
check "which is kept" sh -c "kubectl -n kubeflow get secret training-operator-webhook-cert -o 'jsonpath={.data}' | grep -q 'tls.key'"
printf 'apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: team, annotations: {volcano.sh/allowed-users: anna}}\nspec: {weight: 1}\n' | kubectl apply -f - > /dev/null
in_queue='{"metadata": {"name": "j"}, "spec": {"runPolicy": {"schedulingPolicy": {"queue": "team"}}, "jaxReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [{"name": "jax", "image": "i"}]}}}}}}'
check "a queue that is for others takes no job" wait_for 10 asked "$in_queue" 'queue `team` is not for user `dora` (volcano.sh/allowed-users, volcano.sh/allowed-groups)'
kubectl annotate queue team volcano.sh/allowed-users=dora --overwrite > /dev/null
check "and once it is for them, it does" wait_for 10 asked "$in_queue" '"allowed":true'
# As `kubectl apply` of a newer manifest, or another installation, may leave it.
trusts() { # trusts COUNT: each webhook has so many CAs
  kubectl get "$webhooks" -o json | python3 -c 'import base64, json, sys
sys.exit(any(base64.b64decode(one["clientConfig"].get("caBundle", "")).count(b"BEGIN") != int(sys.argv[1]) for one in json.load(sys.stdin)["webhooks"]))' "$1"
}
fresh_hooks() { # as a manifest has them
  python3 -c 'import json, sys
hooks = json.load(sys.stdin)
for field in "resourceVersion", "uid": del hooks["metadata"][field]
for one in hooks["webhooks"]: del one["clientConfig"]["caBundle"]
json.dump(hooks, sys.stdout)'
}
kubectl get "$webhooks" -o json | fresh_hooks > "$scratch/hooks.json"
kubectl replace -f "$scratch/hooks.json" > /dev/null
check "a configuration without the bundle gets it" wait_for 20 trusts 1
kubectl delete "$webhooks" > /dev/null
check "that it is gone is said" wait_for 20 grep -q "this cluster has no ValidatingWebhookConfiguration" "$scratch/operator.log"
kubectl create -f "$scratch/hooks.json" > /dev/null
check "and so does one that comes later" wait_for 20 trusts 1
kubectl -n kubeflow patch secret training-operator-webhook-cert --type json -p '[{"op": "remove", "path": "/data"}]' > /dev/null
check "new keys come with the old CA beside the new one" wait_for 20 trusts 2
kubectl get "$webhooks" -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' | base64 -d > "$scratch/hook-ca.pem"
check "the webhook answers meanwhile" refused
sed -n '1,/END/p' "$scratch/hook-ca.pem" > "$scratch/new-ca.pem" && mv "$scratch/new-ca.pem" "$scratch/hook-ca.pem"
check "and a moment later by the new CA alone" wait_for 20 refused
kubectl patch "$webhooks" --type json -p '[{"op": "remove", "path": "/webhooks"}]' > /dev/null

kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "32", memory: 64Gi, ephemeral-storage: 100Gi, pods: "110"}, allocatable: {cpu: "32", memory: 64Gi, ephemeral-storage: 100Gi, pods: "110"}}
YAML
check "the scheduler makes the queue default" wait_for 30 kubectl get queue default

replica() { printf '    %s: {replicas: %s, template: {spec: {containers: [{name: %s, image: i, resources: {requests: {cpu: 100m}}}]}}}\n' "$@"; } # replica TYPE COUNT CONTAINER
job() { # job KIND NAME MAP [more of the spec]; replicas on standard input
  printf 'apiVersion: kubeflow.org/%s\nkind: %s\nmetadata: {name: %s}\nspec:\n%s\n  %s:\n' "${version:-v1}" "$1" "$2" "${4:-}" "$3"
  cat
}
variable_is() { field_is pod "$1" ".spec.containers[0].env[?(@.name=='$2')].value" "$3"; }
{ replica Master 1 pytorch; replica Worker 2 pytorch; } | job PyTorchJob torch pytorchReplicaSpecs | kubectl apply -f - > /dev/null
{ replica PS 1 tensorflow; replica Worker 2 tensorflow; } | job TFJob flow tfReplicaSpecs | kubectl apply -f - > /dev/null
{ replica Launcher 1 mpi; replica Worker 2 mpi; } | job MPIJob pi mpiReplicaSpecs | kubectl apply -f - > /dev/null
{ replica Master 1 xgboost; replica Worker 1 xgboost; } | job XGBoostJob boost xgbReplicaSpecs | kubectl apply -f - > /dev/null
replica Worker 2 paddle | job PaddleJob paddle paddleReplicaSpecs | kubectl apply -f - > /dev/null
replica Worker 2 jax | job JAXJob jax jaxReplicaSpecs | kubectl apply -f - > /dev/null
check "PyTorchJob: RANK" wait_for 40 variable_is torch-worker-1 RANK 2
check "its group" field_is podgroup torch .spec.minMember 3
check "its service" field_is service torch-master-0 .spec.clusterIP None
check "TFJob: TF_CONFIG" wait_for 20 variable_is flow-worker-1 TF_CONFIG '{"cluster":{"ps":["flow-ps-0.default.svc:2222"],"worker":["flow-worker-0.default.svc:2222","flow-worker-1.default.svc:2222"]},"task":{"type":"worker","index":1},"environment":"cloud"}'
check "MPIJob: its launcher" wait_for 20 variable_is pi-launcher OMPI_MCA_plm_rsh_agent /etc/mpi/kubexec.sh
check "its role" field_is role pi-launcher '.rules[1].resourceNames' '["pi-worker-0","pi-worker-1"]'
check "its binding" field_is rolebinding pi-launcher '.subjects[0].name' pi-launcher
check "its files" sh -c "kubectl get configmap pi-config -o 'jsonpath={.data.hostfile}' | grep -q 'pi-worker-1 slots=1'"
check "XGBoostJob: WORLD_SIZE" wait_for 20 variable_is boost-worker-0 WORLD_SIZE 2
check "PaddleJob: PADDLE_MASTER" wait_for 20 variable_is paddle-worker-1 PADDLE_MASTER paddle-worker-0:36543
check "JAXJob: PROCESS_ID" wait_for 20 variable_is jax-worker-1 PROCESS_ID 1
state_is() { field_is "$1" "$2" '.status.conditions[-1:].type' "$3"; }
for one in pytorchjob/torch tfjob/flow mpijob/pi xgboostjob/boost paddlejob/paddle jaxjob/jax; do
  check "$one runs" wait_for 60 state_is "${one%/*}" "${one#*/}" Running
done
# KWOK ends the pods of Jobs only.
for pod in jax-worker-0 jax-worker-1; do kubectl patch pod $pod --subresource status --type merge -p '{"status": {"phase": "Succeeded"}}' > /dev/null; done
check "a job succeeds" wait_for 20 state_is jaxjob jax Succeeded
check "its event" wait_for 10 sh -c "kubectl get events | grep -q 'JAXJob default/jax successfully completed.'"
check "its group goes" wait_for 20 sh -c '! kubectl get podgroup jax'

replica Worker 2 pytorch | job PyTorchJob elastic pytorchReplicaSpecs '  elasticPolicy: {minReplicas: 1, maxReplicas: 4, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}' |
  sed 's/image: i/image: i, command: [sleep, 10m]/' | kubectl apply -f - > /dev/null
check "an elastic job has an autoscaler" wait_for 20 field_is hpa elastic .spec.maxReplicas 4
check "nothing is forbidden to the operator" sh -c "! grep -i forbidden '$scratch/operator.log'"

# The other kind of MPIJob, and a namespace of its own.
kubectl delete mpijob --all > /dev/null
kill "${programs[0]}" && wait "${programs[0]}" 2> /dev/null
"${STOCK_DIR:?}/bin/helm-template" --namespace kubeflow --set custom.training_operator_enable=true,custom.training_mpi_job_version=v2beta1 deploy/chart/volcano > "$scratch/newer.yaml"
"$bin/volcano" crd --mpi-job-version=v2beta1 mpijobs.kubeflow.org > "$scratch/mpi.yaml"
kubectl delete crd mpijobs.kubeflow.org > /dev/null
check "the newer kind is installed" kubectl apply --server-side -f "$scratch/mpi.yaml"
python3 - "$scratch/newer.yaml" > "$scratch/role.yaml" << 'PY'
import sys
for part in open(sys.argv[1]).read().split("\n---\n"):
    if "kind: ClusterRole\n" in part and "name: training-operator," in part: print(part)
PY
check "with the role that it needs" kubectl apply --server-side --force-conflicts -f "$scratch/role.yaml"
kubectl wait --for condition=established --timeout=20s crd/mpijobs.kubeflow.org > /dev/null 2>&1
kubectl create namespace other > /dev/null
operator newer --mpi-job-version=v2beta1 --namespace default
{ replica Launcher 1 mpi; replica Worker 2 mpi; } | version=v2beta1 job MPIJob ring mpiReplicaSpecs > "$scratch/ring.yaml"
# KWOK may end the job, and with it its group, before anybody asks for it.
kubectl get podgroups --watch -o 'jsonpath={.metadata.name}={.spec.minMember}{"\n"}' > "$scratch/groups" 2> /dev/null &
watching=$!
kubectl -n other apply -f "$scratch/ring.yaml" > /dev/null
kubectl apply -f "$scratch/ring.yaml" > /dev/null
check "a launcher that is a Job" wait_for 40 field_is job ring-launcher .spec.template.spec.restartPolicy OnFailure
check "its workers" wait_for 20 variable_is ring-worker-1 K_MPI_JOB_ROLE worker
check "its keys" field_is secret ring-ssh .type kubernetes.io/ssh-auth
check "they are a pair" sh -c "kubectl get secret ring-ssh -o 'jsonpath={.data.ssh-privatekey}' | base64 -d > '$scratch/id' && chmod 600 '$scratch/id' && openssl ec -in '$scratch/id' -check -noout"
check "its group" wait_for 20 grep -qx ring=3 "$scratch/groups"
kill "$watching"
check "it succeeds" wait_for 60 state_is mpijob ring Succeeded
check "no pods in the other namespace" sh -c '[ -z "$(kubectl -n other get pods -o name)" ]'
check "nothing is forbidden to the newer one" sh -c "! grep -i forbidden '$scratch/newer.log'"
exit $failed
