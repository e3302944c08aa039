#!/usr/bin/env bash
# Boots Debian 12 with systemd and control groups v2 in emulation, and plays node tests in it: pods under the control groups that most
# machines have today, on a machine whose first process is systemd, whatever the machine at hand has.
#
# usage: tests/vm/run.sh [TEST...]     by default what fits of the node's tests (see `usual` below); a TEST is a path of a script, such as
#                                      tests/e2e/node_test.sh
#
# Needs a release build (tools/build), root, and the packages qemu-system-x86 mmdebstrap e2fsprogs binutils; kubectl is taken from here.
# The disk of the machine is made once, in $VM_DIR (build/vm): a minute, 900 MB. All is emulated, ten to twenty times slower than here;
# with VM_KVM=1 the machine's own virtualization is used (a /dev/kvm that is there need not work: inside of other virtual machines it may
# not). Lines are those of the tests ("ok NAME", "FAIL NAME: why", "skip NAME: why"); the whole output is in $VM_DIR/out. PATIENCE (8
# without KVM) multiplies the time limits of the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
dir=${VM_DIR:-build/vm}
usual="tests/vm/unified_test.sh tests/vm/colocation_test.sh tests/vm/service_test.sh tests/e2e/node_test.sh tests/e2e/resize_test.sh tests/e2e/top_test.sh tests/e2e/exec_test.sh
  tests/e2e/probes_test.sh tests/e2e/debug_test.sh tests/e2e/huge_pages_test.sh tests/e2e/services_test.sh tests/e2e/workloads_test.sh tests/hostile/pods_test.py"
packages="systemd systemd-sysv dbus libpam-systemd udev kmod linux-image-cloud-amd64 runc conmon skopeo umoci nftables iproute2 procps python3 curl
  openssl ca-certificates tzdata docker-registry util-linux
  libabsl20220623 libfmt9 liblmdb0 libmimalloc2.0 libnghttp2-14 libprometheus-cpp-core1.0 libre2-9 libsimdjson14 libssl3 libstdc++6 libyaml-0-2"

fail() { echo "tests/vm/run.sh: $*" >&2; exit 2; }
[ "$(id -u)" = 0 ] || fail "root is needed to make the disk"
for program in qemu-system-x86_64 mmdebstrap mke2fs debugfs strip kubectl; do
  command -v $program > /dev/null || fail "$program is not installed"
done
[ -x build/release/bin/volcano ] || fail "build/release/bin/volcano is not there: tools/build release LOG"
mkdir -p "$dir"

# The machine: its disk stays as it is made here, what a run writes is thrown away.
make_machine() {
  local root=$dir/root
  rm -rf "$root"
  echo "making the machine's disk (log: $dir/mmdebstrap.log)"
  mmdebstrap --variant=minbase --include="$(echo $packages | tr ' ' ,)" bookworm "$root" > "$dir/mmdebstrap.log" 2>&1 || fail "mmdebstrap: $(tail -1 "$dir/mmdebstrap.log")"
  cat > "$root/etc/systemd/system/tests.service" << 'UNIT'
[Unit]
Description=The tests on the second disk
After=multi-user.target

[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/sh -c 'mount /dev/vdb /repo && exec /repo/tests/vm/guest.sh'
ExecStopPost=/bin/systemctl --no-block poweroff
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0

[Install]
WantedBy=multi-user.target
UNIT
  mkdir -p "$root/repo"
  ln -sf ../tests.service "$root/etc/systemd/system/multi-user.target.wants/tests.service"
  ln -sf /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service"
  for name in docker-registry.service e2scrub_reap.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer; do
    ln -sf /dev/null "$root/etc/systemd/system/$name"
  done
  printf '/dev/vda / ext4 defaults 0 1\n' > "$root/etc/fstab"
  echo volcano-vm > "$root/etc/hostname"
  printf '127.0.0.1 localhost volcano-vm\n' > "$root/etc/hosts"
  cp "$root"/boot/vmlinuz-* "$dir/vmlinuz"
  cp "$root"/boot/initrd.img-* "$dir/initrd"
  mke2fs -q -t ext4 -d "$root" "$dir/root.img.new" 6G
  rm -rf "$root"
  mv "$dir/root.img.new" "$dir/root.img"
}

# The second disk: this tree as far as tests need it, and what they say. The third: a slow one.
make_work() {
  local stage=$dir/stage
  rm -rf "$stage"
  mkdir -p "$stage/build/release/bin" "$stage/path" "$stage/out"
  cp -a build/release/bin/volcano "$stage/build/release/bin/"
  find build/release/bin -type l -exec cp -a {} "$stage/build/release/bin/" \;
  for name in fake_dra_driver libfake_nvml.so node_test colocation_test; do
    if [ -e build/release/bin/$name ]; then cp build/release/bin/$name "$stage/build/release/bin/"; fi
  done
  find "$stage/build/release/bin" -type f -exec strip {} +
  cp -a tests examples "$stage/"
  cp -L "$(command -v kubectl)" "$stage/path/kubectl"
  printf '%s\n' "$@" > "$stage/wanted"
  echo "PATIENCE=$patience" > "$stage/settings"
  rm -f "$dir/work.img" "$dir/slow.img"
  mke2fs -q -t ext4 -d "$stage" "$dir/work.img" 2G
  rm -rf "$stage"
  mke2fs -q -t ext4 "$dir/slow.img" 64M
}

# Five levels of page tables, and guards against what shares the processor, cost an emulator much and prove nothing here.
acceleration=tcg,thread=multi processor=max,la57=off patience=${PATIENCE:-8}
if [ "${VM_KVM:-0}" = 1 ]; then acceleration=kvm processor=host patience=${PATIENCE:-1}; fi
[ -e "$dir/root.img" ] || make_machine
if [ $# = 0 ]; then set -- $usual; fi
make_work "$@"
echo "booting ($acceleration)"
timeout -k 10 "${VM_SECONDS:-14400}" qemu-system-x86_64 -accel $acceleration -cpu $processor -m "${VM_MEMORY:-3072}" -smp 2 -nographic -no-reboot \
  -kernel "$dir/vmlinuz" -initrd "$dir/initrd" -append "root=/dev/vda rw console=ttyS0 quiet psi=1 mitigations=off no_timer_check nowatchdog" \
  -drive "file=$dir/root.img,format=raw,if=virtio,snapshot=on" -drive "file=$dir/work.img,format=raw,if=virtio" \
  -drive "file=$dir/slow.img,format=raw,if=virtio,throttling.iops-total=60" \
  -netdev user,id=n0,restrict=on -device virtio-net-pci,netdev=n0 < /dev/null | tee "$dir/console.log" | grep --line-buffered -aE '^(== |ok |FAIL |skip |    )' || true
rm -rf "$dir/out"
debugfs -R "rdump /out $dir" "$dir/work.img" > /dev/null 2>&1
count() { cat "$dir"/out/*.log 2> /dev/null | grep -c "^$1 " || true; }
echo "$(count ok) passed, $(count FAIL) failed, $(count skip) skipped; the whole output is in $dir/out"
[ -e "$dir/out/end" ] || fail "the machine did not come to the end of the tests; see $dir/console.log"
[ "$(count ok)" -gt 0 ] && [ "$(count FAIL)" = 0 ]
