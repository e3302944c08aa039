#!/usr/bin/env bash
# Services on this machine, with stock kubectl: addresses that lead to pods, node ports, affinity, names, refusals, and what is left.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

apply() { kubectl apply --validate=false -f - > "$scratch/apply.out" 2>&1; }
in_pod() { kubectl exec client -- "$@"; }
get() { curl -s -m 3 "$@"; } # from this machine
server() { # server NAME PORT [more fields of the container]
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: web}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: i
    command: [sh, -c, "mkdir /w && cd /w && echo $1 > index.html && exec python3 -m http.server 8080"]
    ports: [{name: http, containerPort: 8080${3:-}}]
    readinessProbe: {periodSeconds: 1, tcpSocket: {port: 8080}}
---
YAML
}
everybody_answers() { # everybody_answers HOW...: both servers, sooner or later
  local seen="" try
  for try in $(seq 30); do seen+=$("$@" 2> /dev/null); done
  [[ $seen == *one* && $seen == *two* ]]
}
one_answers() { # one_answers HOW...: always the same
  local seen="" try
  for try in $(seq 8); do seen+="$("$@" 2> /dev/null) "; done
  [[ $seen == "one one one one one one one one " || $seen == "two two two two two two two two " ]]
}
refuses() { ! "$@" && [ $? -ne 28 ]; } # at once, not by silence

services_get_addresses() {
  { server one 8080; server two 8080; } | apply
  apply <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort, selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: sticky}
