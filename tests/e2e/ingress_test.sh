#!/usr/bin/env bash
# Ingresses of one machine, with stock kubectl and curl: routes, TLS, WebSockets, what stops nothing else, and people who take nothing from one another.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$PWD/tests/e2e
http=$(free_port)
https=$(free_port)

apply() { kubectl apply --validate=false -f - > "$scratch/apply.out" 2>&1; }
get() { curl -s -m 10 --resolve "$1:$http:127.0.0.1" "http://$1:$http$2" "${@:3}"; }
get_tls() { curl -s -m 10 --cacert "$scratch/$1.crt" --resolve "$1:$https:127.0.0.1" "https://$1:$https$2" "${@:3}"; }
status_is() { [ "$(get "$1" "$2" -o /dev/null -w '%{http_code}')" = "$3" ]; }
refuses() { ! "$@" && [ $? -ne 28 ]; }
ingress_is() { [ "$(kubectl -n "$1" get ingress "$2" -o "jsonpath={$3}")" = "$4" ]; }
has_event() { kubectl -n "$1" get events -o 'jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}' | grep -qF -- "$2"; }

server() { # server NAMESPACE NAME: a pod and its Service
  kubectl create namespace "$1" > /dev/null 2>&1
  kubectl -n "$1" create configmap server --from-file="$here/notebook_server.py" > /dev/null 2>&1
  apply <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: $1, labels: {app: $2}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  volumes: [{name: server, configMap: {name: server}}]
  containers:
  - name: main
    image: i
    command: [python3, /server/notebook_server.py, "8080", ""]
    ports: [{name: http, containerPort: 8080}]
    volumeMounts: [{name: server, mountPath: /server}]
    readinessProbe: {periodSeconds: 1, tcpSocket: {port: 8080}}
---
apiVersion: v1
kind: Service
metadata: {name: $2, namespace: $1}
spec: {selector: {app: $2}, ports: [{name: web, port: 80, targetPort: http}]}
YAML
}
ingress() { # ingress NAMESPACE NAME HOST PATH SERVICE PORT [more of the spec]
  apply <<YAML
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: $2, namespace: $1}
spec:
  rules: [{host: "$3", http: {paths: [{path: "$4", pathType: Prefix, backend: {service: {name: $5, port: {$6}}}}]}}]
${7:-}
YAML
}
certificate() { # certificate HOST: a pair in the scratch folder
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" -addext "subjectAltName=DNS:$1" -keyout "$scratch/$1.key" -out "$scratch/$1.crt" > /dev/null 2>&1
}
secret() { kubectl -n "$1" create secret tls "$2" --cert "$scratch/$3.crt" --key "$scratch/$3.key" --dry-run=client -o yaml | kubectl apply -f - > /dev/null 2>&1; }

