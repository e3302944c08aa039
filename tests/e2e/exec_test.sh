#!/usr/bin/env bash
# Reaching into pods with stock kubectl: exec, cp and port-forward, over WebSockets and SPDY, and what bounds them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

loop='trap "exit 0" TERM; while true; do sleep 0.1; done'
run_pod() { # run_pod NAME COMMAND
  kubectl run "$1" --image=i --command -- sh -c "$2" > /dev/null
  wait_for 20 field_is pod "$1" .status.phase Running
}
# said EXIT_CODE TEXT COMMAND...: what a command answers, and how it ends
said() {
  local code=$1 text=$2 out rc
  shift 2
  out=$(timeout 20 "$@" 2>&1 < /dev/null)
  rc=$?
  [ $rc = "$code" ] && grep -qF -- "$text" <<< "$out" && return 0
  echo "exit code $rc: $out"
  return 1
}
commands_answer() {
  expect "output" said 0 hello kubectl exec p -- echo hello
  expect "errors and the exit code" said 3 oops kubectl exec p -- sh -c 'echo oops >&2; exit 3'
  expect "a signal" said 143 143 kubectl exec p -- sh -c 'kill -TERM $$'
  expect "input" [ "$(echo in | timeout 20 kubectl exec -i p -- cat)" = in ]
  expect "a terminal" said 0 /dev/pts script -qec 'kubectl exec -it p -- tty' /dev/null
  expect "the container's environment" said 0 HOSTNAME=p kubectl exec p -- env
}
missing_things_are_named() {
  expect "a program" said 1 no-such-program kubectl exec p -- no-such-program
  expect "a container" said 1 none kubectl exec p -c none -- true
  expect "a pod" said 1 'pods "none" not found' kubectl exec none -- true
  expect "no upgrade" sh -c "echo '$(api_request '/api/v1/namespaces/default/pods/p/exec?command=true&stdout=true')' | grep -q 'Upgrade request required'"
}
what_hangs_is_left() {
  timeout 1 kubectl exec p -- sleep 4321.5 > /dev/null 2>&1
  expect "nobody to be left behind a client that goes" wait_for 5 sh -c '! pgrep -f "[s]leep 4321.5"'
  run_pod brief "$loop"
  (wait_for 10 pgrep -f "^sleep 4321.5" && kubectl delete pod brief --grace-period=1 > /dev/null) &
  expect "the end of the pod to end it" said 137 137 kubectl exec brief -- sleep 4321.5
  wait $!
  # Nobody reads: the writer waits, and goes with its reader.
  kubectl exec p -- sh -c 'while true; do echo 4321.5 4321.5 4321.5 4321.5; done' 2> /dev/null | (elapse 1 a reader that is late && head -c 100) > /dev/null
  expect "the writer to go" wait_for 5 sh -c '! pgrep -f "[4]321.5 4321.5"'
}
files_are_copied() {
  head -c 20000000 /dev/urandom > "$scratch/big"
  expect "there" timeout 60 kubectl cp "$scratch/big" p:/tmp/big
  expect "and back" timeout 60 kubectl cp p:/tmp/big "$scratch/back"
  expect "the same" cmp "$scratch/big" "$scratch/back"
}
local_port() { sed -n "s/^Forwarding from 127.0.0.1:\([0-9]*\) -> $1$/\1/p" "$scratch/forward"; } # that kubectl has chosen
are_forwarded() { [ -n "$(local_port 8000)" ] && [ -n "$(local_port 8001)" ]; }
ports_are_forwarded() {
  local web_sockets forward
  kubectl run web --image=i --command -- python3 -m http.server 8000 --bind 127.0.0.1 > /dev/null
  # kubectl gives up all of its ports at the first connection that is refused.
  expect "a server in the pod" wait_for 20 kubectl exec web -- curl -m 5 -sf -o /dev/null http://127.0.0.1:8000/
  for web_sockets in true false; do
    : > "$scratch/forward" # the ports of the round before are no answer
    KUBECTL_PORT_FORWARD_WEBSOCKETS=$web_sockets kubectl port-forward pod/web :8000 :8001 > "$scratch/forward" 2>&1 &
    forward=$!
    expect "local ports" wait_for 20 are_forwarded
    expect "an answer from the pod's loopback" curl -m 5 -sf -o "$scratch/page" "http://127.0.0.1:$(local_port 8000)/"
    expect "another one" curl -m 5 -sf -o "$scratch/page" "http://127.0.0.1:$(local_port 8000)/"
    curl -s -m 5 "http://127.0.0.1:$(local_port 8001)/" > /dev/null
    expect "a port that nobody listens on to be named" wait_for 5 grep -q 'localhost:8001' "$scratch/forward"
    [ -z "$problem" ] || sed 's/^/    kubectl: /' "$scratch/forward"
    kill $forward 2> /dev/null
    wait $forward 2> /dev/null
  done
}
old_clients_use_spdy() {
  export KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false
  expect "output and exit code" said 5 spdy kubectl exec p -- sh -c 'echo spdy; exit 5'
  expect "input" [ "$(echo in | timeout 20 kubectl exec -i p -- cat)" = in ]
  expect "a terminal" said 0 /dev/pts script -qec 'kubectl exec -it p -- tty' /dev/null
  unset KUBECTL_REMOTE_COMMAND_WEBSOCKETS
}
a_new_agent_reaches_old_pods() {
  kill_cluster
  start_cluster --node-name n1 --host-rootfs --runtime "$runtime"
  expect "the answer" said 0 again kubectl exec p -- echo again
}

terminals_are_attached_to() {
  expect "what is typed to be read" [ "$(echo typed | timeout 20 kubectl run typed --image=i --restart=Never -i --rm --quiet --command -- cat)" = typed ]
  expect "the exit code" said 7 "" kubectl run seven --image=i --restart=Never -i --rm --quiet --command -- sh -c 'exit 7'
  kubectl run tty --image=i --restart=Never --stdin --tty --attach=false --command -- sh -c 'read line; tty; echo "got $line"; sleep 1000' > /dev/null
  wait_for 20 field_is pod tty .status.phase Running
  echo words | timeout 3 kubectl attach -i tty > "$scratch/attached" 2>&1
  expect "a terminal of its own" wait_for 5 sh -c 'kubectl logs tty | grep -q /dev/pts'
  expect "what was typed there" wait_for 5 sh -c 'kubectl logs tty | grep -q "got words"'
  kubectl delete pod tty --grace-period=0 > /dev/null 2>&1
}

runtimes=process
[ $root = 1 ] && runtimes="process runc"
for runtime in $runtimes; do
  echo "as $runtime"
  start_cluster --node-name n1 --host-rootfs --runtime "$runtime"
  wait_for 10 kubectl get node n1
  run_pod p "$loop"
  run_tests commands_answer missing_things_are_named what_hangs_is_left files_are_copied ports_are_forwarded old_clients_use_spdy a_new_agent_reaches_old_pods
  [ "$runtime" = runc ] && run_tests terminals_are_attached_to
  stop_cluster
  rm -rf "$scratch/data"
done
exit ${failed:-0}
