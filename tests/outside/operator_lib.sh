# What the tests of strangers' operators share: keys, and webhooks as their kustomizations make them. Source it after lib.sh.
port=$(free_port)
managers=()
end_of_operator() {
  [ "${#managers[@]}" = 0 ] || kill "${managers[@]}" 2> /dev/null
  [ "${failed:-0}" = 0 ] || tail -n 20 "$scratch"/operator*.log
  end_of_tests
}
trap end_of_operator EXIT

apply() { kubectl apply --validate=false -f - > "$scratch/apply.out" 2>&1; }
make_keys() { # in the folder that operators serve by
  mkdir -p "$scratch/certs"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=hooks -addext subjectAltName=IP:127.0.0.1 -keyout "$scratch/certs/tls.key" -out "$scratch/certs/tls.crt" 2> /dev/null
}
# The settings that operators made with kubebuilder have: no Secret is mounted here, and ports are of the loopback.
settings() { # settings [more of its metrics]
  cat <<YAML
leaderElection: {leaderElect: true, resourceNamespace: default}
internalCertManagement: {enable: false}
webhook: {port: $port, host: 127.0.0.1, certDir: $scratch/certs}
metrics: {${1:-}bindAddress: "127.0.0.1:0"}
health: {healthProbeBindAddress: "127.0.0.1:0"}
YAML
}
start_operator() { # start_operator PROGRAM FLAGS...: it serves on $port
  "$@" > "$scratch/operator-$(basename "$1").log" 2>&1 &
  managers+=($!)
  wait_for 60 sh -c "curl -sk -o /dev/null https://127.0.0.1:$port/ || ! kill -0 ${managers[-1]}"
  curl -sk -o /dev/null "https://127.0.0.1:$port/"
}
# webhooks NAME MANIFEST LABEL: applied, with their addresses here; those of pods for pods with the label alone.
webhooks() {
  python3 - "$@" "$port" "$scratch/certs/tls.crt" <<'PY' | kubectl apply --validate=false -f -
import base64, re, sys
name, manifest, label, port, certificate = sys.argv[1:]
text, bundle = open(manifest).read(), base64.b64encode(open(certificate, "rb").read()).decode()
text = re.sub(r"name: (mutating|validating)-webhook-configuration", rf"name: {name}-\1-webhook-configuration", text)
text = re.sub(r"    service:\n      name: webhook-service\n      namespace: system\n      path: (\S+)", rf"    url: https://127.0.0.1:{port}\1\n    caBundle: {bundle}", text)
text = re.sub(r"(  name: [mv]pod\.kb\.io\n)", rf"\1  objectSelector: {{matchExpressions: [{{key: {label}, operator: Exists}}]}}\n", text)
print(text)
PY
}
