#!/usr/bin/env bash
# Flags of the programs that run on a cluster: each that Volcano's have is taken by ours (spec/install 4), and what makes no sense is
# refused in words, also before --version. Prints "ok NAME" or "FAIL NAME: why". No server is asked.
set -uo pipefail
cd "$(dirname "$0")/../.."
bin=${VOLCANO_BIN:-$PWD/build/release/bin}
failed=0
common='--master=https://127.0.0.1:1 --kubeconfig=/none --ca-cert-file=a --tls-cert-file=b --tls-private-key-file=c --version --log-flush-frequency=1s
  --feature-gates=WorkLoadSupport=false,CSIStorage=true -v=4 --v=3 -v3 --logtostderr --alsologtostderr=false --vmodule=a=1 --stderrthreshold=INFO --log_dir=/tmp --log-dir=/tmp
  --log_file=x --log_file_max_size=1 --one_output --skip_headers --skip_log_headers --add_dir_header --log_backtrace_at=: --log-format=json --log-format text
  --enable-healthz --healthz-address=:1 --kube-api-qps=0.5 --kube-api-burst=7'
elect='--lock-object-namespace=x --leader-elect --leader-elect=false --leader-elect-lease-duration=20s --leader-elect-renew-deadline=12s --leader-elect-retry-period=1s
  --leader-elect-resource-lock=leases --leader-elect-resource-name=x --leader-elect-resource-namespace=y'
schedulers='--scheduler-conf=/none --resync-period=1s --listen-address=:1 --csi-storage --minimum-feasible-nodes=1 --minimum-percentage-nodes-to-find=2
  --percentage-nodes-to-find=3 --enable-metrics --node-selector=a:b --cache-dumper=false --cache-dump-dir=/x --node-worker-threads=2 --resource-sync-timeout=0
  --disable-default-scheduler-config --scheduler-sharding-mode=hard --scheduler-sharding-name=x'
declare -A flags=(
  [vc-scheduler]="$common $elect $schedulers --scheduler-name=a --scheduler-name=b --schedule-period=2s --default-queue=q --priority-class=false --enable-pprof
    --plugins-dir=/none --ignored-provisioners=a,b --gate-removal-worker-num=3 --dry-run"
  [vc-agent-scheduler]="$common $elect $schedulers --scheduler-name=a --scheduler-worker-count=2"
  [vc-controller-manager]="$common $elect --worker-threads=1 --worker-threads-for-cronjob=1 --worker-threads-for-podgroup=1 --worker-threads-for-queue=1
    --worker-threads-for-gc=2 --max-requeue-num=-1 --scheduler-name=a --scheduler-name=b --enable-metrics --listen-address=:1 --inherit-owner-annotations=false
    --controllers=*,-gc-controller,+sharding-controller --scheduler-configs=volcano:volcano:0.0:0.6:false:2:100 --shard-sync-period=30s
    --enable-node-event-trigger=false --sharding-configmap=x --sharding-configmap-namespace=y"
  [vc-webhook-manager]="$common --listen-address=127.0.0.1 --port=1 --webhook-namespace=n --webhook-service-name=s --webhook-url=u
    --enabled-admission=/jobs/mutate,/jobs/validate --scheduler-name=a --admission-conf=/none --graceful-shutdown-time=1s
    --enable-queue-allocated-pods-check --max-queue-depth=3 --enable-root-queue-protection=false --tls-secret-name=t"
  [vc-agent]="--supported-features=OverSubscription,-CPUQoS,* --healthz-address=127.0.0.1 --healthz-port=3301 --kube-cgroup-root=/x --kube-node-name=n --kube-pod-name=p
    --kube-pod-namespace=ns --oversubscription-policy=extend --oversubscription-ratio=70 --include-system-usage --extend-resource-cpu-name=a.b/cpu
    --extend-resource-memory-name=a.b/memory --version --kubeconfig=k --master=m -v=2"
  [vc-hypernode-controller-manager]="--master=m --kubeconfig=k --kube-api-qps=1 --kube-api-burst=2 --healthz-address=:1 --enable-healthz --enable-metrics
    --listen-address=:2 --version --leader-elect --leader-elect-lease-duration=20s --leader-elect-renew-deadline=12s --leader-elect-retry-period=1s
    --leader-elect-resource-lock=leases --leader-elect-resource-name=x --leader-elect-resource-namespace=y -v=4"
)
for program in "${!flags[@]}"; do
  taken=0
  set -f
  for flag in ${flags[$program]}; do
    # Each alone, and a stray argument behind it, as Volcano's chart has one.
    if out=$("$bin/$program" --version "$flag" '2>&1' 2>&1) && [[ $out == *0.1.0* ]]; then taken=$((taken + 1)); else
      [ "$flag" = text ] && continue # the value of the flag before it
      [ "$flag" = --log-format ] && continue
      echo "FAIL flags: $program $flag: $(head -1 <<< "$out")"
      failed=1
    fi
  done
  # shellcheck disable=SC2086
  if "$bin/$program" ${flags[$program]} '2>&1' > /dev/null 2>&1; then echo "ok flags: $program takes all $taken"; else
    echo "FAIL flags: $program does not take all of them together"
    failed=1
  fi
  set +f
