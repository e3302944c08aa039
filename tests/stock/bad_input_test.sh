#!/usr/bin/env bash
# What is wrong around our programs, on a stock kube-apiserver: each is named in a message, nothing crashes, and once it is right they go
# on without a restart. Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need "bad input" etcd kube-apiserver
start_server KWOK=0 KCM=0
server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
kubectl create namespace volcano-system > /dev/null
port=${STOCK_HEALTH_PORT:-28811}
config() { # config NAME CA SERVER: a kubeconfig with a file for its token
  cp "$scratch/pki/admin.token" "$scratch/$1.token"
  cat > "$scratch/$1.kubeconfig" << YAML
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$3", certificate-authority: $2}}]
users: [{name: u, user: {tokenFile: $scratch/$1.token}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
YAML
}
ready() { curl -fs "http://127.0.0.1:$1/readyz"; }
why() { curl -s "http://127.0.0.1:$1/readyz"; }
says() { why "$1" | grep "$2" > /dev/null; }
start() { # start NAME PROGRAM PORT FLAG...
  run "$1" "$bin/$2" --kubeconfig "$scratch/$1.kubeconfig" --enable-healthz --healthz-address "127.0.0.1:$3" "${@:4}"
}
alive() { kill -0 "$1"; }

# A CA that has not signed the server.
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/other.key" -out "$scratch/other.crt" -days 2 -subj /CN=other 2> /dev/null
config wrong-ca "$scratch/other.crt" "$server"
start wrong-ca vc-scheduler "$port"
check "a wrong CA is named" wait_for 10 grep -qi 'certificate' "$scratch/wrong-ca.log"
check "with the server" grep -q "$(sed 's#https://##' <<< "$server")" "$scratch/wrong-ca.log"
check "and the scheduler lives" alive "${programs[-1]}"
kill "${programs[-1]}"

# A server that is not there yet, then one without our CRDs, then a token that does not count any more.
config later "$scratch/pki/ca.crt" "https://127.0.0.1:$((port + 9))"
config controllers "$scratch/pki/ca.crt" "https://127.0.0.1:$((port + 9))"
start later vc-scheduler $((port + 1)) --leader-elect=false
scheduler=${programs[-1]}
start controllers vc-controller-manager $((port + 2)) --leader-elect=false
controllers=${programs[-1]}
check "a server that cannot be reached is named" wait_for 10 grep -q "127.0.0.1:$((port + 9))" "$scratch/later.log"
check "by the controllers, too" wait_for 10 grep -q "127.0.0.1:$((port + 9))" "$scratch/controllers.log"
check "and the scheduler is not ready" sh -c "! curl -fs http://127.0.0.1:$((port + 1))/readyz"
cat > "$scratch/forward.py" << 'PY'
import socket, sys, threading
def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for one in (a, b):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    near, _ = listener.accept()
    far = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
PY
run forward python3 "$scratch/forward.py" $((port + 9)) "${server##*:}"
forward=${programs[-1]}
check "once it is there, missing CRDs are named" wait_for 20 grep -q 'podgroups.* cannot be listed' "$scratch/later.log"
check "where the scheduler is asked, too" wait_for 10 says $((port + 1)) 'cannot be listed'
check "with what to do" wait_for 10 grep -q 'volcano crd' "$scratch/later.log"
"$bin/volcano" crd | kubectl apply --server-side -f - > /dev/null
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
check "once they are there it is ready" wait_for 60 ready $((port + 1))
check "and so are the controllers" wait_for 60 ready $((port + 2))
job() { printf 'apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s}\nspec: {minAvailable: 1, schedulerName: volcano, tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}\n' "$1"; }
has_group() { kubectl get podgroups -o name | grep "/$1-" > /dev/null; }
kubectl apply -f <(job before) > /dev/null
check "a job gets its group" wait_for 20 has_group before
echo expired > "$scratch/controllers.token"
kill "$forward" # the next connection has to show the token
run forward python3 "$scratch/forward.py" $((port + 9)) "${server##*:}"
# A token file is read again after a minute: until then jobs still get their groups with the old one.
tried=0
is_named() { kubectl apply -f <(job "try-$((tried += 1))") > /dev/null; sleep 1; grep -qi 'unauthorized' "$scratch/controllers.log"; }
# A write that fails is tried again later and later: a change of the job asks for one now.
goes_on() { kubectl annotate job.batch.volcano.sh/after poke=$RANDOM --overwrite > /dev/null; sleep 1; has_group after; }
check "a token that does not count is named" wait_for 90 is_named
kubectl apply -f <(job after) > /dev/null
cp "$scratch/pki/admin.token" "$scratch/controllers.token"
check "with a new one they go on" wait_for 120 goes_on
not_ended() { [ "$(kubectl get jobs.batch.volcano.sh -o 'jsonpath={.items[?(@.status.state.phase=="Terminated")].metadata.name}')" = "" ]; }
check "and no job was ended for it" not_ended
check "without a restart" alive "$controllers"
check "and so does the scheduler" alive "$scheduler"

# A configuration that goes away, is rubbish, and comes back.
config follower "$scratch/pki/ca.crt" "$server"
printf 'actions: "enqueue, allocate"\ntiers:\n- plugins: [{name: gang}, {name: predicates}]\n' > "$scratch/scheduler.conf"
start follower vc-scheduler $((port + 3)) --scheduler-conf "$scratch/scheduler.conf" --leader-elect=false --enable-metrics --listen-address "127.0.0.1:$((port + 4))"
follower=${programs[-1]}
check "a scheduler with a configuration is ready" wait_for 20 ready $((port + 3))
mv "$scratch/scheduler.conf" "$scratch/away.conf"
check "a configuration that has gone is named, and stays in force" wait_for 10 grep -q "configuration $scratch/scheduler.conf: .*; the previous one stays" "$scratch/follower.log"
echo 'actions: "fly"' > "$scratch/scheduler.conf"
check "rubbish is named" wait_for 10 grep -q 'fly' "$scratch/follower.log"
sed 's/allocate/allocate, backfill/' "$scratch/away.conf" > "$scratch/scheduler.conf"
kill -HUP "$follower"
in_force() { curl -fs "http://127.0.0.1:$((port + 4))/debug/config" | grep backfill > /dev/null; }
check "a good one is taken at SIGHUP" wait_for 10 in_force
check "and it lives" alive "$follower"
exit $failed
