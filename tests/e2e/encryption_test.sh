#!/usr/bin/env bash
# Secrets on the disk: encrypted with keys of a file, which change in turns; checks, backups and restores keep them so.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

key() { echo "$1:$(head -c 32 /dev/urandom | base64)"; } # key NAME: a line of the file
keys() { # keys FILE LINE...
  printf '%s\n' "${@:2}" > "$scratch/$1"
  chmod 600 "$scratch/$1"
}
holds() { grep -rqaF -- "$2" "$1"; }
holds_not() { ! holds "$@"; }
start() { start_cluster --node-name n1 --host-rootfs --runtime process "$@"; } # start [flags...]
starts_not() { # starts_not TEXT [flags...]: without a cluster that runs
  local text=$1
  shift
  refused "$text" timeout 30 "$volcano" up --data "$scratch/data" --kubeconfig "$scratch/other" --port 0 --runtime process "$@"
}
password_is() { [ "$(field secret "$1" .data.password | base64 -d)" = "$2" ]; }

secrets_are_encrypted() {
  expect "a start" start --encryption-key-file "$scratch/first"
  kubectl create secret generic db --from-literal=password=hunter2-in-plain > /dev/null
  kubectl create configmap cm --from-literal=setting=blue-in-plain > /dev/null
  kubectl annotate secret db note=note-in-plain > /dev/null
  kubectl create secret generic gone --from-literal=password=gone-in-plain > /dev/null
  kubectl delete secret gone > /dev/null
  expect "it as it was sent" password_is db hunter2-in-plain
  expect "it in lists" [ "$(kubectl get secrets -o 'jsonpath={.items[?(@.metadata.name=="db")].metadata.annotations.note}')" = note-in-plain ]
  kill_cluster
  # That grep finds what is there, the ConfigMap shows.
  expect "ConfigMaps as they are" holds "$scratch/data" blue-in-plain
  for text in hunter2-in-plain "$(printf hunter2-in-plain | base64)" note-in-plain "$(printf gone-in-plain | base64)"; do
    expect "no \"$text\" on the disk" holds_not "$scratch/data" "$text"
  done
  expect "the key's name" holds "$scratch/data" volcano:enc:aes-256-gcm:v1:first:
  expect "a start after a kill" start --encryption-key-file "$scratch/first"
  expect "it after a kill" password_is db hunter2-in-plain
  stop_cluster
}
a_missing_key_is_named() {
  expect "no start without keys" starts_not 'encrypted with the key "first", which --encryption-key-file does not have; nothing was changed'
  expect "no start with others" starts_not 'encrypted with the key "first", which' --encryption-key-file "$scratch/second"
  expect "no start with another of that name" starts_not 'encrypted with another key "first"' --encryption-key-file "$scratch/impostor"
  expect "nothing set aside" test ! -e "$scratch/data/quarantine"
  expect "a check to say what it did not see" grep -q "encrypted records were not looked into" <("$volcano" fsck "$scratch/data")
  expect "a check with keys" "$volcano" fsck "$scratch/data" --encryption-key-file "$scratch/first"
}
bad_files_are_refused() {
  keys bad "first:c2hvcnQ="
  expect "short keys" starts_not "--encryption-key-file: $scratch/bad: line 1: the key \"first\" has 5 bytes; AES-256 needs 32" --encryption-key-file "$scratch/bad"
  keys bad "$(key first | cut -d: -f2)"
  expect "lines without names" starts_not "line 1: it is not a NAME:KEY" --encryption-key-file "$scratch/bad"
  expect "files of others" starts_not "others than its owner may use it (mode 0644)" --encryption-key-file "$scratch/open"
  expect "no file" starts_not "$scratch/none: No such file or directory" --encryption-key-file "$scratch/none"
  expect "folders" starts_not "it is not a regular file" --encryption-key-file "$scratch"
  expect "files without end" starts_not "it is not a regular file" --encryption-key-file /dev/zero
}
keys_change_in_turns() {
  expect "a start with a new key before the old" start --encryption-key-file "$scratch/both"
  kubectl create secret generic new --from-literal=password=new-in-plain > /dev/null
  stop_cluster
  expect "a start without the old" start --encryption-key-file "$scratch/second"
  expect "what the old encrypted" password_is db hunter2-in-plain
  expect "what the new encrypted" password_is new new-in-plain
}
backups_are_encrypted() {
  expect "a backup while it runs" "$volcano" backup "$scratch/backup" --keys --data "$scratch/data"
  expect "nothing plain in it" holds_not "$scratch/backup" "$(printf hunter2-in-plain | base64)"
  stop_cluster
  expect "a restore without keys" "$volcano" restore "$scratch/backup" --data "$scratch/back"
  expect "nothing plain there" holds_not "$scratch/back" "$(printf hunter2-in-plain | base64)"
  rm -rf "$scratch/data" && mv "$scratch/back" "$scratch/data"
  expect "no start without keys" starts_not 'encrypted with the key "second"'
  expect "a start with them" start --encryption-key-file "$scratch/second"
  expect "the Secret" password_is db hunter2-in-plain
  stop_cluster
}
encryption_can_be_left() {
  expect "a start that decrypts" start --encryption-key-file "$scratch/leaving"
  stop_cluster
  expect "a start without keys" start
  expect "the Secret" password_is db hunter2-in-plain
  stop_cluster
  expect "it to be well" "$volcano" fsck "$scratch/data"
}
plain_secrets_are_encrypted_at_a_start() {
  local plain
  plain=$(printf hunter2-in-plain | base64)
  expect "it plain before" holds "$scratch/data" "$plain"
  expect "a start with keys" start --encryption-key-file "$scratch/first"
  stop_cluster
  # Free pages of the database may still have the old text; a backup and its restore take what is in use alone.
  expect "a backup of a cluster that is stopped" "$volcano" backup "$scratch/moved" --keys --data "$scratch/data"
  expect "a restore" "$volcano" restore "$scratch/moved" --data "$scratch/fresh"
  expect "nothing plain there" holds_not "$scratch/fresh" "$plain"
  expect "it encrypted" holds "$scratch/fresh" volcano:enc:aes-256-gcm:v1:first:
}

first=$(key first) second=$(key second)
keys first "$first"
keys second "$second"
keys both "# the new one first" "$second" "$first"
keys impostor "$(key first)"
keys leaving identity "$second"
keys open "$first"
chmod 644 "$scratch/open"
run_tests secrets_are_encrypted a_missing_key_is_named bad_files_are_refused keys_change_in_turns backups_are_encrypted encryption_can_be_left plain_secrets_are_encrypted_at_a_start
exit ${failed:-0}