done

refused() { # refused MESSAGE PROGRAM FLAG...
  local message=$1 out
  shift
  if out=$("$bin/$1" "${@:2}" 2>&1 < /dev/null); then
    echo "FAIL flags: $*: is taken"
    failed=1
  elif [[ $out == *"$message"* ]] && [ "$(wc -l <<< "$out")" -le 2 ]; then echo "ok flags: refused: $*"; else
    echo "FAIL flags: $*: $(head -1 <<< "$out")"
    failed=1
  fi
}
for program in vc-scheduler vc-agent-scheduler vc-controller-manager vc-webhook-manager; do
  refused 'missing bool value for WorkLoadSupport' $program --version --feature-gates=WorkLoadSupport
  refused 'unrecognized feature gate: NoSuchGate' $program --version --feature-gates=NoSuchGate=true
  refused 'invalid value of WorkLoadSupport: maybe is not a boolean' $program --feature-gates=WorkLoadSupport=maybe --version
done
refused '--log-format: "xml" is neither text nor json' vc-scheduler --log-format=xml
refused '--log-format: "xml" is neither text nor json' vc-controller-manager --log-format=xml
refused '--log-format: "xml" is neither text nor json' vc-webhook-manager --log-format=xml
refused 'neither --kubeconfig nor --master is given' vc-scheduler
refused '--kubeconfig: cannot open /none' vc-scheduler --kubeconfig /none
# A file that names no context says nothing, as for kubectl.
empty=$(mktemp)
refused "--kubeconfig: $empty names no current-context" vc-scheduler --kubeconfig "$empty"
KUBECONFIG=$empty refused '127.0.0.1:1' vcctl --master http://127.0.0.1:1 job list
KUBERNETES_MASTER=http://127.0.0.1:2 KUBECONFIG=$empty refused '127.0.0.1:2' vcctl job list
rm -f "$empty"
for program in vc-scheduler vc-agent-scheduler vc-controller-manager; do
  refused '--leader-elect-lease-duration' $program --master https://127.0.0.1:1 --leader-elect --leader-elect-lease-duration=0s
  refused '--leader-elect-lease-duration: 3s is not above' $program --master https://127.0.0.1:1 --leader-elect --leader-elect-lease-duration=3s
done
# The texts of the stand-alone HyperNode controller, and of a controller that is named twice, are those that scripts know.
refused 'kube-api-qps must be greater than zero, not 0' vc-hypernode-controller-manager --kube-api-qps=0
refused 'kube-api-qps must be greater than zero, not -1' vc-hypernode-controller-manager --kube-api-qps=-1
refused 'kube-api-burst must be greater than zero, not 0' vc-hypernode-controller-manager --kube-api-burst=0
refused 'invalid healthz-address: address "nowhere" is not host:port' vc-hypernode-controller-manager --enable-healthz --healthz-address=nowhere
refused 'invalid listen-address: address "1.2.3.4:x" is not host:port' vc-hypernode-controller-manager --enable-metrics --listen-address=1.2.3.4:x
for address in :8081 127.0.0.1:8081; do
  refused "healthz-address and listen-address must be different when both endpoints are enabled; $address and :8081 overlap" \
    vc-hypernode-controller-manager --enable-healthz --enable-metrics --healthz-address=$address
done
for list in gc-controller,-gc-controller gc-controller,+gc-controller; do
  refused "--controllers: controllers option gc-controller cannot have both '-' and '+' prefixes" vc-controller-manager --controllers=$list
