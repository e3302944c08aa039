#!/usr/bin/env bash
# The controllers of notebooks, TensorBoards, viewers of volumes and profiles on a stock kube-apiserver with the rights that the chart gives them; KWOK runs the pods, and
# our scheduler places those of a queue. Then a crash of the program, kernels that nobody reaches, and what it writes when nothing changes.
# Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes, and its helm-template.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need notebooks etcd kube-apiserver kube-controller-manager kube-scheduler kwok helm-template
start_server SCHED=1 APISERVER_EXTRA="--audit-policy-file=$PWD/tests/stock/audit_writes.yaml --audit-log-path=$scratch/audit.log"
kubectl create namespace volcano-system > /dev/null
"$bin/volcano" crd > "$scratch/crd.yaml"
kubectl apply --server-side -f "$scratch/crd.yaml" > /dev/null
# Istio's kinds as far as routes and rules need them.
istio_kind() { # istio_kind GROUP VERSION KIND PLURAL
  printf -- '---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s.%s}, spec: {group: %s, scope: Namespaced, names: {kind: %s, plural: %s, singular: %s}, versions: [{name: %s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}\n' "$4" "$1" "$1" "$3" "$4" "${3,,}" "$2"
}
{ istio_kind networking.istio.io v1beta1 VirtualService virtualservices; istio_kind security.istio.io v1beta1 AuthorizationPolicy authorizationpolicies; } | kubectl apply -f - > /dev/null
"$built/bin/helm-template" -namespace volcano-system -set custom.kubeflow_controllers_enable=true,custom.crds_enable=false deploy/chart/volcano > "$scratch/chart.yaml"
# The objects of its template alone, and no program of a Deployment, for which there is no image here.
python3 - "$scratch/chart.yaml" > "$scratch/kubeflow.yaml" << 'PY'
import sys
parts = open(sys.argv[1]).read().split("\n---\n")
print("\n---\n".join(part for part in parts if "kubeflow_controllers.yaml" in part or "kubeflow-controllers" in part or "kind: CustomResourceDefinition" in part))
PY
check "what the chart makes of them" kubectl apply --server-side --validate=strict -f "$scratch/kubeflow.yaml"
kubectl -n volcano-system delete deployment volcano-kubeflow-controllers > /dev/null
for role in admin edit view; do kubectl create clusterrole kubeflow-$role --verb=get --resource=pods > /dev/null; done
kubectl wait --for condition=established --timeout=30s crd --all > /dev/null 2>&1
for name in n1 n2; do
  kubectl apply -f - > /dev/null <<< $'---\n'"{apiVersion: v1, kind: Node, metadata: {name: $name, labels: {kubernetes.io/hostname: $name}, annotations: {kwok.x-k8s.io/node: fake}},
    status: {capacity: {cpu: '8', memory: 16Gi, pods: '50', nvidia.com/gpu: '1'}, allocatable: {cpu: '8', memory: 16Gi, pods: '50', nvidia.com/gpu: '1'}}}"
done

cp "$KUBECONFIG" "$scratch/kubeflow.kubeconfig"
kubectl --kubeconfig "$scratch/kubeflow.kubeconfig" config set-credentials controllers --token="$(kubectl -n volcano-system create token volcano-kubeflow-controllers)" > /dev/null
kubectl --kubeconfig "$scratch/kubeflow.kubeconfig" config set-context --current --user controllers > /dev/null
health=${STOCK_HEALTH_PORT:-28545}
controllers() { # as the Deployment says, but with the ports of this test
  MY_POD_NAMESPACE=volcano-system USE_ISTIO=true ISTIO_HOST='*' ISTIO_GATEWAY=kubeflow/kubeflow-gateway ENABLE_CULLING=true CULL_IDLE_TIME=1 IDLENESS_CHECK_PERIOD=1 RWO_PVC_SCHEDULING=true \
    run controllers "$bin/volcano" kubeflow-controllers --kubeconfig "$scratch/kubeflow.kubeconfig" --enable-leader-election --metrics-addr 127.0.0.1:$((health + 1)) --probe-addr 127.0.0.1:$health
}
controllers
run scheduler "$bin/vc-scheduler" --kubeconfig "$KUBECONFIG" --healthz-address "127.0.0.1:$((health + 2))" --listen-address "127.0.0.1:$((health + 3))"
run groups "$bin/vc-controller-manager" --kubeconfig "$KUBECONFIG" --healthz-address "127.0.0.1:$((health + 4))" --listen-address "127.0.0.1:$((health + 5))"
check "the controllers are ready" wait_for 30 curl -sf "http://127.0.0.1:$health/readyz"
check "the queue default opens" wait_for 40 field_is queue default .status.state Open