spec: {sessionAffinity: ClientIP, selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: nobody}
spec: {selector: {app: nobody}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: alias}
spec: {type: ExternalName, externalName: web.default.svc.cluster.local}
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: i, command: [sh, -c, "env; sleep 1000"]}]
YAML
  address=$(field service web .spec.clusterIP)
  node_port=$(field service web '.spec.ports[0].nodePort')
  expect "an address of the range" grep -Eq '^10\.(9[6-9]|10[0-9]|11[01])\.' <<< "$address"
  expect "the pods to be ready" kubectl wait --for=condition=Ready pod/one pod/two pod/client --timeout=30s
  expect "a slice with both" wait_for 10 sh -c "kubectl get endpointslices -l kubernetes.io/service-name=web -o 'jsonpath={.items[0].endpoints[*].conditions.ready}' | grep -qx 'true true'"
}
pods_reach_services() {
  expect "an answer" wait_for 10 in_pod curl -sf -m 2 "http://$address/"
  expect "both pods to be asked" everybody_answers in_pod curl -s -m 3 "http://$address/"
  expect "the name" sh -c "kubectl exec client -- getent hosts web.default | grep -q '^$address '"
  expect "an answer by name" in_pod curl -sf -m 3 http://web/
  expect "an answer by a name that stands for it" in_pod curl -sf -m 3 http://alias/
  expect "a pod to reach itself" sh -c "for i in \$(seq 20); do kubectl exec one -- curl -sf -m 3 http://$address/ || exit 1; done"
  expect "a client to stay at its pod" one_answers in_pod curl -s -m 3 http://sticky/
  expect "a port that is not served to be refused" refuses in_pod curl -s -m 3 "http://$address:81/"
  expect "a service without pods to refuse" refuses in_pod curl -s -m 3 http://nobody/
}
this_machine_reaches_services() {
  expect "the address" get -f "http://$address/"
  local gateway
  gateway=$(ip -4 -o addr show | awk '/vcbr/ && /'"$(field pod one .status.podIP | cut -d. -f1-3)"'/ {sub("/.*", "", $4); print $4}')
  expect "the node port" get -f "http://$gateway:$node_port/"
  expect "the node port for pods" in_pod curl -sf -m 3 "http://$gateway:$node_port/"
  expect "the node port on the loopback" wait_for 10 get -f "http://127.0.0.1:$node_port/"
  expect "both pods to be asked there" everybody_answers get "http://127.0.0.1:$node_port/"
}
containers_know_services() {
  expect "the server's variable" in_pod sh -c '[ "$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT" = 10.96.0.1:443 ]'
  expect "the server by its variable" in_pod sh -c 'curl -s -m 3 --cacert /var/run/secrets/kubernetes.io/serviceaccount/ca.crt -H "Authorization: Bearer $(cat /var/run/secrets/kubernetes.io/serviceaccount/token)" https://$KUBERNETES_SERVICE_HOST/version | grep -q gitVersion'
  expect "the server by its name" in_pod sh -c 'curl -s -m 3 --cacert /var/run/secrets/kubernetes.io/serviceaccount/ca.crt -H "Authorization: Bearer $(cat /var/run/secrets/kubernetes.io/serviceaccount/token)" https://kubernetes.default.svc/version | grep -q gitVersion'
  expect "the variables of a service" in_pod sh -c '[ "$WEB_SERVICE_HOST" = '"$address"' ]'
}
hardware_addresses_stay() { # or neighbour tables are wrong for half a minute
  local ip bridge before
  ip=$(field pod one .status.podIP)
  bridge=$(ip -4 -o addr show | awk '/vcbr/ && /'"${ip%.*}"'/ {print $2}')
  expect "the pod's to follow from its address" [ "$(kubectl exec one -- cat /sys/class/net/eth0/address)" = "$(printf '0a:58:%02x:%02x:%02x:%02x' ${ip//./ })" ]
  before=$(cat "/sys/class/net/$bridge/address")
  { for i in 1 2 3 4 5 6; do server "more-$i" 8080; done; } | apply
  expect "more pods" kubectl wait --for=condition=Ready pod/more-1 pod/more-2 pod/more-3 pod/more-4 pod/more-5 pod/more-6 --timeout=60s
  expect "the bridge's to stay while they come" [ "$(cat "/sys/class/net/$bridge/address")" = "$before" ]
  kubectl delete pod more-1 more-2 more-3 more-4 more-5 more-6 --wait > /dev/null
  expect "and while they go" [ "$(cat "/sys/class/net/$bridge/address")" = "$before" ]
}
endpoints_come_and_go() {
  kubectl delete pod one --wait > /dev/null
  expect "the other one alone" wait_for 10 sh -c "[ \"\$(for i in 1 2 3 4 5 6; do kubectl exec client -- curl -s -m 3 http://web/; done | sort -u)\" = two ]"
  kubectl delete pod two --wait > /dev/null
  expect "a refusal" wait_for 10 refuses in_pod curl -s -m 3 http://web/
}
balancers_have_this_machines_address() {
  server balanced 8080 | sed 's/app: web/app: balanced/' | apply
  local name address
  for name in first second; do
    printf 'apiVersion: v1\nkind: Service\nmetadata: {name: lb-%s}\nspec: {type: LoadBalancer, selector: {app: balanced}, ports: [{port: 18077, targetPort: http}]}\n' $name | apply
  done
  expect "the pod" kubectl wait --for=condition=Ready pod/balanced --timeout=30s
  address=$(kubectl get node n1 -o 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}')
  expect "the address of the first" wait_for 10 field_is service lb-first '.status.loadBalancer.ingress[0].ip' "$address"
  expect "an answer there" wait_for 10 get -f "http://$address:18077/"
  expect "an answer for pods, where they reach the address" sh -c "[ ${address%%.*} = 127 ] || kubectl exec client -- curl -sf -m 3 http://$address:18077/"
  expect "no address for the second, with a reason" wait_for 10 sh -c "kubectl get events | grep LoadBalancerPending | grep -q 'port 18077 (TCP) of this machine is that of Service default/lb-first'"
  expect "none for the second" field_is service lb-second '.status.loadBalancer' '{}'
  kubectl delete service lb-first > /dev/null
  expect "the second to have it then" wait_for 10 field_is service lb-second '.status.loadBalancer.ingress[0].ip' "$address"
  expect "and to answer" wait_for 10 get -f "http://$address:18077/"
  kubectl delete service lb-second > /dev/null
  kubectl delete pod balanced --wait > /dev/null
  expect "a closed port when it is gone" wait_for 10 refuses get -f "http://$address:18077/"
}
host_ports_lead_to_pods() {
  server first 8080 ', hostPort: 18099' | apply
  expect "it to be ready" kubectl wait --for=condition=Ready pod/first --timeout=30s
  local own
  own=$(ip -4 -o addr show | awk '/vcbr/ && /'"$(field pod first .status.podIP | cut -d. -f1-3)"'/ {sub("/.*", "", $4); print $4}')
  expect "an answer at the port" wait_for 5 get -f "http://$own:18099/"
  server second 8080 ', hostPort: 18099' | apply
  expect "the second one to be refused" wait_for 10 field_is pod second .status.reason NodePorts
  kubectl delete pod first second --wait > /dev/null
  expect "the port to be free" wait_for 5 refuses get "http://$own:18099/"
}
rules_outlive_a_kill_and_go_with_the_cluster() {
  kill_cluster
  start_cluster --node-name n1 --host-rootfs --runtime runc
  expect "the same address" field_is service web .spec.clusterIP "$address"
  { server one 8080; server two 8080; } | apply
  expect "both pods to be asked" wait_for 60 everybody_answers in_pod curl -s -m 3 http://web/
  local table
  table=$(nft list tables | grep -c "table ip vcbr")
  expect "a table" [ "$table" -ge 1 ]
  stop_cluster
  expect "it to be gone" [ "$(nft list tables | grep -c "table ip vcbr")" -lt "$table" ]
}

if [ $root = 0 ] || ! nft list tables > /dev/null 2>&1; then
  echo "skip services: they need root and nftables"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc
run_tests services_get_addresses pods_reach_services this_machine_reaches_services containers_know_services hardware_addresses_stay endpoints_come_and_go balancers_have_this_machines_address host_ports_lead_to_pods \
  rules_outlive_a_kill_and_go_with_the_cluster
exit "${failed:-0}"