a_port_opens_with_the_first_ingress() {
  expect "a default class" wait_for 10 field_is ingressclass volcano '.spec.controller' volcano.sh/ingress
  expect "a closed port before" refuses get ann.test /
  server ann web
  server bob web
  expect "the servers" kubectl wait --for=condition=Ready pod -l app=web -A --timeout=30s
  ingress ann shop ann.test / web 'number: 80'
  expect "its class" ingress_is ann shop .spec.ingressClassName volcano
  expect "an answer" wait_for 10 get ann.test / -f
  address=$(kubectl get node n1 -o 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}')
  expect "the address of the machine" wait_for 10 ingress_is ann shop '.status.loadBalancer.ingress[0].ip' "$address"
  expect "and the port, which is not the usual one" ingress_is ann shop '.status.loadBalancer.ingress[0].ports[0].port' "$http"
  expect "kubectl to show it" sh -c "kubectl -n ann get ingress shop | grep -Eq '^shop +volcano +ann.test +$address +80 '"
  expect "404 for another host" status_is other.test / 404
}
requests_go_both_ways() {
  expect "headers, streams, bounds" env CLUSTER_PID="$cluster" python3 "$here/ingress_peer.py" ann.test "$http"
}
tls_comes_from_secrets() {
  certificate ann.test
  expect "no port for TLS before" refuses curl -sk -m 3 "https://127.0.0.1:$https/"
  ingress ann shop ann.test / web 'name: web' '  tls: [{hosts: [ann.test], secretName: keys}]'
  expect "a missing Secret to be told" wait_for 10 has_event ann 'IngressNotServed: spec.tls: the Secret "keys" is not used: it is not there'
  expect "and to stop nothing else" get ann.test / -f
  secret ann keys ann.test
  expect "an answer with its certificate" wait_for 10 get_tls ann.test / -f
  expect "a plain request to be led there" [ "$(get ann.test /x?y=1 -o /dev/null -w '%{http_code} %{redirect_url}')" = "308 https://ann.test:$https/x?y=1" ]
  kubectl -n ann annotate ingress shop ingress.volcano.sh/ssl-redirect=false > /dev/null
  expect "unless it is not wanted" wait_for 10 status_is ann.test / 200
  kubectl -n ann annotate ingress shop ingress.volcano.sh/ssl-redirect- > /dev/null
  expect "HTTP/2 there" [ "$(get_tls ann.test / -o /dev/null -w '%{http_version}')" = 2 ]
  expect "that the pod is told" sh -c "curl -s --cacert $scratch/ann.test.crt --resolve ann.test:$https:127.0.0.1 https://ann.test:$https/headers | grep -q '\"X-Forwarded-Proto\", \"https\"'"
  certificate ann.test
  secret ann keys ann.test
  expect "a Secret that changes to be taken up" wait_for 10 get_tls ann.test / -f
  kubectl -n ann patch secret keys -p '{"data": {"tls.key": "bm9uZQ=="}}' > /dev/null
  expect "a broken one to be told" wait_for 10 has_event ann 'the Secret "keys" is not used: '
  expect "and other names to be served" get ann.test / -f
  secret ann keys ann.test
  expect "it to be used again" wait_for 10 get_tls ann.test / -f
}
backends_that_are_none_are_told() {
  apply <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: alias, namespace: bob}
