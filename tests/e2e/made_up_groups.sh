# A machine that is made up: what tests of the node agent share.
# The files that a kernel has in a group of version 2.
group() { # group FOLDER [BYTES-OF-MEMORY]
  mkdir -p "$1"
  printf '100\n' > "$1/cpu.weight"
  printf 'max 100000\n' > "$1/cpu.max"
  printf 'max\n' | tee "$1/memory.max" "$1/memory.high" > /dev/null
  printf '0\n' | tee "$1/memory.low" "$1/memory.min" "$1/cpu.idle" > /dev/null
  printf 'usage_usec 0\n' > "$1/cpu.stat"
  printf 'anon %s\nfile 0\n' "${2:-0}" > "$1/memory.stat"
}
