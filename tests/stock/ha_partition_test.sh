#!/usr/bin/env bash
# Leaders that run on without their server, and leaders whose wall clock is wrong, on a stock kube-apiserver. A network that comes apart for
# less than the deadline changes nothing; when it does so for longer another takes over within the lease, and nothing that the deposed one sent meanwhile
# arrives once the network is whole again. Clocks that are 10 minutes ahead or behind neither keep a lease nor take one.
# Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes, and gcc.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need partition etcd kube-apiserver kube-controller-manager kwok
command -v gcc > /dev/null || { echo "skip stock partition: gcc is not installed"; exit 0; }
gcc -shared -fPIC -O2 -o "$scratch/shift_clock.so" tests/stock/shift_clock.c || { echo "FAIL stock: tests/stock/shift_clock.c"; exit 1; }
set_clock() { python3 -c 'import struct, sys; open(sys.argv[1], "r+b" if sys.argv[3:] else "wb").write(struct.pack("<q", int(sys.argv[2])))' "$scratch/$1.shift" "$2" "${@:3}"; }
# Certificates that a clock behind takes, too: they are made as if it were an hour ago. The servers read the clock without libc.
set_clock keys -3600
server=("LD_PRELOAD=$scratch/shift_clock.so" "CLOCK_SHIFT_FILE=$scratch/keys.shift")
. tests/stock/ha_lib.sh
way=$((port + 9))
python3 tests/stock/partition.py $way "${STOCK_PORT:-26443}" > "$scratch/way.log" 2>&1 &
network=$!
programs+=($network)
check "the network carries" wait_for 10 grep -q carrying "$scratch/way.log"
start_apart() { # start_apart NAME PROGRAM PORT FLAG...: one whose network can come apart
  config "$1" > /dev/null
  kubectl --kubeconfig "$scratch/$1.kubeconfig" config set-cluster fixture --server "https://127.0.0.1:$way" > /dev/null
  run "$1" "$bin/$2" --kubeconfig "$scratch/$1.kubeconfig" "${elect[@]}" --enable-healthz --healthz-address "127.0.0.1:$3" "${@:4}"
  pid[$1]=$!
}
leads() { holder "$1" | grep . > /dev/null; }
writes() { python3 "$scratch/audit.py" "$scratch/audit.log" "$1" "$2"; } # writes USER SINCE
begins() { [ "$(writes "$1" "$2")" -gt 3 ]; }
jobs() { for one in 1 2 3 4; do job "$1-$one" 25; done; }
all_bound() { for one in 1 2 3 4; do bound "$1-$one" 25 || return 1; done; }
parted() { [ "$(grep -c "$1" "$scratch/way.log")" = "$2" ]; }

start controllers vc-controller-manager "$port"
check "controllers are ready" wait_for 20 ready "$port"
check "and lead" wait_for 20 leads vc-controller-manager
# Few writes a second, so that some are under way when the network comes apart.
slow=(--kube-api-qps 15 --kube-api-burst 15)
start_apart scheduler-1 vc-scheduler $((port + 1)) "${slow[@]}"
check "a scheduler leads" wait_for 20 leads volcano
start scheduler-2 vc-scheduler $((port + 2))
check "a scheduler that stands by is ready" wait_for 20 ready $((port + 2))
check "the queue default opens" wait_for 30 field_is queue default .status.state Open

first=$(holder volcano) begun=$(date +%s)
kubectl apply -f <(jobs short) > /dev/null
check "the scheduler binds" wait_for 30 begins scheduler-1 "$begun"
kill -USR1 $network
elapse 2 the length of the fault
kill -USR2 $network
check "the network was apart for 2 seconds" wait_for 5 parted mended 1
check "the same scheduler binds the rest" wait_for 90 all_bound short
check "and holds the lease" is "$(holder volcano)" "$first"