spec: {type: ExternalName, externalName: kubernetes.default.svc.cluster.local, ports: [{port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: hand, namespace: bob}
spec: {ports: [{name: api, port: 443, targetPort: 6443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: hand-1, namespace: bob, labels: {kubernetes.io/service-name: hand}}
addressType: IPv4
ports: [{name: api, port: 6443, protocol: TCP}]
endpoints: [{addresses: [127.0.0.1]}, {addresses: [127.0.0.1], targetRef: {kind: Pod, name: web, namespace: bob, uid: UID}}]
YAML
  kubectl -n bob patch endpointslice hand-1 --type json -p "[{\"op\": \"replace\", \"path\": \"/endpoints/1/targetRef/uid\", \"value\": \"$(kubectl -n bob get pod web -o 'jsonpath={.metadata.uid}')\"}]" > /dev/null
  ingress bob alias alias.test / alias 'number: 443'
  ingress bob hand hand.test / hand 'number: 443'
  ingress bob none none.test / nothing 'number: 80'
  ingress bob port port.test / web 'name: other'
  expect "a name elsewhere" wait_for 10 has_event bob 'Service "alias" stands for a name elsewhere (ExternalName)'
  expect "a Service that is not there" wait_for 10 has_event bob 'spec.rules[0].http.paths[0].backend: Service "nothing" is not there'
  expect "a port that is not there" wait_for 10 has_event bob 'Service "web" has no TCP port "other"'
  for host in alias hand none port; do expect "503 for $host" wait_for 5 status_is $host.test / 503; done
  expect "the first one to answer" get ann.test / -f
}
people_take_nothing_from_one_another() {
  ingress bob steal ann.test /login web 'number: 80'
  expect "whose host it is" wait_for 10 has_event bob 'spec.rules[0].host: "ann.test" is a host of namespace ann, whose Ingress is older'
  expect "no address for it" ingress_is bob steal .status.loadBalancer.ingress ""
  kubectl -n bob delete ingress steal > /dev/null
  ingress bob mine bob.test / web 'number: 80' '  tls: [{hosts: [ann.test], secretName: forged}]'
  certificate bob.test
  secret bob forged bob.test
  expect "nor a certificate for it" wait_for 10 has_event bob 'spec.tls[0].hosts: "ann.test" is a host of namespace ann'
  expect "bob's own host" wait_for 10 get bob.test / -f
  expect "ann's certificate" get_tls ann.test / -f
  ingress bob all '*.ann.test' / web 'number: 80'
  expect "a wildcard for one label" wait_for 10 get x.ann.test / -f
  expect "and no more" status_is y.x.ann.test / 404
}
slow_peers_have_their_bounds() {
  python3 - "$http" <<'PY' > "$scratch/slow.out" &
import socket, sys
peers = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(1200)]
for one in peers: one.sendall(b"GET / HTTP/1.1\r\n")
print("open", flush=True)
sys.stdin.read()
PY
  local slow=$!
  expect "1,200 connections that ask nothing" wait_for 20 grep -q open "$scratch/slow.out"
  expect "an answer beside them" get ann.test / -f
  kill $slow 2> /dev/null
  wait $slow 2> /dev/null
}
a_load_balancer_on_the_port_is_told() {
  apply <<YAML
apiVersion: v1
kind: Service
metadata: {name: greedy, namespace: bob}
spec: {type: LoadBalancer, selector: {app: nothing}, ports: [{port: $http}]}
YAML
  expect "it" wait_for 10 has_event ann "IngressNotServed: port $http belongs to a Service of another namespace of type LoadBalancer, whose pods answer there"
  kubectl -n bob delete service greedy > /dev/null
}
ports_close_with_the_last_ingress() {
  kubectl -n ann delete ingress --all > /dev/null
  kubectl -n bob delete ingress --all > /dev/null
  expect "a closed port" wait_for 10 refuses get ann.test /
  expect "also for TLS" wait_for 10 refuses curl -sk -m 3 "https://127.0.0.1:$https/"
  ingress ann other ann.test / web 'number: 80' '  ingressClassName: nginx'
  expect "and none for another class" refuses get ann.test /
  stop_cluster
}
a_port_that_is_taken_is_told_once() {
  python3 -m http.server "$http" > /dev/null 2>&1 &
  local other=$!
  start_cluster --node-name n1 --host-rootfs --runtime runc --ingress-http "$http" --ingress-https 0
  kubectl -n ann delete pod web --wait > /dev/null
  ingress ann shop ann.test / web 'number: 80'
  expect "a line of the log" wait_for 10 grep -q "Ingresses are not served at port $http (--ingress-http): " "$scratch/up.log"
  expect "an event" wait_for 10 has_event ann "port $http of this machine is not free for Ingresses; --ingress-http names another one"
  expect "no address" ingress_is ann shop .status.loadBalancer.ingress ""
  server ann web
  kill $other 2> /dev/null
  wait $other 2> /dev/null
  expect "it to be served when the port is free" wait_for 20 get ann.test / -f
  expect "one line" [ "$(grep -c "Ingresses are not served" "$scratch/up.log")" = 1 ]
  expect "a port beyond the last" refused "--ingress-http: 70000 is not between 0 and 65535" "$volcano" up --ingress-http 70000
}

if [ $root = 0 ] || ! nft list tables > /dev/null 2>&1; then
  echo "skip ingress: it needs root and nftables"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc --ingress-http "$http" --ingress-https "$https"
run_tests a_port_opens_with_the_first_ingress requests_go_both_ways tls_comes_from_secrets backends_that_are_none_are_told people_take_nothing_from_one_another slow_peers_have_their_bounds a_load_balancer_on_the_port_is_told ports_close_with_the_last_ingress \
  a_port_that_is_taken_is_told_once
exit "${failed:-0}"
