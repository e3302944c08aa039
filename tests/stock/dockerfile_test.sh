#!/usr/bin/env bash
# deploy/images/Dockerfile, built by buildah without a docker daemon: each image has the user, entry point and files of those that
# deploy/images/build makes. The stage that compiles is given what it would have made (`--build-context`): it needs Debian's image from a
# registry and an hour, and runs the commands that the other tests run here. Prints "ok NAME" or "FAIL NAME: why". Needs root and buildah.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${VOLCANO_BIN:-$PWD/build/release/bin}
buildah=${BUILDAH:-buildah}
for tool in "$buildah" umoci skopeo; do command -v "$tool" > /dev/null || { echo "skip dockerfile: $tool is not installed"; exit 0; }; done
[ "$(id -u)" = 0 ] || { echo "skip dockerfile: buildah needs root here"; exit 0; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/volcano-dockerfile.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0
check() { # check NAME COMMAND...
  if "${@:2}" > "$scratch/why" 2>&1; then echo "ok dockerfile: $1"; else
    echo "FAIL dockerfile: $1: $(tail -1 "$scratch/why")"
    failed=1
  fi
}
mkdir "$scratch/made" "$scratch/ours" "$scratch/theirs"
echo '{"default": [{"type": "insecureAcceptAnything"}]}' > "$scratch/policy.json"
store=("$buildah" --storage-driver vfs --root "$scratch/store" --runroot "$scratch/run")
stage() { grep -F "deploy/images/root /image build/release/bin/volcano" deploy/images/Dockerfile && deploy/images/root "$scratch/made/image" "$bin/volcano"; }
check "the stage that compiles ends with deploy/images/root" stage
images=$(sed -n 's/^FROM programs AS //p' deploy/images/Dockerfile)
check "its targets are the images of deploy/images/build" test "$(xargs <<< "$images")" = "$(sed -n '/^images="/,/"$/p' deploy/images/build | sed 's/^images="//; s/|.*//' | xargs)"
check "deploy/images/build" deploy/images/build --program "$bin/volcano" --out "$scratch/images"
build() { "${store[@]}" build --isolation chroot --signature-policy "$scratch/policy.json" --build-context "build=$scratch/made" \
  --file deploy/images/Dockerfile --target "$1" --tag "volcanosh/$1" . && "${store[@]}" push --signature-policy "$scratch/policy.json" "volcanosh/$1" "oci:$scratch/theirs:$1"; }
settings() { # settings LAYOUT NAME: what a runtime reads
  skopeo inspect --config "oci:$1:$2" | python3 -c 'import json, sys
config = json.load(sys.stdin)["config"]
print({key: config.get(key) for key in ("User", "Entrypoint", "Cmd", "Env", "WorkingDir", "Volumes", "ExposedPorts")})'
}
same_settings() { diff <(settings "$scratch/images/oci" "$1") <(settings "$scratch/theirs" "$1") && settings "$scratch/theirs" "$1" | grep -F "'User': '1000:1000'"; }
for image in $images; do
  check "$image is built" build "$image"
  check "$image has the settings of the other" same_settings "$image"
done
contents() { # contents LAYOUT: kind, mode, owner and content of each file
  umoci unpack --image "$1" "$2" > /dev/null && (cd "$2/rootfs" && find . ! -path . -printf '%y %m %U:%G %l %p\n' | sort && find . -type f -exec sha256sum {} + | sort -k2)
}
same_contents() {
  contents "$scratch/images/oci:vc-scheduler" "$scratch/ours/bundle" > "$scratch/ours/list" && contents "$scratch/theirs:vc-scheduler" "$scratch/ours/other" > "$scratch/ours/other_list" || return 1
  [ "$(wc -l < "$scratch/ours/list")" -gt 300 ] || { echo "only $(wc -l < "$scratch/ours/list") lines"; return 1; }
  diff "$scratch/ours/list" "$scratch/ours/other_list" | head -3 | xargs -0 echo && cmp -s "$scratch/ours/list" "$scratch/ours/other_list"
}
check "its files are those of the other, with their modes and owners" same_contents
exit $failed
