#!/usr/bin/env bash
# end to end with Debian's kubectl, the oldest that has to work
# on: src tests/e2e examples
old_kubectl=$PWD/build/old-kubectl
if [ ! -x "$old_kubectl/usr/bin/kubectl" ]; then
  mkdir -p "$old_kubectl"
  (cd "$old_kubectl" && apt-get download kubernetes-client && dpkg -x kubernetes-client_*.deb .) > "$log/old-kubectl.log" 2>&1
fi
if "$old_kubectl/usr/bin/kubectl" version --client --short > /dev/null 2>&1; then
  for test in tests/e2e/{api,kinds,job}_test.sh; do PATH=$old_kubectl/usr/bin:$PATH script "$test"; done
else
  echo "  skipped: Debian's package kubernetes-client cannot be fetched; see $log/old-kubectl.log"
  count 0 0 1
fi
