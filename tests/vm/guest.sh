#!/usr/bin/env bash
# Inside the machine that run.sh boots: plays the tests that it names, and keeps what they say.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=$PWD/path:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
set -a
. ./settings
set +a
out=$PWD/out
echo
echo "== $(uname -r), systemd $(systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p'), /sys/fs/cgroup is $(stat -fc %T /sys/fs/cgroup), $(nproc) processors, up $(cut -d. -f1 /proc/uptime) s"
while read -r test; do
  name=$(basename "$test")
  echo "== $test"
  began=$(date +%s)
  timeout -k 10 "${SCRIPT_SECONDS:-5400}" "$test" > "$out/$name.log" 2>&1
  code=$?
  grep -qE '^(ok|FAIL|skip) ' "$out/$name.log" || echo "FAIL $name: it tested nothing" >> "$out/$name.log"
  if [ $code != 0 ] && ! grep -q '^FAIL ' "$out/$name.log"; then echo "FAIL $name: exit $code" >> "$out/$name.log"; fi
  grep -aE '^(ok|FAIL|skip) ' "$out/$name.log"
  if grep -q '^FAIL ' "$out/$name.log"; then tail -n 60 "$out/$name.log" | sed 's/^/    /'; fi
  echo "== $test took $(($(date +%s) - began)) s"
done < wanted
journalctl -b --no-pager > "$out/journal.txt" 2>&1
touch "$out/end"
sync
