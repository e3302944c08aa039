#!/usr/bin/env bash
# The command line against a real cluster: vcctl beyond its tables, and the programs named after Slurm's.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PATH=$PWD/build/release/bin:$PATH

submit() { # submit NAME COMMAND [flags...]
  local name=$1 command=$2
  shift 2
  vsub -n "$name" -c "$command" -i nginx:latest -R cpu=100m -L cpu=200m --output none "$@"
}
vsub_waits_and_ends_with_the_exit_code() {
  submit good "sh -c 'echo hello; sleep 2; echo bye'" -r 2 -m 2 --wait > "$scratch/good"
  expect "0" [ $? = 0 ]
  expect "progress" grep -q '^job default/good: Running, 2 running$' "$scratch/good"
  expect "its end" grep -q '^job default/good: Completed, 2 succeeded$' "$scratch/good"
  submit bad "sh -c 'exit 3'" --wait > /dev/null
  expect "3" [ $? = 3 ]
}
logs_of_all_pods() {
  expect "each line with its pod" [ "$(vcctl job logs good | sort | tr '\n' ,)" = "[good-default0-0/good] bye,[good-default0-0/good] hello,[good-default0-1/good] bye,[good-default0-1/good] hello," ]
  expect "tail" [ "$(vcctl job logs -N good --tail 1 | grep -c bye)" = 2 ]
  submit talk "sh -c 'echo one; sleep 0.5; echo two'" -r 2 -m 2 > /dev/null
  expect "follow" [ "$(timeout 20 vcctl job logs talk -f | sed 's/.* //' | sort | tr '\n' ' ')" = "one one two two " ]
}
waits_for_a_phase() {
  submit slow "sleep 1" > /dev/null
  expect "running" vcctl job wait slow --for running --timeout 10s
  expect "completed" vcctl job wait slow --timeout 20s
  vcctl job wait slow --for failed > "$scratch/wait"
  expect "another end is a failure" [ $? = 255 ]
  expect "said" grep -q 'ended as Completed, not as failed' "$scratch/wait"
}
top_says_why() {
  vsub -n huge -i nginx:latest -R cpu=1000 -L cpu=1000 > /dev/null
  expect "the reason" wait_for 10 sh -c 'vcctl top | grep -q "^default/huge .* cpu"'
  expect "vqueues" sh -c 'vqueues | grep -q "^default  *1  *Open"'
  expect "vcancel" vcancel -n huge
  expect "gone" vcctl job wait huge --for deleted --timeout 10s
}
slurm_words() {
  # The first process of a container hears no TERM before it has its trap, and would have its grace period.
  submit nap "sh -c 'trap exit TERM; echo ready; sleep 60 & wait'" > /dev/null
  vcctl job wait nap --for running --timeout 10s > /dev/null
  is_ready() { [ "$(vcctl job logs nap)" != "" ]; }
  wait_for 10 is_ready
  expect "vsuspend" vsuspend -n nap
  expect "aborted" vcctl job wait nap --for aborted --timeout 10s
  expect "vresume" vresume -n nap
  expect "running again" vcctl job wait nap --for running --timeout 10s
  expect "vjobs" sh -c 'vjobs | grep -q "^nap .*Running"'
  expect "cancel" [ "$(vcancel -n nap)" = "cancel job nap successfully" ]
}
completion_is_read_by_bash() {
  complete_line() { # complete_line WORD...: what bash offers for the last word
    bash -c 'source <(vcctl completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _volcano_complete; echo "${COMPREPLY[@]}"' - "$@"
  }
  expect "commands" [ "$(complete_line vcctl job l)" = "list logs" ]
  expect "choices" [ "$(complete_line vcctl job list -o "")" = "json yaml table" ]
  expect "flags" [ "$(complete_line vsub --na)" = "--namespace --name" ]
}

start_cluster --host-rootfs || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
run_tests vsub_waits_and_ends_with_the_exit_code logs_of_all_pods waits_for_a_phase top_says_why slurm_words completion_is_read_by_bash