done
refused 'neither --kubeconfig nor --master is given' vc-hypernode-controller-manager --listen-address=nowhere
mine=$(mktemp) && echo 'clusters: [{name: prod}]' > "$mine"
refused 'holds other clusters (prod)' volcano up --data "$(mktemp -d)" --port 0 --components apiserver --kubeconfig "$mine"
refused '--pytorch-init-container-template-file: cannot read /tmp' manager --enable-gang-scheduling=true --kubeconfig /none --pytorch-init-container-template-file /tmp
refused '--pytorch-init-container-template-file: cannot read /tmp' training-operator --kubeconfig /none --pytorch-init-container-template-file /tmp
refused 'both ' vc-webhook-manager --ca-cert-file /none
refused '--tls-secret-name needs --webhook-namespace and --webhook-service-name' vc-webhook-manager --tls-secret-name x --webhook-url u
refused 'failed to read cacert file (/none)' vc-webhook-manager --webhook-url u --ca-cert-file /none
refused 'the port should be in the range of 1 and 65535' vc-webhook-manager --port 0
refused '--plugins-dir: ' vc-scheduler --plugins-dir="$(d=$(mktemp -d) && touch "$d/one.so" && echo "$d")"
refused '--secret: the name of the Secret is needed' gen-admission-secret.sh --service s
refused 'cannot open /none' gen-admission-secret.sh --service s --secret t --kubeconfig /none
refused '--program: "kubelet" is none of scheduler, controllers, admission, agent-scheduler, hypernode-controller, kubeflow-controllers, agent' volcano preflight --program kubelet

# Structured logs: each line that is logged is JSON with these keys.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check() { # check NAME COMMAND...
  if "${@:2}" > "$scratch/why" 2>&1; then echo "ok flags: $1"; else
    echo "FAIL flags: $1: $(tail -1 "$scratch/why")"
    failed=1
  fi
}
wait_for() { for _ in $(seq 200); do "$@" > /dev/null 2>&1 && return 0; sleep 0.1; done; return 1; }
structured() { # structured FILE
  python3 -c 'import json,sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert lines and all({"time", "level", "component", "message"} == set(line) for line in lines), lines' "$1"
}
logs_of() { # logs_of NAME PROGRAM FLAG...: runs it until it has logged something
  "$bin/$2" "${@:3}" --log-format json > /dev/null 2> "$scratch/$1.log" &
  local pid=$!
  wait_for grep message "$scratch/$1.log"
  kill $pid
  wait $pid 2> /dev/null
  check "structured logs of $1" structured "$scratch/$1.log"
}
export DEBUG_SOCKET_DIR=$scratch/socks
logs_of vc-scheduler vc-scheduler --master http://127.0.0.1:1 --leader-elect=false
logs_of training-operator training-operator --master http://127.0.0.1:1 --metrics-bind-address 0 --health-probe-bind-address 0 --webhook-server-port 0 --logtostderr -v=1
logs_of "volcano up" volcano up --data "$scratch/up" --port 0 --components apiserver,scheduler --scheduler-conf /none --logtostderr -v=1
refused '--log-format: "xml" is neither text nor json' volcano up --log-format=xml
refused '--log-format: "xml" is neither text nor json' training-operator --log-format=xml

# Help wherever it is asked for, and values of our own flags.
check "help behind another flag" sh -c "'$bin/volcano' up --data x --help | grep -q '^usage: volcano up'"
check "help by its letter" sh -c "'$bin/volcano' simulate -h | grep -q '^usage: volcano simulate'"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' > "$scratch/map.yaml"
refused '--output: "bogus" is neither yaml nor json' volcano admit --output bogus "$scratch/map.yaml"

# The folder in which a program was started may be gone.
in_no_folder() { mkdir "$scratch/gone" && (cd "$scratch/gone" && rmdir "$scratch/gone" && exec "$bin/volcano" "$@"); }
says() { # says CODE TEXT COMMAND...
  "${@:3}" < /dev/null > "$scratch/said" 2>&1
  local code=$?
  grep -qF -- "$2" "$scratch/said" && [ $code = "$1" ] || { head -1 "$scratch/said"; false; }
}
check "up in a folder that is gone" says 1 'volcano up: the current folder cannot be named: No such file' in_no_folder up --data here
check "image in a folder that is gone" says 1 'volcano image: the current folder cannot be named: No such file' in_no_folder image list --data here
check "image of a file there" says 1 'the current folder cannot be named' in_no_folder image import --data "$scratch/data" name file

# A file without an end is not read to its end.
bounded() { (ulimit -v 8000000; says "$@"); }
ln -s /dev/zero "$scratch/endless.yaml"
check "an endless world" bounded 2 'it has more than 67108864 bytes' "$bin/volcano" simulate /dev/zero
check "endless manifests" bounded 2 'it has more than 1073741824 bytes' "$bin/volcano" admit /dev/zero
check "an endless configuration" bounded 2 'it has more than 16777216 bytes' "$bin/volcano" schedule --config /dev/zero "$scratch/map.yaml"
check "an endless job" bounded 255 'it has more than 67108864 bytes' "$bin/vcctl" job run --master http://127.0.0.1:1 -f "$scratch/endless.yaml"

