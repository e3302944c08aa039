#!/usr/bin/env bash
# NetworkPolicies on this machine, with stock kubectl: what passes between pods, services, node ports and this machine, while policies come and go; and pods that pretend.
. "$(dirname "$0")/lib.sh"

if [ $root = 0 ] || [ -z "$(command -v runc)" ] || [ -z "$(command -v conmon)" ] || [ -z "$(command -v nft)" ]; then
  echo "skip network_policies: needs root, runc, conmon and nft"
  exit 0
fi
apply() { kubectl apply --validate=false -f - > "$scratch/apply.out" 2>&1; }
pod() { # pod NAMESPACE NAME LABELS COMMAND [more of the spec]
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: $1, labels: {$3}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  ${5:-}
  containers:
  - {name: main, image: i, command: [sh, -c, "$4"], ports: [{name: http, containerPort: 8080}]}
---
YAML
}
policy() { # policy NAMESPACE NAME SPEC
  printf 'apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: %s, namespace: %s}\nspec: %s\n' "$2" "$1" "$3" | apply
}
ip_of() { kubectl -n "$1" get pod "$2" -o 'jsonpath={.status.podIP}'; }
ask() { kubectl -n "$1" exec "$2" -- curl -sf -m 3 "http://$3/"; } # ask NAMESPACE POD PLACE
passes() { wait_for 10 ask "$@"; }
is_refused() { ! ask "$@" > /dev/null 2>&1; }
is_refused_at_once() { # not by silence
  kubectl -n "$1" exec "$2" -- curl -s -m 3 "http://$3/"
  [ $? = 7 ]
}
says_no_more_than_created() { [ "$("$@")" = "networkpolicy.networking.k8s.io/deny created" ]; }
refuses() { wait_for 10 is_refused "$@"; }
serve='mkdir /w && cd /w && echo $HOSTNAME > index.html && exec python3 -m http.server 8080'
pods_start() {
  kubectl create namespace a > /dev/null
  kubectl create namespace b > /dev/null
  kubectl label namespace b team=b > /dev/null
  { pod a web "app: web" "$serve"; pod a client "app: client" "sleep 1000"; pod b client "app: client" "sleep 1000"; pod b other "app: other" "sleep 1000"; pod b web "app: web" "$serve"; } | apply
  printf 'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: a}\nspec: {type: NodePort, selector: {app: web}, ports: [{port: 80, targetPort: http}]}\n' | apply
  expect "the pods to be ready" kubectl wait -n a --for=condition=Ready pod/web pod/client --timeout=30s
  expect "those of b, too" kubectl wait -n b --for=condition=Ready pod/web pod/client pod/other --timeout=30s
  web=$(ip_of a web)
  gateway=${web%.*}.1
  bridge=$(ip -4 -o addr show | awk '/vcbr/ && /'"${web%.*}"'/ {print $2}')
  node_port=$(kubectl -n a get service web -o 'jsonpath={.spec.ports[0].nodePort}')
  expect "all to reach all without a policy" passes b client "$web:8080"
  expect "no table of policies without a policy" refused "No such file" nft list table ip "${bridge}_policies"
}
a_policy_refuses() {
  expect "no warning" says_no_more_than_created sh -c 'printf "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: deny, namespace: a}\nspec: {podSelector: {}}\n" | kubectl create -f - 2>&1'
  expect "a pod of another namespace" refuses b client "$web:8080"
  expect "one of the same" refuses a client "$web:8080"
  expect "the address of the service" refuses b client "$(kubectl -n a get service web -o 'jsonpath={.spec.clusterIP}')"
  expect "the node port, from a pod" refuses b client "$gateway:$node_port"
  expect "at once, not by silence" is_refused_at_once b client "$web:8080"
  expect "itself" passes a web "$web:8080"
  expect "this machine" curl -sf -m 3 "http://$web:8080/"
  expect "this machine by the node port" curl -sf -m 3 "http://$gateway:$node_port/"
  expect "the other way" passes a client "$(ip_of b web):8080"
  expect "pods that no policy selects" passes b client "$(ip_of b web):8080"
  expect "the pod to stay ready" kubectl wait -n a --for=condition=Ready pod/web --timeout=5s
}
policies_allow() {
  policy a peers '{podSelector: {matchLabels: {app: web}}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: b}}, podSelector: {matchLabels: {app: client}}}], ports: [{port: http}]}]}'
  expect "the one that it names" passes b client "$web:8080"
  expect "the service" passes b client "$(kubectl -n a get service web -o 'jsonpath={.spec.clusterIP}')"
  expect "the node port" passes b client "$gateway:$node_port"
  expect "not the one beside it" refuses b other "$web:8080"
  expect "not one of the same namespace" refuses a client "$web:8080"
  kubectl -n b label pod other --overwrite app=client > /dev/null
  expect "one that gets the label" passes b other "$web:8080"
  kubectl -n b label pod other --overwrite app=other > /dev/null
  expect "and not after it lost it" refuses b other "$web:8080"
  kubectl label namespace b team- > /dev/null
  expect "not when its namespace lost the label" refuses b client "$web:8080"
  policy a peers '{podSelector: {matchLabels: {app: web}}, ingress: [{from: [{ipBlock: {cidr: '"${web%.*}.0/24, except: [$(ip_of b other)/32]"'}}], ports: [{port: 8000, endPort: 8090}]}]}'
  expect "a block" passes b client "$web:8080"
  expect "not its hole" refuses b other "$web:8080"
  kubectl -n a delete networkpolicy peers > /dev/null
  expect "nothing when it is gone" refuses b client "$web:8080"
}
egress_is_judged() {
  kubectl -n a delete networkpolicy deny > /dev/null
  policy b out '{podSelector: {matchLabels: {app: client}}, policyTypes: [Egress], egress: [{to: [{podSelector: {matchLabels: {app: web}}}]}]}'
  expect "what it allows" passes b client "$(ip_of b web):8080"
  expect "not another namespace" refuses b client "$web:8080"
  expect "not its service" refuses b client "$(kubectl -n a get service web -o 'jsonpath={.spec.clusterIP}')"
  expect "names, which this machine answers" kubectl -n b exec client -- getent hosts web.a
  expect "the API server" kubectl -n b exec client -- curl -sk -m 3 https://kubernetes.default.svc/version
  expect "the other pod" passes b other "$web:8080"
  pod b early "app: client" "curl -s -m 3 http://$web:8080/ && touch /reached; sleep 1000" | apply
  expect "a new pod" kubectl wait -n b --for=condition=Ready pod/early --timeout=30s
  expect "its first packets to be refused" wait_for 10 kubectl -n b exec early -- sh -c '! [ -e /reached ]'
  kubectl -n b delete networkpolicy out > /dev/null
  expect "all of it when the policy is gone" passes b client "$web:8080"
}
# A byte is sent and answered twenty times a second, until the connection ends.
connections_live() {
  cat > "$scratch/talk.py" <<'PY'
import socketserver

class Talk(socketserver.BaseRequestHandler):
    def handle(self):
        while self.request.recv(99):
            self.request.send(b"x")

socketserver.ThreadingTCPServer(("", 7000), Talk).serve_forever()
PY
  kubectl -n a create configmap talk --from-file="$scratch/talk.py" > /dev/null
  pod a talker "app: talker" "exec python3 /t/talk.py" "volumes: [{name: t, configMap: {name: talk}}]" | sed 's/image: i,/image: i, volumeMounts: [{name: t, mountPath: \/t}],/' | apply
  expect "the server" kubectl wait -n a --for=condition=Ready pod/talker --timeout=30s
  cat > "$scratch/say.py" <<PY
import socket, sys, time
one = socket.create_connection(("$(ip_of a talker)", 7000), 3)
for count in range(3000):
    one.send(b"x")
    if not one.recv(99): break
    print(count, flush=True)
    time.sleep(0.05)
PY
  for who in client other; do kubectl -n b exec -i $who -- python3 - < "$scratch/say.py" > "$scratch/said-$who" 2>&1 & done
  expect "both to talk" wait_for 10 sh -c "[ \$(wc -l < $scratch/said-client) -gt 5 ] && [ \$(wc -l < $scratch/said-other) -gt 5 ]"
  policy a half '{podSelector: {matchLabels: {app: talker}}, ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {app: client}}}]}]}'
  expect "the one that is not allowed to end" wait_for 10 grep -qE 'Error|reset|timed out' "$scratch/said-other"
  local count
  count=$(wc -l < "$scratch/said-client")
  expect "the other to go on" wait_for 10 sh -c "[ \$(wc -l < $scratch/said-client) -gt $((count + 20)) ]"
  expect "and without an error" sh -c "! grep -q Error $scratch/said-client"
  kubectl -n a delete pod talker --wait > /dev/null
  kubectl -n a delete networkpolicy half > /dev/null
}
received() { kubectl -n a exec ear -- cat /heard; }
hears() { received | grep -q "$1"; }
lie() { kubectl -n b exec -i other -- python3 - "$@" < tests/e2e/network_liar.py; }
say() { # say NAMESPACE POD TEXT: a datagram as anybody sends it
  kubectl -n "$1" exec "$2" -- python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'$3', ('$ear', 5353))"
}
is_heard() { say "$@" && hears "$3"; }
liars_are_not_believed() {
  cat > "$scratch/ear.py" <<'PY'
import socket
ear = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
ear.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
ear.bind(("::", 5353))
heard = open("/heard", "w")
while True:
    print(ear.recv(99).decode(errors="replace"), file=heard, flush=True)
PY
  kubectl -n a create configmap ear --from-file="$scratch/ear.py" > /dev/null
  pod a ear "app: ear" "exec python3 /t/ear.py" "volumes: [{name: t, configMap: {name: ear}}]" | sed 's/image: i,/image: i, volumeMounts: [{name: t, mountPath: \/t}],/' | apply
  expect "the pod that hears" kubectl wait -n a --for=condition=Ready pod/ear --timeout=30s
  ear=$(ip_of a ear)
  expect "it to hear anybody" wait_for 10 is_heard b other before
  policy a friends '{podSelector: {matchLabels: {app: ear}}, ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {app: client}}}]}]}'
  expect "the policy" refuses b other "$ear:5353"
  local friend word
  friend=$(ip_of b client)
  for word in spoof vlan broadcast arp six answer; do expect "the $word" lie $word "$ear" "$friend"; done
  expect "the liar" say b other direct
  expect "the friend to be heard after all that" wait_for 10 is_heard b client friend
  for word in spoof vlan broadcast six answer direct; do expect "nothing of $word: $(received | tr '\n' ' ')" sh -c "! kubectl -n a exec ear -- grep -q $word /heard"; done
  # The link's address that the friend knows for the ear, and this machine, is still the ear's.
  expect "the friend's neighbours" sh -c "kubectl -n b exec client -- cat /proc/net/arp | grep -w $ear | grep -q $(printf '0a:58:%02x:%02x:%02x:%02x' ${ear//./ })"
  curl -s -m 1 "http://$ear:9/"
  expect "this machine's, too" sh -c "ip neigh show $ear | grep -q $(printf '0a:58:%02x:%02x:%02x:%02x' ${ear//./ })"
}
rules_outlive_a_crash() {
  kill_cluster
  expect "the rules to stay without the program" nft list table ip "${bridge}_policies"
  start_cluster --node-name n1 --host-rootfs --runtime runc
  expect "the pods" kubectl wait -n b --for=condition=Ready pod/other pod/client --timeout=30s
  policy a deny '{podSelector: {matchLabels: {app: web}}}'
  expect "the new program to judge" refuses b client "$(ip_of a web):8080"
  expect "the old policy" refuses b other "$(ip_of a ear):5353"
}
nothing_is_left() {
  stop_cluster
  expect "no table" sh -c "! nft list tables | grep -q $bridge"
}

start_cluster --node-name n1 --host-rootfs --runtime runc
run_tests pods_start a_policy_refuses policies_allow egress_is_judged connections_live liars_are_not_believed rules_outlive_a_crash nothing_is_left
exit "${failed:-0}"