had_to_say() { # that the test has shown something
  local late lost
  read -r late lost < <(tail -1 "$scratch/way.log" | tr -cd '0-9 \n')
  [ $((late + lost)) -gt 2000 ]
}
apart() { # apart LEASE DEPOSED PREFIX: the network of the holder comes apart while it writes, until another holds the lease
  local lease_name=$1 deposed=$2 begun first
  first=$(holder "$lease_name") begun=$(date +%s)
  kubectl apply -f <(jobs "$3") > /dev/null
  check "$deposed writes" wait_for 30 begins "$deposed" "$begun"
  kill -USR1 $network
  check "without its network another takes over within the lease" wait_for $((lease + 4)) other "$lease_name" "$first"
  taken=$(date +%s)
  check "and $deposed has ended" wait_for 10 gone "$deposed"
  check "and says why" grep -q 'leaderelection lost' "$scratch/$deposed.log"
  mended=$(grep -c mended "$scratch/way.log")
  kill -USR2 $network
  check "the network is whole again" wait_for 5 parted mended $((mended + 1))
  sent=$(tail -1 "$scratch/way.log")
  echo "  $deposed: $sent"
  check "$deposed had something to say" had_to_say
  check "the other binds what was left" wait_for 90 all_bound "$3"
  check "nothing that $deposed sent arrived after its lease had ended" is "$(writes "$deposed" "$taken")" 0
}
apart volcano scheduler-1 long
start_apart controllers-2 vc-controller-manager $((port + 3)) "${slow[@]}"
check "more controllers stand by" wait_for 20 ready $((port + 3))
kill -9 "${pid[controllers]}"
wait "${pid[controllers]}" 2> /dev/null
second() { grep -q '"username":"controllers-2".*"resource":"leases".*"code":200' "$scratch/audit.log"; }
check "and lead when the first are killed" wait_for 20 second
start controllers-3 vc-controller-manager $((port + 4))
check "a third stands by" wait_for 20 ready $((port + 4))
apart vc-controller-manager controllers-2 made
made=$(python3 "$scratch/audit.py" "$scratch/audit.log" made-)
check "no pod was made twice" is "$made" "100 0"

# Wall clocks: what a record says of the time is another's opinion.
start_at() { # start_at NAME SECONDS PORT: a scheduler whose clock is that far off
  set_clock "$1" "$2"
  config "$1" > /dev/null
  LD_PRELOAD="$scratch/shift_clock.so" CLOCK_SHIFT_FILE="$scratch/$1.shift" \
    run "$1" "$bin/vc-scheduler" --kubeconfig "$scratch/$1.kubeconfig" "${elect[@]}" --enable-healthz --healthz-address "127.0.0.1:$3"
  pid[$1]=$!
}
off_by() { # off_by SECONDS: the lease was renewed by a clock that far off
  local renewed
  renewed=$(date -d "$(kubectl -n volcano-system get lease volcano -o 'jsonpath={.spec.renewTime}')" +%s)
  [ $((renewed - $(date +%s) - $1)) -ge -$((lease + 2)) ] && [ $((renewed - $(date +%s) - $1)) -le 2 ]
}
stays() { # stays: the lease does not change hands for three times its length
  local first
  first=$(holder volcano)
  ! wait_for $((3 * lease)) other volcano "$first"
}
dies() { # dies NAME: its successor comes within the lease
  local first
  first=$(holder volcano)
  kill -9 "${pid[$1]}"
  wait "${pid[$1]}" 2> /dev/null
  wait_for $((lease + 4)) other volcano "$first"
}
start_at ahead 600 $((port + 5))
check "a scheduler with a clock ahead stands by" wait_for 20 ready $((port + 5))
check "it does not take a lease that is held" stays
check "when the holder is killed it takes over within the lease" dies scheduler-2
check "its clock is ahead" wait_for 5 off_by 600
start_at behind -600 $((port + 6))
check "a scheduler with a clock behind stands by" wait_for 20 ready $((port + 6))
kubectl apply -f <(job ahead 5) > /dev/null
check "the one ahead binds" wait_for 60 bound ahead 5
check "and keeps the lease" stays
check "one behind takes over within the lease, whatever the record says" dies ahead
check "its clock is behind" wait_for 5 off_by -600
start_at steady 0 $((port + 7))
check "a scheduler with the right clock stands by" wait_for 20 ready $((port + 7))
kubectl apply -f <(job behind 5) > /dev/null
check "the one behind binds" wait_for 60 bound behind 5
check "and keeps the lease" stays
set_clock behind 600 now
check "its clock is set 20 minutes ahead" wait_for 5 off_by 600
check "it keeps the lease" stays
set_clock behind -600 now
check "its clock is set back" wait_for 5 off_by -600
check "it keeps it still" stays
kubectl apply -f <(job leaps 5) > /dev/null
check "and binds" wait_for 60 bound leaps 5
check "one with the right clock takes over within the lease" dies behind
kubectl apply -f <(job last 5) > /dev/null
check "and binds, too" wait_for 60 bound last 5
bindings=$(python3 "$scratch/audit.py" "$scratch/audit.log")
check "no pod was bound twice" is "$bindings" "320 0"
exit $failed