# What others wrote into files moves no cursor, and ends no line of a comment.
raw=$'\e'
printf 'apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: "a\\e[2J\\n# Job b: allowed"}\nspec: {}\n' > "$scratch/hostile.yaml"
printf '"a\\u001b[2J" = 1\n' > "$scratch/hostile.toml"
clean() { # clean COMMAND...
  "$@" < /dev/null > "$scratch/raw" 2>&1
  grep -q u001b "$scratch/raw" && ! grep -q "$raw" "$scratch/raw" || { head -1 "$scratch/raw"; false; }
}
check "a hostile world" clean "$bin/volcano" simulate "$scratch/hostile.toml"
check "hostile manifests" clean "$bin/volcano" admit "$scratch/hostile.yaml"
check "with no lines of their own" test "$(grep -c '^# Job b: allowed' "$scratch/raw")" = 0
printf 'apiVersion: v1\nkind: Node\nmetadata: {name: "n\\e[2J"}\nstatus: {allocatable: {cpu: 8, pods: 9}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: "a\\e[2J", namespace: d}\nspec: {schedulerName: volcano, containers: [{name: c}]}\n' > "$scratch/hostile-pod.yaml"
check "hostile objects" clean "$bin/volcano" schedule "$scratch/hostile-pod.yaml"
check "a hostile configuration" clean "$bin/volcano" schedule --config "none$raw" "$scratch/map.yaml"
check "a hostile flag" clean "$bin/volcano" preflight --program "none$raw"

# The level of a scheduler that runs, over the socket that Volcano's have.
socket=$scratch/socks/klog-klog.sock
"$bin/vc-scheduler" --master http://127.0.0.1:1 --leader-elect=false -v=3 2> "$scratch/level.log" &
pid=$!
ask() { curl -sg --max-time 5 --unix-socket "$socket" "http://localhost$1"; }
answers() { local out; out=$(ask "$1"); [ "$out" = "$2" ] || { echo "$out"; false; }; }
check "the socket is there" wait_for ask /getlevel
check "for this user alone" test "$(stat -c %a "$scratch/socks") $(stat -c %a "$socket")" = "700 600"
check "the level is asked for" answers /getlevel 'Current klog log level: 3'
check "and changed" answers '/setlevel?level=5&duration=2s' 'Change klog log level to 5 successfully and  for 2s'
check "which is in force" answers /getlevel 'Current klog log level: 5'
check "and ends" wait_for answers /getlevel 'Current klog log level: 3'
check "no level is refused" answers '/setlevel?duration=1s' 'level: "" is not between 1 and 100'
check "a level of none is refused" answers '/setlevel?level=-1&duration=1s' 'level: "-1" is not between 1 and 100'
check "no time is refused" answers '/setlevel?level=5&duration=0s' 'duration: "0s" is not a time above zero, such as 5m'
check "other pages are not there" answers /other '404 page not found'
head -c 20000 /dev/zero | timeout 10 python3 -c 'import socket, sys
one = socket.socket(socket.AF_UNIX)
one.connect(sys.argv[1])
try: one.sendall(sys.stdin.buffer.read()); one.recv(1)
except OSError: pass' "$socket"
check "too long a question ends, and the next is answered" answers /getlevel 'Current klog log level: 3'
"$bin/vc-scheduler" --master http://127.0.0.1:1 --leader-elect=false 2> "$scratch/second.log" &
second=$!
check "a second one says who has it" wait_for grep "another process answers at $socket" "$scratch/second.log"
check "and lives" kill -0 $second
kill $pid $second
wait $pid $second 2> /dev/null
check "the socket goes with its owner" test ! -e "$socket"

# What a probe reads of a HyperNode controller that has not seen the cluster.
port=$(python3 -c 'import socket; one = socket.create_server(("127.0.0.1", 0)); print(one.getsockname()[1])')
"$bin/vc-hypernode-controller-manager" --master http://127.0.0.1:1 --leader-elect=false --enable-healthz --healthz-address "127.0.0.1:$port" 2> "$scratch/hypernode.log" &
pid=$!
readyz() { [ "$(curl -s --max-time 5 -w ' %{http_code}' "http://127.0.0.1:$port/readyz" | tr -d '\n')" = "$1" ]; }
check "a HyperNode controller says that it is not ready" wait_for readyz 'HyperNode controller is not ready: the first lists are not complete 503'
kill $pid
wait $pid 2> /dev/null
exit $failed
