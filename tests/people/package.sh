#!/usr/bin/env bash
# The Debian package as an administrator meets it: dpkg -i on a copy of this machine (an overlay over its root that goes
# with the test), the unit, the man pages, the completion, the tools, and dpkg -r.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
PATH=$PWD/build/release/bin:$PATH

machine() { chroot "$scratch/machine" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb "$@"; }
# Nothing below the mount is ever removed by name: it would be gone from the overlay file by file.
leave_machine() {
  stop_cluster
  umount -R -l "$scratch/machine" 2> /dev/null
  umount -l "$scratch/layers" 2> /dev/null
  mountpoint -q "$scratch/machine" && scratch=$(mktemp -d)
}
trap 'leave_machine; end_of_tests' EXIT

make_machine() {
  mkdir -p "$scratch/layers" "$scratch/machine"
  mount -t tmpfs -o size=200m tmpfs "$scratch/layers" && mkdir "$scratch/layers/upper" "$scratch/layers/work" &&
    mount -t overlay overlay -o "lowerdir=/,upperdir=$scratch/layers/upper,workdir=$scratch/layers/work" "$scratch/machine" &&
    mount -t proc proc "$scratch/machine/proc" && mount --bind /dev "$scratch/machine/dev"
}
it_installs() {
  expect "a package" deploy/debian "$scratch/deb"
  cp "$scratch"/deb/volcano_*.deb "$scratch/machine/root/volcano.deb"
  expect "dpkg -i" machine dpkg -i /root/volcano.deb
  expect "all of it to be there" [ "$(machine dpkg-query -W -f '${db:Status-Abbrev}' volcano)" = "ii " ]
  expect "each file to be as it was packed" [ -z "$(machine dpkg --verify volcano 2>&1)" ]
  expect "a licence" grep -q 'Apache License' "$scratch/machine/usr/share/doc/volcano/copyright"
}
its_tools_work() {
  local name
  for name in volcano vcctl vsub vjobs vqueues vcancel vsuspend vresume vc-agent vc-scheduler vc-agent-scheduler vc-controller-manager vc-hypernode-controller-manager vc-webhook-manager training-operator volcano-ui; do
    expect "$name --help" machine "$name" --help
  done
  expect "its version" sh -c "chroot '$scratch/machine' /usr/bin/volcano version | grep -qi '0\.1\.0'"
}
its_man_pages_are_found() {
  local page
  for page in volcano volcano-up vcctl vsub vjobs vqueues vcancel vsuspend vresume; do
    expect "a page of $page" test -s "$scratch/machine/usr/share/man/man1/$page.1.gz"
    if command -v groff > /dev/null; then
      expect "a page of $page without an error" [ -z "$(gunzip -c "$scratch/machine/usr/share/man/man1/$page.1.gz" | groff -man -ww -z -T utf8 2>&1)" ]
    fi
    expect "its name" sh -c "gunzip -c '$scratch/machine/usr/share/man/man1/$page.1.gz' | grep -q '^.SH NAME'"
  done
}
its_completion_works() {
  # As bash-completion loads it: the file of the command's name, then its function.
  machine bash -c 'source /usr/share/bash-completion/completions/vsub; spec=$(complete -p vsub); function=${spec#*-F }; function=${function%% *}
    COMP_WORDS=(vsub --arr); COMP_CWORD=1; COMP_LINE="vsub --arr"; COMP_POINT=10; $function vsub --arr vsub; printf "%s\n" "${COMPREPLY[@]}"' > "$scratch/completed" 2>&1
  expect "a flag" grep -qx -- '--array *' "$scratch/completed"
  expect "zsh to have one" test -s "$scratch/machine/usr/share/zsh/site-functions/_vcctl"
}
its_unit_starts_it() {
  local command
  if command -v systemd-analyze > /dev/null; then
    expect "a unit without an error" machine systemd-analyze verify /usr/lib/systemd/system/volcano.service
  fi
  command=$(sed -n 's/^ExecStart=//p' "$scratch/machine/usr/lib/systemd/system/volcano.service")
  machine bash -c "exec $command --port 0 --node-name n1 --runtime process --data /root/data" > "$scratch/up.log" 2>&1 &
  cluster=$!
  export KUBECONFIG=$scratch/machine/root/data/kubeconfig
  expect "the API server" wait_for 20 kubectl get --raw /readyz
  expect "the node" wait_for 20 kubectl get node n1
  cp "$KUBECONFIG" "$scratch/machine/root/kubeconfig"
  expect "its own tool to see it" machine env KUBECONFIG=/root/kubeconfig vqueues
  stop_cluster
}
it_goes_away() {
  expect "dpkg -r" machine dpkg -r volcano
  expect "nothing of it to be left" [ -z "$(find "$scratch/machine/usr" "$scratch/machine/lib/" -name 'volcano*' -newer "$scratch/deb" 2> /dev/null)" ]
  expect "the data to stay" test -d "$scratch/machine/root/data"
}

[ $root = 1 ] || { echo "skip package: it needs root"; exit 0; }
command -v dpkg-deb > /dev/null || { echo "skip package: there is no dpkg"; exit 0; }
make_machine || { echo "skip package: no overlay over this machine's root can be made"; exit 0; }
run_tests it_installs its_tools_work its_man_pages_are_found its_completion_works its_unit_starts_it it_goes_away
exit ${failed:-0}