claim() { kubectl create -f - > /dev/null <<< $'---\n'"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: $1}, spec: {accessModes: [ReadWriteOnce], volumeName: $1, storageClassName: '', resources: {requests: {storage: 1Gi}}}}"; }
volume() { kubectl create -f - > /dev/null <<< $'---\n'"{apiVersion: v1, kind: PersistentVolume, metadata: {name: $1}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /tmp}, storageClassName: ''}}"; }
notebook() { # notebook NAME CLAIM [FIELDS OF THE POD]
  kubectl apply -f - <<< $'---\n'"{apiVersion: kubeflow.org/v1, kind: Notebook, metadata: {name: $1}, spec: {template: {spec: {${3:-}volumes: [{name: w, persistentVolumeClaim: {claimName: $2}}],
    containers: [{name: $1, image: jupyter, volumeMounts: [{name: w, mountPath: /home/jovyan}], resources: {limits: {cpu: '1', nvidia.com/gpu: '${4:-0}'}}}]}}}}"
}
says() { kubectl get events --field-selector "involvedObject.kind=$1,involvedObject.name=$2" | grep -qiF -- "$3"; }
for one in work curves; do volume $one && claim $one; done

check "a notebook" notebook one work
check "its StatefulSet" wait_for 20 field_is statefulset one .spec.replicas 1
check "its pod on a node" wait_for 40 field_is pod one-0 .status.phase Running
check "which it tells as its own state" wait_for 20 field_is notebook one .status.readyReplicas 1
check "a running container" wait_for 20 sh -c "kubectl get notebook one -o 'jsonpath={.status.containerState.running.startedAt}' | grep -q ."
check "the pod's conditions" wait_for 20 field_is notebook one '.status.conditions[?(@.type=="Ready")].status' True
check "its prefix" field_is pod one-0 '.spec.containers[0].env[?(@.name=="NB_PREFIX")].value' /notebook/default/one
check "its service" field_is service one '.spec.ports[0].name' http-one
check "an event of its StatefulSet" wait_for 20 says Notebook one "Reissued from statefulset/one: create Pod one-0"
check "its route" wait_for 20 field_is virtualservice notebook-default-one '.spec.http[0].match[0].uri.prefix' /notebook/default/one/

check "a notebook of a queue with a GPU" notebook gpu work 'schedulerName: volcano, ' 1
check "which our scheduler places" wait_for 40 field_is pod gpu-0 .status.phase Running
check "as a group of one" sh -c "[ \$(kubectl get podgroups -o 'jsonpath={.items[0].spec.minMember}') = 1 ]"
check "and a second of two GPUs" notebook more work 'schedulerName: volcano, ' 2
check "which waits, and says why" wait_for 40 sh -c "kubectl get notebook more -o 'jsonpath={.status.conditions}' | grep -q nvidia.com/gpu"
check "a stop" kubectl annotate notebook gpu kubeflow-resource-stopped=now
check "gives the GPU back" wait_for 30 sh -c '! kubectl get pod gpu-0'
check "and its group goes" wait_for 30 sh -c "! kubectl get podgroups -o name | grep -q \$(kubectl get statefulset gpu -o 'jsonpath={.metadata.uid}')"
check "its state says so" wait_for 20 field_is notebook gpu .status.readyReplicas 0
check "a start" kubectl annotate notebook gpu kubeflow-resource-stopped-
check "brings it back" wait_for 40 field_is notebook gpu .status.readyReplicas 1

