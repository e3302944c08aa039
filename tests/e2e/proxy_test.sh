#!/usr/bin/env bash
# HTTP to pods and services by way of the API server: pods/NAME/proxy, services/NAME/proxy.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pods=/api/v1/namespaces/default/pods services=/api/v1/namespaces/default/services
raw() { kubectl get --raw "$1"; }
says() { [ "$("${@:2}")" = "$1" ]; } # says TEXT COMMAND...
# A server of pages, posts, a stream without end, and an upgrade to an echo.
page_server() {
  cat <<'PYTHON'
import http.server, ssl, sys, time
class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.headers.get("Upgrade") == "echo":
            self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
            while line := self.rfile.readline(): self.wfile.write(b"echo " + line)
            self.close_connection = True
        elif self.path == "/large": self.answer(b"x" * 20_000_000)
        elif self.path == "/moved":
            self.send_response(302); self.send_header("Location", "/there"); self.send_header("Content-Length", "0"); self.end_headers()
        elif self.path == "/ticks":
            self.send_response(200); self.send_header("Connection", "close"); self.end_headers()
            while True: self.wfile.write(b"tick\n"); time.sleep(0.1)
        else: self.answer(("%s %s" % (self.path, self.headers.get("Authorization"))).encode())
    def do_POST(self): self.answer(self.rfile.read(int(self.headers["Content-Length"])))
    def answer(self, body):
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Pages)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2] + "/tls.crt", sys.argv[2] + "/tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
PYTHON
}

a_pod_answers() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=web -keyout "$scratch/tls.key" -out "$scratch/tls.crt" 2> /dev/null
  kubectl create configmap pages --from-literal=pages.py="$(page_server)" --from-file="$scratch/tls.key" --from-file="$scratch/tls.crt" > /dev/null
  kubectl apply --validate=false -f - > /dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  volumes: [{name: pages, configMap: {name: pages}}]
  containers:
  - name: main
    image: i
    command: [python3, /pages/pages.py, "8080"]
    ports: [{name: http, containerPort: 8080}]
    volumeMounts: [{name: pages, mountPath: /pages}]
    readinessProbe: {periodSeconds: 1, tcpSocket: {port: 8080}}
  - name: secure
    image: i
    command: [python3, /pages/pages.py, "8443", /pages]
    volumeMounts: [{name: pages, mountPath: /pages}]
    readinessProbe: {periodSeconds: 1, tcpSocket: {port: 8443}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
YAML
  expect "the pod to be ready" kubectl wait --for=condition=Ready pod/web --timeout=30s
  expect "the port that its container names" says "/a%2Fb?watch=true None" api_request "$pods/web/proxy/a%2Fb?watch=true"
  expect "a port by number" says "/ None" raw "$pods/http:web:8080/proxy/"
  expect "a place without a slash to lead to the one with it" says 301 api_request "$pods/web/proxy" -o /dev/null -w '%{http_code}'
  expect "what is posted" says hello api_request "$pods/web/proxy/" -d hello
  expect "TLS" says "/ None" raw "$pods/https:web:8443/proxy/"
  expect "a large answer by TLS" says 20000000 sh -c "kubectl get --raw $pods/https:web:8443/proxy/large | wc -c"
  expect "plain HTTP to refuse TLS" refused "error trying to reach service: TLS: " raw "$pods/https:web:8080/proxy/"
  expect "a large answer" says 20000000 sh -c "kubectl get --raw $pods/web/proxy/large | wc -c"
  expect "a way that leads through the server" says "$pods/web/proxy/there" \
    sh -c "curl -s -o /dev/null -w '%header{location}' --cacert $scratch/data/keys/ca.crt -H 'Authorization: Bearer $(cat "$scratch/data/keys/token")' $(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')$pods/web/proxy/moved"
}
a_service_answers() {
  expect "the endpoint to be told" wait_for 10 raw "$services/web:http/proxy/"
  expect "its port by name" says "/x None" raw "$services/web:http/proxy/x"
  expect "its port by number" says "/x None" raw "$services/http:web:80/proxy/x"
  expect "a port that it has not to be named" refused 'no service port 81 found for service "web"' raw "$services/web:81/proxy/"
}
streams_and_upgrades_go_through() {
  expect "lines as they come" sh -c "timeout 3 kubectl get --raw $pods/web/proxy/ticks | head -3 | grep -c tick | grep -qx 3"
  local server
  server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
  expect "an echo" timeout 10 python3 - "${server#https://}" "$scratch/data/keys" "$pods/web/proxy/echo" <<'PYTHON'
import socket, ssl, sys
host, keys, path = sys.argv[1:]
name, port = host.rsplit(":", 1)
context = ssl.create_default_context(cafile=keys + "/ca.crt")
with context.wrap_socket(socket.create_connection((name, int(port))), server_hostname=name) as peer:
    peer.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {open(keys + '/token').read().strip()}\r\n"
                  "Connection: Upgrade\r\nUpgrade: echo\r\n\r\n").encode())
    lines = peer.makefile("rb")
    assert lines.readline().startswith(b"HTTP/1.1 101 "), "no upgrade"
    while lines.readline().strip(): pass
    for word in (b"one\n", b"two\n"):
        peer.sendall(word)
        assert lines.readline() == b"echo " + word
PYTHON
}
who_has_no_role_is_refused() {
  "$volcano" user create ann --data "$scratch/data" --server "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')" -o "$scratch/ann" > /dev/null 2>&1
  expect "ann to be forbidden" refused 'cannot get resource "pods/proxy"' kubectl --kubeconfig "$scratch/ann" get --raw "$pods/web/proxy/"
  kubectl create role proxies --verb=get --resource=pods/proxy > /dev/null
  kubectl create rolebinding proxies --role=proxies --user=ann > /dev/null
  expect "ann to be let in" says "/ None" kubectl --kubeconfig "$scratch/ann" get --raw "$pods/web/proxy/"
}
a_pod_that_does_not_answer_is_named() {
  expect "nobody at the port" refused "error trying to reach service" raw "$pods/web:9/proxy/"
  expect "no such pod" refused 'pods "none" not found' raw "$pods/none/proxy/"
  kubectl delete pod web --wait > /dev/null
  expect "a service without pods" wait_for 10 refused 'no endpoints available for service "web"' raw "$services/web:80/proxy/"
}

if [ $root = 0 ]; then
  echo "skip proxy: containers need root"
  exit 0
fi
start_cluster --node-name n1 --host-rootfs --runtime runc
run_tests a_pod_answers a_service_answers streams_and_upgrades_go_through who_has_no_role_is_refused a_pod_that_does_not_answer_is_named
exit "${failed:-0}"
