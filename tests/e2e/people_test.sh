#!/usr/bin/env bash
# Several people on one machine, with stock kubectl: certificates, roles that gather, acting as others, quotas, the audit log, and backups.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

user() { "$volcano" user "$@" --data "$scratch/data"; }
as() { # as USER COMMAND...: kubectl with that user's file
  local file=$scratch/$1.kubeconfig
  shift
  kubectl --kubeconfig "$file" "$@"
}
says() { # says TEXT COMMAND...
  local text=$1 out
  shift
  out=$("$@" 2>&1)
  grep -qF -- "$text" <<< "$out" || { echo "$out"; return 1; }
}

users_have_certificates() {
  expect "the start to say what it found" grep -Eq '^[0-9]+ cores, [0-9.]+ GiB of memory, [^;]+; pods are plain processes, which nothing isolates \(--runtime process\)$' "$scratch/up.log"
  kubectl create namespace team > /dev/null
  expect "a file" user create jane --group dev --group "people of x" --namespace team -o "$scratch/jane.kubeconfig" --server "$server"
  expect "that only its owner reads" [ "$(stat -c %a "$scratch/jane.kubeconfig")" = 600 ]
  expect "that says how to bind a role" grep -q 'kubectl create rolebinding jane-edit --clusterrole=edit --user=jane --namespace=team' "$scratch/jane.kubeconfig"
  expect "an old form of its key" sh -c "kubectl --kubeconfig '$scratch/jane.kubeconfig' config view --raw -o 'jsonpath={.users[0].user.client-key-data}' | base64 -d | grep -q 'BEGIN EC PRIVATE KEY'"
  expect "its name" [ "$(as jane auth whoami -o 'jsonpath={.status.userInfo.username}')" = jane ]
  expect "its groups" [ "$(as jane auth whoami -o 'jsonpath={.status.userInfo.groups}')" = '["dev","people of x","system:authenticated"]' ]
  expect "no right yet" refused 'User "jane" cannot list resource "pods"' as jane get pods
  kubectl create rolebinding jane-edit --clusterrole=edit --user=jane --namespace=team > /dev/null
  expect "what edit gives" as jane create configmap one
  expect "also our kinds" as jane get vcjob,podgroup
  expect "can-i to say yes" says yes as jane auth can-i create jobs.batch.volcano.sh
  expect "can-i to say no" says no as jane auth can-i create pods -n default
  expect "it in the list" says "jane                     dev,people of x" user list
}
some_names_are_refused() {
  expect "names of the system" refused "names that begin with system: are the cluster's own" user create system:admin -o -
  expect "administrators" refused "whoever is in it may do everything" user create ann --group system:masters -o -
  expect "an empty name" refused "must not be empty" user create "" -o -
  expect "control characters" refused "control character" user create "$(printf 'a\nb')" -o -
  expect "bytes that are not a text" refused "not valid UTF-8" user create "$(printf 'a\xff')" -o -
  expect "long names" refused "has 65 characters" user create "$(printf 'x%.0s' $(seq 65))" -o -
  expect "times that are none" refused "is not a time such as" user create ann --lifetime soon -o -
  expect "no times" refused "between 1m and" user create ann --lifetime 0s -o -
  expect "other servers" refused "is not an https:// URL" user create ann --server 127.0.0.1:6443 -o -
  expect "a file that is there" refused "is there already" user create jane -o "$scratch/jane.kubeconfig"
  expect "no authority" refused "are not there" "$volcano" user create ann --data "$scratch/nothing" --server https://x -o -
  expect "nothing of that in the list" [ "$(user list | wc -l)" = 2 ]
  user create root2 --group system:masters --force -o "$scratch/root2.kubeconfig" --server "$server" > /dev/null
  expect "with --force it may do everything" as root2 get nodes
}
people_act_as_others() {
  expect "not without a role" refused 'User "jane" cannot impersonate resource "users" in API group "" at the cluster scope' as jane get pods --as ann
  kubectl create clusterrole acts --verb=impersonate --resource=users --resource-name=ann > /dev/null
  kubectl create clusterrolebinding acts --clusterrole=acts --user=jane > /dev/null
  expect "as whom the role names" [ "$(as jane auth whoami --as ann -o 'jsonpath={.status.userInfo.username}')" = ann ]
  expect "in no group it does not name" refused 'cannot impersonate resource "groups"' as jane get pods --as ann --as-group system:masters
  expect "an administrator with uid" [ "$(kubectl auth whoami --as ann --as-uid 7 -o 'jsonpath={.status.userInfo.uid}')" = 7 ]
  sed -E 's/^( *)client-key-data:/\1as: ann\n&/' "$KUBECONFIG" > "$scratch/acting.kubeconfig"
  expect "vcctl to act as its kubeconfig says" refused 'User "ann" cannot list resource "jobs"' "$(dirname "$volcano")/vcctl" job list --kubeconfig "$scratch/acting.kubeconfig"
}
roles_gather_others() {
  kubectl apply -f - > /dev/null << 'YAML'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: charts-edit, labels: {rbac.authorization.k8s.io/aggregate-to-edit: "true"}}
