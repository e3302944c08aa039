#!/usr/bin/env bash
# The images of deploy/images/build: the same digests twice, small, nothing in them that does not belong there, and each started by runc as the
# chart starts it (user 1000, no capabilities, a root that cannot be written): its version, and then, with the chart's arguments, accounts
# and configuration, against a stock kube-apiserver until its probes are answered and job-1 has ended.
# Prints "ok NAME" or "FAIL NAME: why". Needs root, runc, and for the second half what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
for tool in umoci skopeo runc; do command -v $tool > /dev/null || { echo "skip stock images: $tool is not installed"; exit 0; }; done
[ "$(id -u)" = 0 ] || { echo "skip stock images: containers need root here"; exit 0; }
need images etcd kube-apiserver kube-controller-manager kwok
containers=()
end_containers() {
  for name in "${containers[@]}"; do runc --root "$scratch/runc" delete --force "$name" > /dev/null 2>&1; done
  finish
}
trap end_containers EXIT
images="vc-scheduler vc-controller-manager vc-webhook-manager vc-agent-scheduler vc-agent vc-hypernode-controller-manager training-operator volcano-ui"

# 1. The build.
check "the images are built" deploy/images/build --program "$bin/volcano" --out "$scratch/images"
again() { (umask 077 && mkdir "$scratch/other" && cd / && TZ=Asia/Tokyo TMPDIR=$scratch/other "$OLDPWD/deploy/images/build" --program "$bin/volcano" --out "$scratch/again"); }
check "and once more, elsewhere, by somebody with another umask and time zone" again
names_no_folder() { ! grep -aqF "$PWD/" "$bin/volcano"; }
check "the program does not name the folder it was built in" names_no_folder
check "their digests are the same" cmp "$scratch/images/oci/index.json" "$scratch/again/oci/index.json"
check "the archives, too" cmp "$scratch/images/vc-scheduler.tar" "$scratch/again/vc-scheduler.tar"
inspect() { skopeo inspect "$1" "oci:$scratch/images/oci:$2"; } # inspect --raw|--config IMAGE
as_stated() { # as_stated IMAGE: below 40 MB compressed, user, entry point, labels; the layers are those of all images
  inspect --raw "$1" > "$scratch/manifest" && inspect --config "$1" > "$scratch/config" || return 1
  python3 - "$scratch" "$1" "$(git rev-parse HEAD)" << 'PY'
import json, sys
folder, name, commit = sys.argv[1:]
manifest, image = (json.load(open(f"{folder}/{file}")) for file in ("manifest", "config"))
size = sum(layer["size"] for layer in manifest["layers"])
assert size < 40e6, f"{size} bytes"
config = image["config"]
assert (config["User"], config["Entrypoint"], config.get("Cmd")) == ("1000:1000", ["/" + name], None), config
labels = {key.removeprefix("org.opencontainers.image."): value for key, value in config["Labels"].items()}
assert labels["title"] == name and labels["description"] and labels["version"] and labels["licenses"] == "Apache-2.0", labels
assert labels["revision"].removesuffix("-dirty") == commit and labels["created"] == image["created"], labels
layers = [layer["digest"] for layer in manifest["layers"]]
first = json.load(open(f"{folder}/first")) if name != "vc-scheduler" else json.dump(layers, open(f"{folder}/first", "w")) or layers
assert layers == first, "its layers are its own"
PY
}
for image in $images; do check "$image: size, user, entry point, labels" as_stated "$image"; done
refused() { ! deploy/images/build --out "$scratch/images" vc-shceduler 2> "$scratch/refused" && grep -q 'vc-shceduler is not an image; there are: vc-scheduler' "$scratch/refused"; }
check "a name that is none is refused" refused