kubectl apply -f - > /dev/null << 'YAML'
---
{apiVersion: tensorboard.kubeflow.org/v1alpha1, kind: Tensorboard, metadata: {name: board}, spec: {logspath: "pvc://work/runs"}}
---
{apiVersion: kubeflow.org/v1alpha1, kind: PVCViewer, metadata: {name: files}, spec: {pvc: curves, networking: {targetPort: 8080, basePrefix: /pvcviewer}, rwoScheduling: true}}
---
{apiVersion: kubeflow.org/v1, kind: Profile, metadata: {name: ann}, spec: {owner: {kind: User, name: ann@example.com}, resourceQuotaSpec: {hard: {pods: "3"}}}}
---
{apiVersion: kubeflow.org/v1, kind: Profile, metadata: {name: volcano-system}, spec: {owner: {kind: User, name: ann@example.com}}}
YAML
check "a TensorBoard" wait_for 40 field_is tensorboard board .status.readyReplicas 1
check "its folder" field_is deployment board '.spec.template.spec.containers[0].volumeMounts[0].subPath' runs
check "the node of the claim's other pod is preferred" field_is deployment board '.spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight' 100
check "its route" wait_for 20 field_is virtualservice board '.spec.http[0].match[0].uri.prefix' /tensorboard/default/board/
check "a viewer" wait_for 40 field_is pvcviewer files .status.ready true
check "its address" field_is pvcviewer files .status.url /pvcviewer/default/files/
check "a profile" wait_for 40 field_is profile ann '.status.conditions[0].type' Successful
check "its namespace" field_is namespace ann .metadata.annotations.owner ann@example.com
check "its quota" wait_for 20 sh -c '[ $(kubectl -n ann get resourcequota kf-resource-quota -o "jsonpath={.spec.hard.pods}") = 3 ]'
check "its accounts" wait_for 20 kubectl -n ann get serviceaccount default-editor default-viewer
check "its rule of Istio" wait_for 20 kubectl -n ann get authorizationpolicy ns-owner-access-istio
check "somebody else's namespace is left alone" wait_for 20 sh -c "kubectl get profile volcano-system -o 'jsonpath={.status.conditions[0].message}' | grep -q 'not owned by profile creator ann@example.com'"

kill -9 "${programs[0]}" && wait "${programs[0]}" 2> /dev/null
kubectl delete statefulset one --cascade=orphan > /dev/null
kubectl annotate notebook gpu kubeflow-resource-stopped=now > /dev/null
kubectl delete profile ann --wait=false > /dev/null
mv "$scratch/controllers.log" "$scratch/controllers-1.log"
controllers
check "after a crash a lost StatefulSet is made again" wait_for 60 field_is notebook one .status.readyReplicas 1
check "a stop meanwhile is done" wait_for 30 sh -c '! kubectl get pod gpu-0'
check "a profile goes with its namespace" wait_for 60 sh -c '! kubectl get namespace ann'
check "nothing was forbidden" sh -c "! grep -i forbidden '$scratch'/controllers*.log"

# Kernels that cannot be asked count for nothing, as in Kubeflow: the idle time passes. The notebook that waits for its GPUs is not idle.
check "a notebook whose kernels nobody reaches is stopped after its time" wait_for 200 sh -c "kubectl get notebook one -o 'jsonpath={.metadata.annotations.kubeflow-resource-stopped}' | grep -q ."
check "its pod goes" wait_for 30 sh -c '! kubectl get pod one-0'
check "an event says why" wait_for 20 says Notebook one Culled
check "the one that waits is not stopped" sh -c "! kubectl get notebook more -o 'jsonpath={.metadata.annotations.kubeflow-resource-stopped}' | grep -q ."
kubectl delete notebook more --wait=false > /dev/null
check "it goes" wait_for 30 sh -c '! kubectl get notebook more'

# At rest: as long as the program renews its lease five times, it writes nothing else.
written() { tail -n "+$((before + 1))" "$scratch/audit.log" | grep volcano-kubeflow-controllers | grep "$@"; }
renewed() { [ "$(written -c '"leases"')" -ge 5 ]; }
before=$(wc -l < "$scratch/audit.log")
check "the program renews its lease" wait_for 60 renewed
check "and writes nothing else ($(written -vc '"leases"'))" [ "$(written -vc '"leases"')" = 0 ]
exit $failed
