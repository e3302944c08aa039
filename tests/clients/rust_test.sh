#!/usr/bin/env bash
# kube-rs of Rust's registry, as it is, against `volcano up`: watches, a command in a pod, a forwarded port.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
command -v cargo > /dev/null || { echo "skip clients: there is no Rust"; exit 0; }
export CARGO_TARGET_DIR=$PWD/build/rust-client
if ! cargo build -q --locked --manifest-path tests/clients/rust/Cargo.toml > "$scratch/cargo.log" 2>&1; then
  grep -q '^error\[E' "$scratch/cargo.log" && { echo "FAIL clients: kube-rs: $(grep -m1 '^error\[E' "$scratch/cargo.log")"; exit 1; }
  echo "skip clients: the packages of Rust cannot be built: $(tail -1 "$scratch/cargo.log")"
  exit 0
fi
start_cluster --host-rootfs || { echo "FAIL clients: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
timeout 200 "$CARGO_TARGET_DIR/debug/rust-client" > "$scratch/out" 2>&1
code=$?
grep -E '^(ok|FAIL) ' "$scratch/out"
[ $code = 0 ] || echo "FAIL clients: exit code $code: $(tail -3 "$scratch/out")"