# 2. What is inside.
bundle() { [ -d "$scratch/bundles/$1" ] || { mkdir -p "$scratch/bundles" && umoci unpack --image "$scratch/images/oci:$1" "$scratch/bundles/$1"; }; }
for image in $images; do check "$image is unpacked" bundle "$image"; done
root=$scratch/bundles/vc-scheduler/rootfs
none() { local found; found=$("$@") && [ -z "$found" ] || { echo "$found" | head -3 | xargs; return 1; }; } # none COMMAND...: it finds nothing
check "nothing is setuid or setgid" none find "$root" -perm /6000
check "nothing but /tmp can be written by all" none find "$root" ! -type l -perm /002 ! -path "$root/tmp"
check "all belongs to root" none find "$root" ! -user 0 -o ! -group 0
check "the one program is ours" none find "$root" -type f -perm /111 ! -path "$root/usr/bin/volcano" ! -name '*.so.*'
check "the program keeps its build's identifier" sh -c "[ \"\$(readelf -n '$root/usr/bin/volcano' | grep 'Build ID')\" = \"\$(readelf -n '$bin/volcano' | grep 'Build ID')\" ]"
check "and is stripped" sh -c "! readelf -S '$root/usr/bin/volcano' | grep -qE '\.symtab|\.debug'"
entries() { # every library has an entry, a checksum and a copyright that a scanner finds
  local database=$root/var/lib/dpkg/status.d
  (cd "$root" && md5sum --quiet -c "$database"/*.md5sums) || return 1
  for library in "$root"/usr/lib/*/*.so*; do
    [ -L "$library" ] || grep -q "  ${library#"$root/"}$" "$database"/*.md5sums || { echo "$library is of no package"; return 1; }
  done
  for entry in "$database"/*; do
    [[ $entry == *.md5sums ]] && continue
    grep -q '^Version: .' "$entry" && [ -s "$root/usr/share/doc/${entry##*/}/copyright" ] || { echo "$entry has no version or no copyright"; return 1; }
  done
}
check "each library has its package's entry" entries
leads() { # leads LINK: as it is read inside
  local target
  target=$(readlink "$1")
  [[ $target == /* ]] && target=$root$target || target=$(dirname "$1")/$target
  [ -e "$target" ] || [ -L "$target" ]
}
links() { find "$root" -type l | while read -r link; do leads "$link" || { echo "$link leads nowhere"; return 1; }; done; }
check "each link leads somewhere" links
certificates() { [ "$(grep -c BEGIN "$root/usr/lib/ssl/cert.pem")" = "$(find "$root/usr/share/ca-certificates" -name '*.crt' | wc -l)" ] && [ "$(grep -c BEGIN "$root/usr/lib/ssl/cert.pem")" -gt 100 ]; }
check "the certificates are the package's, and no other" certificates

# 3. As containers.
start() { # start IMAGE NAME [ARGUMENT...]: waits for its end; with `mounts`, `environment` and `words`
  local image=$1 name=$2
  shift 2
  bundle "$image" > "$scratch/unpack.log" 2>&1 || return 1
  mkdir -p "$scratch/containers/$name"
  # What the chart's security context says, and the network of this machine, as hostNetwork would.
  python3 - "$scratch/bundles/$image" "${mounts:-}" "${environment:-}" "${words:-}" "$@" > "$scratch/containers/$name/config.json" << 'PY'
import json, sys
folder, mounts, environment, words, *arguments = sys.argv[1:]
config = json.load(open(folder + "/config.json"))
process = config["process"]
process["terminal"] = False
process["args"] = (words.split() or process["args"]) + arguments
process["env"] += environment.split()
process["capabilities"] = {}
config["root"] = {"path": folder + "/rootfs", "readonly": True}
config["linux"]["namespaces"] = [one for one in config["linux"]["namespaces"] if one["type"] not in ("network", "cgroup")]
config["linux"].pop("resources", None)
config["mounts"] = [one for one in config["mounts"] if one["type"] != "cgroup"]
config["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777", "size=16m"]})
for mount in mounts.split():
    source, at = mount.split(":")
    config["mounts"].append({"destination": at, "type": "bind", "source": source, "options": ["rbind", "ro"]})
json.dump(config, sys.stdout)
PY
  containers+=("$name")
  exec runc --root "$scratch/runc" run --bundle "$scratch/containers/$name" "$name"
}
says_version() { (start "$1" "version-$1" --version < /dev/null) | grep -E '^volcano [0-9]|[Vv]ersion'; }
for image in $images; do check "$image says its version" says_version "$image"; done
as_manager() { (words=/manager start training-operator as-manager --enable-gang-scheduling=true --version < /dev/null) | grep -E '^volcano [0-9]|[Vv]ersion'; }
check "and by the name that Kubeflow's own Deployment starts" as_manager
by_name() { (words=training-operator start training-operator by-name --version < /dev/null) | grep -E '^volcano [0-9]|[Vv]ersion'; }
check "training-operator is found by its name, as the chart starts it" by_name

# 4. On a server, with the arguments, accounts and configuration of deploy/volcano.yaml.
start_server
kubectl create namespace volcano-system > /dev/null
check "deploy/volcano.yaml" kubectl apply --server-side -f deploy/volcano.yaml
check "deploy/volcano-agent-scheduler.yaml" kubectl apply --server-side -f deploy/volcano-agent-scheduler.yaml
kubectl wait --for condition=established --timeout=30s crd --all > /dev/null 2>&1
port=${STOCK_HOOK_PORT:-29450}
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/tls.key" -out "$scratch/tls.crt" -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2> /dev/null
mkdir "$scratch/certificates"
cp "$scratch/tls.key" "$scratch/tls.crt" "$scratch/certificates"
cp "$scratch/tls.crt" "$scratch/certificates/ca.crt"
chmod 644 "$scratch/certificates"/*
chmod 755 "$scratch"
# The server cannot reach services here, so webhooks are called by address.
for hook in $(kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o name | grep volcano-admission-service); do
  path=$(kubectl get "$hook" -o 'jsonpath={.webhooks[0].clientConfig.service.path}')
  kubectl patch "$hook" --type json -p "[{op: replace, path: /webhooks/0/clientConfig, value: {url: 'https://127.0.0.1:$port$path'}}]" > /dev/null
done
folder() { # folder CONFIGMAP: what it holds, as files
  mkdir -p "$scratch/$1"
  kubectl -n volcano-system get configmap "$1" -o go-template='{{range $file, $text := .data}}{{$file}}{{"\n"}}{{end}}' | while read -r file; do
    kubectl -n volcano-system get configmap "$1" -o "jsonpath={.data['${file//./\\.}']}" > "$scratch/$1/$file"
  done
}
account() { # account NAME: the folder that a pod of the account has
  mkdir -p "$scratch/account-$1"
  kubectl -n volcano-system create token "$1" > "$scratch/account-$1/token"
  kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d > "$scratch/account-$1/ca.crt"
  printf volcano-system > "$scratch/account-$1/namespace"
}
# The hook job, with another Secret than the Deployment's, as the server calls that by address.
hook() {
  local given
  account volcano-admission-init
  read -r -a given <<< "$(kubectl -n volcano-system get job volcano-admission-init -o 'jsonpath={.spec.template.spec.containers[0].args[*]}')"
  (
    mounts="$scratch/account-volcano-admission-init:/var/run/secrets/kubernetes.io/serviceaccount"
    environment="KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=${STOCK_PORT:-26443}"
    words=$(kubectl -n volcano-system get job volcano-admission-init -o 'jsonpath={.spec.template.spec.containers[0].command[*]}')
    start vc-webhook-manager hook "${given[@]}" --secret made-by-hook < /dev/null
  )
}
check "the hook job runs in the webhook's image" hook
check "and makes a certificate" sh -c "kubectl -n volcano-system get secret made-by-hook -o 'jsonpath={.data.tls\.crt}' | base64 -d | openssl x509 -noout -ext subjectAltName | grep -q volcano-admission-service.volcano-system.svc"
deployed() { # deployed DEPLOYMENT IMAGE HEALTH-PORT "MOUNTS" [ARGUMENT...]: as it says, in the background, health on this port
  local name=$1 image=$2 health=$3 words
  account "volcano-$name"
  mounts="$scratch/account-volcano-$name:/var/run/secrets/kubernetes.io/serviceaccount $4"
  environment="KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=${STOCK_PORT:-26443} KUBE_POD_NAMESPACE=volcano-system HELM_RELEASE_NAME=volcano"
  shift 4
  local given
  read -r -a given <<< "$(kubectl -n volcano-system get deployment "volcano-$name" -o 'jsonpath={.spec.template.spec.containers[0].args[*]}')"
  containers+=("$name")
  words="" mounts=$mounts environment=$environment run "$name" start "$image" "$name" "${given[@]}" --healthz-address "127.0.0.1:$health" "$@"
}
for map in volcano-scheduler-configmap volcano-agent-scheduler-configmap volcano-admission-configmap; do folder $map; done
deployed admission vc-webhook-manager $((port + 1)) "$scratch/certificates:/admission.local.config/certificates $scratch/volcano-admission-configmap:/admission.local.config/configmap" --port "$port"
deployed controllers vc-controller-manager $((port + 2)) "" --listen-address "127.0.0.1:$((port + 4))"
deployed scheduler vc-scheduler $((port + 3)) "$scratch/volcano-scheduler-configmap:/volcano.scheduler" --listen-address "127.0.0.1:$((port + 5))"
deployed agent-scheduler vc-agent-scheduler $((port + 6)) "$scratch/volcano-agent-scheduler-configmap:/volcano.scheduler" --listen-address "127.0.0.1:$((port + 7))"
check "the webhook is healthy" wait_for 30 curl -fsk "https://127.0.0.1:$((port + 1))/healthz"
check "the controllers are ready" wait_for 30 curl -fs "http://127.0.0.1:$((port + 2))/readyz"
check "the scheduler is healthy" wait_for 30 curl -fs "http://127.0.0.1:$((port + 3))/healthz"
check "the agent scheduler is healthy" wait_for 30 curl -fs "http://127.0.0.1:$((port + 6))/healthz"
check "the scheduler's metrics are served" wait_for 10 sh -c "curl -fs http://127.0.0.1:$((port + 5))/metrics | grep -q ^volcano_"
as_user() { # as_user NAME: the kernel says 1000, no capabilities, and a root that cannot be written
  local pid
  pid=$(runc --root "$scratch/runc" state "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])') || return 1
  grep -qP '^Uid:\t1000\t1000\t1000\t1000$' "/proc/$pid/status" && grep -qP '^CapEff:\t0+$' "/proc/$pid/status" && grep -qE ' / / ro[, ]| /.* / ro[, ]' "/proc/$pid/mountinfo"
}
for name in admission controllers scheduler agent-scheduler; do check "$name: user 1000, no capabilities, a read-only root" as_user $name; done
check "the queue default opens" wait_for 40 field_is queue default .status.state Open
kubectl apply -f - > /dev/null << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "2", memory: 8Gi, pods: "50"}, allocatable: {cpu: "2", memory: 8Gi, pods: "50"}}
YAML
check "the example's queue is admitted" wait_for 20 kubectl apply -f examples/manifests/queue-test.yaml
check "job-1 is admitted" wait_for 20 kubectl apply -f examples/manifests/job-1.yaml
check "job-1 completes" wait_for 60 field_is vcjob job-1 .status.state.phase Completed
hurry() {
  kubectl apply -f - << 'YAML'
apiVersion: v1
kind: Pod
metadata: {name: hurry}
spec: {schedulerName: agent-scheduler, containers: [{name: c, image: i}]}
YAML
}
check "a single pod" hurry
check "is placed by the agent scheduler" wait_for 30 field_is pod hurry .spec.nodeName n1
ends() { runc --root "$scratch/runc" kill "$1" TERM && wait_for 20 sh -c "! runc --root '$scratch/runc' state '$1'"; }
for name in scheduler agent-scheduler controllers admission; do check "$name ends when it is told to" ends $name; done

# 5. The archives elsewhere: our own machines take them, and those that skopeo makes of the layout.
import() { "$bin/volcano" image import --data "$scratch/data" "$1" "$2"; }
for image in $images; do check "volcano image import takes $image" import "volcanosh/$image:latest" "$scratch/images/$image.tar"; done
check "and an OCI archive of it" sh -c "skopeo copy --insecure-policy 'oci:$scratch/images/oci:vc-scheduler' 'oci-archive:$scratch/oci.tar:x' && '$bin/volcano' image import --data '$scratch/data' other '$scratch/oci.tar'"
imported() { [ "$("$bin/volcano" image list --data "$scratch/data" | grep -c volcanosh/)" = 6 ]; }
check "all are listed" imported
exit $failed