rules: [{apiGroups: [""], resources: [pods/binding], verbs: [create]}]
YAML
  expect "edit to give it" wait_for 10 sh -c "kubectl --kubeconfig '$scratch/jane.kubeconfig' auth can-i create pods --subresource=binding | grep -qx yes"
  kubectl delete clusterrole charts-edit > /dev/null
  expect "edit to take it back" wait_for 10 sh -c "kubectl --kubeconfig '$scratch/jane.kubeconfig' auth can-i create pods --subresource=binding | grep -qx no"
  kubectl create rolebinding jane-admin --clusterrole=admin --user=jane --namespace=team > /dev/null
  kubectl create clusterrole roles --verb=create,update,patch,get --resource=clusterroles > /dev/null
  kubectl create clusterrolebinding roles --clusterrole=roles --user=jane > /dev/null
  expect "only administrators to gather" refused "must have cluster-admin privileges to use an aggregationRule" as jane create clusterrole all --aggregation-rule="rbac.authorization.k8s.io/aggregate-to-admin=true"
}
quotas_hold() {
  kubectl create quota small -n team --hard=pods=1,requests.cpu=1,count/jobs.batch.volcano.sh=1 > /dev/null
  kubectl apply -n team -f - > /dev/null << 'YAML'
apiVersion: v1
kind: LimitRange
metadata: {name: usual}
spec: {limits: [{type: Container, defaultRequest: {cpu: 600m}, max: {cpu: "1"}}]}
YAML
  expect "a pod that gets what is usual" as jane run one --image=i --restart=Never --command -- sleep 1000
  expect "its request" [ "$(as jane get pod one -o 'jsonpath={.spec.containers[0].resources.requests.cpu}')" = 600m ]
  expect "no second one" refused 'pods "two" is forbidden: exceeded quota: small, requested: pods=1,requests.cpu=600m, used: pods=1,requests.cpu=600m, limited: pods=1,requests.cpu=1' \
    as jane run two --image=i --restart=Never --command -- sleep 1000
  expect "what is used in the status" wait_for 10 sh -c "kubectl -n team get quota small -o 'jsonpath={.status.used}' | grep -qF '\"requests.cpu\":\"600m\"'"
  expect "kubectl to describe it" sh -c "kubectl -n team describe quota small | grep -Eq 'pods +1 +1'"
  as jane delete pod one --now > /dev/null
  expect "room when the pod is gone" wait_for 10 kubectl --kubeconfig "$scratch/jane.kubeconfig" run two --image=i --restart=Never --command -- sleep 1000
  expect "nobody to raise their own quota" refused 'cannot patch resource "resourcequotas"' as jane patch quota small --type=merge -p '{"spec": {"hard": {"pods": 9}}}'
}
# audited FILTER: a line of the audit log for which the filter (python, of `e`) is true
audited() {
  python3 - "$scratch/audit.log" "$1" << 'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
sys.exit(0 if any(eval(sys.argv[2], {"e": e}) for e in lines) else 1)
PY
}
# section N: the commands of that section of docs/one-machine.md, about the cluster of this test
section() {
  awk -v n="$1." '/^## /{here=($2==n)} here && /^```/{code=!code; next} here && code' docs/one-machine.md |
    sed -e "s|/var/lib/volcano|$scratch/data|g" -e "s|https://workstation:6443|$server|" -e "s|-o jane.kubeconfig|-o $scratch/guide.kubeconfig|" -e "s|=jane.kubeconfig|=$scratch/guide.kubeconfig|"
}
run_sections() { # run_sections N...: in one shell, which ends at the first failure
  local text="volcano() { '$volcano' \"\$@\"; }"
  for n in "$@"; do text+=$'\n'$(section "$n"); done
  bash -euo pipefail -c "$text"
}
the_guide_works() {
  expect "there to be commands" test "$(section 2 | wc -l)" -gt 10
  expect "teams, people and a job" run_sections 2 3 5 7
  expect "the job to run" wait_for 30 sh -c "kubectl -n vision get vcjob train -o 'jsonpath={.status.state.phase}' | grep -qx Completed"
  local vcctl="$(dirname "$volcano")/vcctl"
  expect "vcctl to take the namespace of the file" says train "$vcctl" job list --kubeconfig "$scratch/guide.kubeconfig"
  expect "a list of what she may see" says train "$vcctl" job list --all-namespaces --kubeconfig "$scratch/guide.kubeconfig"
  kubectl -n vision get vcjob train -o json | python3 -c 'import json, sys; job = json.load(sys.stdin); job["metadata"] = {"name": "other"}; print(json.dumps(job))' > "$scratch/other.json"
  expect "the queue for that namespace only" refused 'queue `vision` is not for namespace `team`' kubectl -n team create -f "$scratch/other.json"
  expect "it to be counted" sh -c "kubectl -n vision get quota vision -o 'jsonpath={.status.hard.pods}' | grep -qx 50"
}
units_are_well_formed() {
  command -v systemd-analyze > /dev/null || { skipped="there is no systemd-analyze"; return; }
  "$volcano" up --systemd --data "$scratch/a b" --node-name 'x1' --host-rootfs > "$scratch/volcano.service"
  expect "systemd to take it" systemd-analyze verify "$scratch/volcano.service"
  expect "words with spaces to be one" grep -qF "\"--data=$scratch/a b\"" "$scratch/volcano.service"
  expect "pods to outlive the program" grep -qF '"--leave-pods"' "$scratch/volcano.service"
  expect "nothing to be started" test ! -e "$scratch/a b"
}
requests_are_written_down() {
  expect "who made what" wait_for 5 audited 'e["verb"] == "create" and e["user"]["username"] == "jane" and e["objectRef"].get("name") == "one" and e["responseStatus"]["code"] == 201'
  expect "from where, and with what program" wait_for 5 audited 'e["user"]["username"] == "jane" and e["sourceIPs"] == ["127.0.0.1"] and e["userAgent"].startswith("kubectl")'
  expect "the refused" wait_for 5 audited 'e["user"]["username"] == "jane" and e["responseStatus"]["code"] == 403 and e["annotations"]["authorization.k8s.io/decision"] == "forbid"'
  expect "as whom somebody acted" wait_for 5 audited 'e["user"]["username"] == "jane" and e.get("impersonatedUser", {}).get("username") == "ann"'
  expect "strangers" sh -c "curl -sk '$server/api/v1/pods' | grep -q Unauthorized"
  expect "their line" wait_for 5 audited 'e["responseStatus"]["code"] == 401 and e["requestURI"] == "/api/v1/pods"'
  kubectl create configmap told -n team --from-literal=a=b > /dev/null
  kubectl create secret generic untold -n team --from-literal=word=hidden > /dev/null
  expect "bodies where the policy wants them" wait_for 5 audited 'e.get("requestObject", {}).get("data") == {"a": "b"}'
  expect "a line for the secret" wait_for 5 audited 'e.get("objectRef", {}).get("name") == "untold"'
  expect "nothing of what is in it" sh -c "! grep -q $(printf hidden | base64) '$scratch/audit.log'"
  expect "that only its owner reads it" [ "$(stat -c %a "$scratch/audit.log")" = 600 ]
  mv "$scratch/audit.log" "$scratch/audit.old"
  kill -HUP "$cluster"
  expect "a new file after SIGHUP" wait_for 10 sh -c "kubectl get ns > /dev/null; test -s '$scratch/audit.log'"
}
backups_are_made_and_restored() {
  local version=$(kubectl get --raw "/api/v1/namespaces/team/configmaps?limit=1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["metadata"]["resourceVersion"])')
  expect "a backup of a cluster that runs" "$volcano" backup "$scratch/backup" --keys --data "$scratch/data"
  expect "that only its owner reads" [ "$(stat -c %a "$scratch/backup")" = 600 ]
  expect "none over it" refused "is there already" "$volcano" backup "$scratch/backup" --data "$scratch/data"
  expect "no restore over data" refused "is there already" "$volcano" restore "$scratch/backup" --data "$scratch/data"
  head -c -10 "$scratch/backup" > "$scratch/cut"
  expect "no restore of half of it" refused "it is cut short" "$volcano" restore "$scratch/cut" --data "$scratch/back"
  python3 -c 'import sys; b = bytearray(open(sys.argv[1], "rb").read()); b[len(b) // 2] ^= 1; open(sys.argv[2], "wb").write(b)' "$scratch/backup" "$scratch/bent"
  expect "no restore of what was changed" refused "it is damaged" "$volcano" restore "$scratch/bent" --data "$scratch/back"
  expect "no restore of anything else" refused "it is not a backup" "$volcano" restore /etc/hostname --data "$scratch/back"
  expect "nothing to be left of those" test ! -e "$scratch/back/objects"
  kubectl delete configmap told -n team > /dev/null
  stop_cluster
  expect "a restore" "$volcano" restore "$scratch/backup" --data "$scratch/back"
  expect "it to be well" "$volcano" fsck "$scratch/back"
  rm -rf "$scratch/data" && mv "$scratch/back" "$scratch/data"
  start_cluster --node-name n1 --host-rootfs --runtime process
  expect "what was deleted since" [ "$(kubectl get configmap told -n team -o "jsonpath={.data.a}")" = b ]
  expect "the same users" refused 'User "jane" cannot' kubectl --kubeconfig "$scratch/jane.kubeconfig" --server "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')" get nodes
  expect "revisions to go on" test "$(kubectl create configmap after -n team -o 'jsonpath={.metadata.resourceVersion}')" -gt "$version"
}
policies_of_the_log_are_checked() {
  echo '{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Much"}]}' > "$scratch/bad.json"
  expect "a bad level" refused 'rules[0].level: "Much" is none of' "$volcano" up --data "$scratch/other" --port 0 --audit-log "$scratch/x" --audit-policy-file "$scratch/bad.json"
  expect "a file without an end" refused "cannot read /dev/zero: it has more than 4194304 bytes" timeout 20 "$volcano" up --data "$scratch/other" --port 0 --audit-log "$scratch/x" --audit-policy-file /dev/zero
  expect "a file that cannot be written" refused "cannot open $scratch/none/x" "$volcano" up --data "$scratch/other" --port 0 --audit-log "$scratch/none/x"
  expect "no policy without a log" refused "need --audit-log" "$volcano" up --data "$scratch/other" --audit-strict
}
a_full_disk_stops_who_asked_for_it() {
  stop_cluster
  start_cluster --node-name n1 --host-rootfs --runtime process --audit-log /dev/full
  expect "it to go on" kubectl get ns
  expect "it to be said" grep -q "cannot write to /dev/full: No space left on device" "$scratch/up.log"
  stop_cluster
  "$volcano" up --data "$scratch/data" --kubeconfig "$KUBECONFIG" --port 0 --audit-log /dev/full --audit-strict >> "$scratch/up.log" 2>&1 &
  local strict=$!
  expect "a strict one to stop" wait_for 30 sh -c "kubectl get ns > /dev/null 2>&1; ! kill -0 $strict"
}

cat > "$scratch/audit.yaml" << 'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: RequestResponse, resources: [{group: "", resources: [configmaps, secrets]}]}
- {level: Metadata}
YAML
start_cluster --node-name n1 --host-rootfs --runtime process --audit-log "$scratch/audit.log" --audit-policy-file "$scratch/audit.yaml"
server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
wait_for 10 kubectl get serviceaccount default
run_tests users_have_certificates some_names_are_refused people_act_as_others roles_gather_others quotas_hold the_guide_works units_are_well_formed requests_are_written_down backups_are_made_and_restored policies_of_the_log_are_checked a_full_disk_stops_who_asked_for_it
exit ${failed:-0}
