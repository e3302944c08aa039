#!/usr/bin/env bash
# What a cluster that was killed for good leaves of its network goes with the next one; what others use stays.
. "$(dirname "$0")/lib.sh"

if [ $root = 0 ] || [ -z "$(command -v runc)" ] || [ -z "$(command -v conmon)" ]; then
  echo "skip left_bridge: needs root, runc and conmon"
  exit 0
fi
others=()
start_other() { # start_other NAME: a cluster in a folder of its own, with a pod that has run there
  "$volcano" up --data "$scratch/$1" --kubeconfig "$scratch/$1.kubeconfig" --port 0 --host-rootfs >> "$scratch/up.log" 2>&1 &
  others+=($!)
  wait_for 20 env KUBECONFIG="$scratch/$1.kubeconfig" kubectl get --raw /readyz
  run_pod "$1" "${2:-true}"
}
on() { # on NAME ARGUMENTS...: kubectl for that cluster
  local name=$1
  shift
  KUBECONFIG="$scratch/$name.kubeconfig" kubectl "$@"
}
pod_is() { [ "$(on "$1" get pod one -o 'jsonpath={.status.phase}')" = "$2" ]; }
run_pod() { # run_pod NAME COMMAND
  on "$1" run one --image host --restart Never --command -- sh -c "$2" > /dev/null
  if [ "$2" = true ]; then wait_for 30 pod_is "$1" Succeeded; else wait_for 30 pod_is "$1" Running; fi
}
bridge_of() { sed -E 's/.*"bridge":"(vcbr[0-9a-f]+)".*/\1/' "$scratch/$1/node/network.json"; }
has_bridge() { ip link show dev "$(bridge_of "$1")"; }
has_no_bridge() { ! has_bridge "$1"; }
is_unplugged() { [ -z "$(ip -o link show master "$(bridge_of "$1")")" ]; }
end_other() { # end_other SIGNAL NUMBER
  kill "-$1" "${others[$2]}"
  wait "${others[$2]}" 2> /dev/null
  others[$2]=""
}
what_is_left_goes_with_the_next_start() {
  expect "the first to run a pod" start_other gone
  expect "its deletion" on gone delete pod one --timeout 20s
  expect "nothing plugged in" wait_for 10 is_unplugged gone
  expect "the second to run a pod" start_other lives
  expect "its deletion" on lives delete pod one --timeout 20s
  expect "the bridge of the first while it lives" has_bridge gone
  end_other KILL 0
  expect "its bridge after it was killed" has_bridge gone
  expect "the third to run a pod" start_other next 'sleep 1000'
  expect "the bridge of the first to be gone" has_no_bridge gone
  expect "its rules of services to be gone" sh -c "! command -v nft || ! nft list table ip $(bridge_of gone)"
  expect "its packet filter rules to be gone" sh -c "! command -v iptables-save || ! iptables-save | grep -e '$(bridge_of gone)'"
  expect "the bridge of the second, which lives" has_bridge lives
}
who_comes_back_finds_its_pods() {
  end_other KILL 2
  expect "a start beside what was killed" start_other fourth
  expect "the bridge that a pod is plugged into" has_bridge next
  "$volcano" up --data "$scratch/gone" --kubeconfig "$scratch/gone.kubeconfig" --port 0 --host-rootfs >> "$scratch/up.log" 2>&1 &
  others+=($!)
  wait_for 20 env KUBECONFIG="$scratch/gone.kubeconfig" kubectl get --raw /readyz
  expect "one whose bridge was removed to make it anew" run_pod gone 'sleep 1000'
  expect "its bridge" has_bridge gone
}
forwarding_stays_while_others_need_it() {
  echo 0 > /proc/sys/net/ipv4/ip_forward
  expect "one that turns it on" start_other maker
  expect "it to be on" [ "$(cat /proc/sys/net/ipv4/ip_forward)" = 1 ]
  end_other TERM $((${#others[@]} - 1))
  expect "its bridge to be gone" has_no_bridge maker
  expect "forwarding for the others" [ "$(cat /proc/sys/net/ipv4/ip_forward)" = 1 ]
}
end_others() { # the killed one comes back, so that its stop takes its pod away
  "$volcano" up --data "$scratch/next" --kubeconfig "$scratch/next.kubeconfig" --port 0 --host-rootfs >> "$scratch/up.log" 2>&1 &
  others+=($!)
  wait_for 20 env KUBECONFIG="$scratch/next.kubeconfig" kubectl get --raw /readyz
  local pid
  for pid in "${others[@]}"; do [ -z "$pid" ] || { kill "$pid"; wait "$pid"; } 2> /dev/null; done
}

forwarding=$(cat /proc/sys/net/ipv4/ip_forward)
run_tests what_is_left_goes_with_the_next_start who_comes_back_finds_its_pods forwarding_stays_while_others_need_it
end_others
echo "$forwarding" > /proc/sys/net/ipv4/ip_forward
