#!/usr/bin/env bash
# Two schedulers and two controller managers on a stock kube-apiserver: one of each acts. The leader is killed, or stopped and let go on
# a minute later: the other takes over within the lease, no pod is bound twice, and nothing that a deposed leader decided arrives (the audit log
# of the server shows all bindings). Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need ha etcd kube-apiserver kube-controller-manager kwok
server=() # nothing more of it
. tests/stock/ha_lib.sh
start scheduler-1 vc-scheduler "$port"
start controllers-1 vc-controller-manager $((port + 1))
check "a scheduler is ready" wait_for 20 ready "$port"
check "controllers are ready" wait_for 20 ready $((port + 1))
start scheduler-2 vc-scheduler $((port + 2))
start controllers-2 vc-controller-manager $((port + 3))
check "a scheduler that stands by is ready" wait_for 20 ready $((port + 2))
check "and so are controllers" wait_for 20 ready $((port + 3))
check "the queue default opens" wait_for 30 field_is queue default .status.state Open
kubectl apply -f <(job before 20) > /dev/null
check "a job runs" wait_for 60 bound before 20

first=$(holder volcano) begun=$(date +%s%N)
kill -9 "${pid[scheduler-1]}"
wait "${pid[scheduler-1]}" 2> /dev/null
kubectl apply -f <(job killed 20) > /dev/null
check "when the scheduler is killed the other takes over" wait_for 60 bound killed 20
took=$((($(date +%s%N) - begun) / 1000000))
check "the lease is another's" other volcano "$first"
echo "  takeover of the scheduler, kill to the last of 20 binds: $took ms (lease $lease s)"
first=$(holder vc-controller-manager)
kill -9 "${pid[controllers-1]}"
wait "${pid[controllers-1]}" 2> /dev/null
kubectl apply -f <(job controllers-killed 5) > /dev/null
check "when the controllers are killed the others take over" wait_for 60 bound controllers-killed 5
check "and hold their lease" other vc-controller-manager "$first"

# The leader stands still with decisions on its way, its lease ends, the other decides, and it goes on.
start scheduler-3 vc-scheduler $((port + 4))
check "a third scheduler stands by" wait_for 20 ready $((port + 4))
first=$(holder volcano)
kubectl apply -f <(for i in 1 2 3 4; do job "stopped-$i" 25; done) > /dev/null
for _ in $(seq 100); do grep -q '"name":"stopped-' "$scratch/audit.log" 2> /dev/null && break; sleep 0.05; done
kill -STOP "${pid[scheduler-2]}"
stopped=$(date +%s)
check "when the scheduler stands still the other takes over within the lease" wait_for $((lease + 4)) other volcano "$first"
taken=$(date +%s)
all_bound() { for i in 1 2 3 4; do bound "stopped-$i" 25 || return 1; done; }
check "and binds what was left" wait_for 90 all_bound
# A minute in all, and work all along: it goes on to an old view, and to what is there to be decided.
count=0
until [ $(($(date +%s) - stopped)) -ge 60 ]; do
  count=$((count + 1))
  kubectl apply -f <(job "meanwhile-$count" 5) > /dev/null
  wait_for 4 bound "meanwhile-$count" 5
done
kubectl apply -f <(job pending 20) > /dev/null
kill -CONT "${pid[scheduler-2]}"
check "the one that stood still ends when it goes on" wait_for 10 gone scheduler-2
check "and says why" grep -q 'leaderelection lost' "$scratch/scheduler-2.log"
check "what came meanwhile is bound" wait_for 60 bound pending 20
all_meanwhile() { for ((one = 1; one <= count; ++one)); do bound "meanwhile-$one" 5 || return 1; done; }
check "as are the $count jobs of the minute" wait_for 60 all_meanwhile

bindings=$(python3 "$scratch/audit.py" "$scratch/audit.log")
echo "  bindings and double ones: $bindings"
check "no pod was bound twice" is "$bindings" "$((165 + 5 * count)) 0"
check "the deposed one had written before" sh -c "[ \$(python3 '$scratch/audit.py' '$scratch/audit.log' scheduler-2 0) -gt 0 ]"
check "and nothing after its lease had ended" is "$(python3 "$scratch/audit.py" "$scratch/audit.log" scheduler-2 "$taken")" 0

# The same of controllers: they go on with a job that came meanwhile, once.
start controllers-3 vc-controller-manager $((port + 5))
check "third controllers stand by" wait_for 20 ready $((port + 5))
first=$(holder vc-controller-manager)
kill -STOP "${pid[controllers-2]}"
kubectl apply -f <(job while-stopped 10) > /dev/null
check "when the controllers stand still the others take over" wait_for 60 bound while-stopped 10
taken=$(date +%s)
kill -CONT "${pid[controllers-2]}"
check "those that stood still end when they go on" wait_for 10 gone controllers-2
check "and have written nothing since" is "$(python3 "$scratch/audit.py" "$scratch/audit.log" controllers-2 "$taken")" 0
took=$(python3 "$scratch/audit.py" "$scratch/audit.log" controllers-3 first)
check "those that took over had written nothing before" test "$took" -ge 0
echo "  takeover of the controllers, lease taken to first write: $took ms"
check "no pod was made twice" is "$(python3 "$scratch/audit.py" "$scratch/audit.log" while-stopped-w-)" "10 0"

# A lease that is refused is told, and taken once it is not.
kubectl create serviceaccount poor > /dev/null
cp "$KUBECONFIG" "$scratch/poor.kubeconfig"
kubectl --kubeconfig "$scratch/poor.kubeconfig" config set-credentials poor --token="$(kubectl create token poor)" > /dev/null
kubectl --kubeconfig "$scratch/poor.kubeconfig" config set-context --current --user poor > /dev/null
run poor "$bin/vc-scheduler" --kubeconfig "$scratch/poor.kubeconfig" "${elect[@]}"
check "a lease that is refused is named with the account" wait_for 10 grep -q 'lease volcano-system/volcano: .*system:serviceaccount:default:poor.*leases' "$scratch/poor.log"
exit $failed
