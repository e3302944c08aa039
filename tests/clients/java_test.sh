#!/usr/bin/env bash
# fabric8's client of Maven's registry, as it is, against `volcano up`: watches, a command in a pod, a forwarded port.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
trap 'stop_cluster; rm -rf "$scratch"' EXIT
clients=$PWD/build/java-clients
command -v mvn > /dev/null && command -v javac > /dev/null || { echo "skip clients: there is no Maven with a JDK"; exit 0; }
if ! ls "$clients"/lib/kubernetes-client-7*.jar > /dev/null 2>&1; then
  mvn -q -B -f tests/clients/java/pom.xml dependency:copy-dependencies -DoutputDirectory="$clients/lib" > "$scratch/mvn.log" 2>&1 ||
    { echo "skip clients: the packages of Maven cannot be fetched: $(tail -1 "$scratch/mvn.log")"; exit 0; }
fi
javac -d "$clients/classes" -cp "$clients/lib/*" tests/clients/java/Client.java || { echo "FAIL clients: fabric8 does not compile"; exit 1; }
start_cluster --host-rootfs || { echo "FAIL clients: the cluster does not start: $(tail -1 "$scratch/up.log")"; exit 1; }
timeout 200 java -cp "$clients/classes:$clients/lib/*" Client > "$scratch/out" 2>&1
code=$?
grep -E '^(ok|FAIL) ' "$scratch/out"
[ $code = 0 ] || echo "FAIL clients: exit code $code: $(tail -3 "$scratch/out")"
