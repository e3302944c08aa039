#!/usr/bin/env bash
# The page on a stock API server, for users of different rights: an administrator, jane with the jobs of one namespace, ned with nothing.
# Each sees what RBAC gives and is told what it does not; `volcano ui` acts by a kubeconfig, `volcano-ui` by the tokens of its users.
# Prints "ok NAME" or "FAIL NAME: why". Needs what tests/stock/build.sh makes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need page etcd kube-apiserver
cat > "$scratch/audit.yaml" << 'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: Metadata, verbs: [create, patch, delete], resources: [{group: batch.volcano.sh}, {group: scheduling.volcano.sh}]}
- {level: None}
YAML
start_server KCM=0 KWOK=0 APISERVER_EXTRA="--audit-policy-file=$scratch/audit.yaml --audit-log-path=$scratch/audit.log"
direct=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
"$bin/volcano" crd > "$scratch/crd.yaml"
check "the server accepts our CRDs" kubectl apply --server-side -f "$scratch/crd.yaml"
kubectl wait --for condition=established --timeout=20s crd --all > /dev/null 2>&1
job() { printf '{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"%s"},"spec":{"tasks":[{"name":"a","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}]}}' "$1"; }
objects() {
  kubectl create namespace team && kubectl create namespace other || return
  printf '{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"lab"},"spec":{"weight":1}}' | kubectl create -f - || return
  job first | kubectl create -n team -f - && job hidden | kubectl create -n other -f - || return
  kubectl create serviceaccount jane -n team && kubectl create serviceaccount ned -n team || return
  kubectl create role jobs -n team --verb=get,list,watch,create,patch,delete --resource=jobs.batch.volcano.sh || return
  kubectl create rolebinding jane -n team --role=jobs --serviceaccount=team:jane
}
check "namespaces, a queue, jobs and accounts" wait_for 20 objects
declare -A token proof page jar
for user in jane ned; do token[$user]=$(kubectl create token $user -n team); done
cp "$KUBECONFIG" "$scratch/admin.kubeconfig"
for user in jane ned; do
  cp "$KUBECONFIG" "$scratch/$user.kubeconfig"
  kubectl --kubeconfig "$scratch/$user.kubeconfig" config set-credentials $user --token="${token[$user]}" > /dev/null
  kubectl --kubeconfig "$scratch/$user.kubeconfig" config set-context --current --user $user > /dev/null
done
team=/apis/batch.volcano.sh/v1alpha1/namespaces/team/jobs
other=/apis/batch.volcano.sh/v1alpha1/namespaces/other/jobs
lab=/apis/scheduling.volcano.sh/v1beta1/queues/lab
status() { curl -s --max-time 20 -o "$scratch/answer" -w '%{http_code}' "$@"; }
as() { status -b "${jar[$1]}" "${@:2}"; } # as USER [curl's flags...] URL
answers() { # answers STATUS TEXT USER [curl's flags...] URL
  local got
  got=$(as "${@:3}")
  [ "$got" = "$1" ] && grep -qF -- "$2" "$scratch/answer" || { echo "$got: $(head -c 300 "$scratch/answer" | tr '\n' ' ')"; return 1; }
}
proof_of() { curl -s -b "${jar[$1]}" "${page[$1]}/ui/session" | sed 's/.*"proof":"\([^"]*\)".*/\1/'; }
writes() { # writes STATUS TEXT USER METHOD PATH BODY [curl's flags...]: with the session's proof, as the page does
  local type=application/json
  audited=$(wc -l < "$scratch/audit.log")
  [ "$4" = PATCH ] && type=application/merge-patch+json
  answers "$1" "$2" "$3" -X "$4" -H "Origin: ${page[$3]}" -H "X-Volcano-Proof: ${proof[$3]}" -H "Content-Type: $type" --data "$6" "${@:7}" "${page[$3]}$5"
}
names() { python3 -c 'import json, sys; print(sorted(one["metadata"]["name"] for one in json.load(open(sys.argv[1]))["items"]))' "$scratch/answer"; }
is() { [ "$1" = "$2" ] || { echo "$1 is not $2"; false; }; }
refused_text() { echo "User \\\"system:serviceaccount:team:$1\\\" cannot $2"; } # in JSON
all_lists="/api/v1/namespaces /api/v1/nodes /api/v1/pods /api/v1/namespaces/team/pods /api/v1/namespaces/team/secrets /api/v1/events
  /apis/batch.volcano.sh/v1alpha1/jobs $team $other /apis/scheduling.volcano.sh/v1beta1/queues /apis/scheduling.volcano.sh/v1beta1/podgroups
  /apis/flow.volcano.sh/v1alpha1/jobflows /apis/apiextensions.k8s.io/v1/customresourcedefinitions /apis/rbac.authorization.k8s.io/v1/clusterroles"
lists() { # lists USER [PATH...]: those paths are lists, all others a refusal with its sentence; `all` for all of them
  local user=$1 path kind
  shift
  for path in $all_lists; do
    if [ "$*" = all ] || [[ " $* " == *" $path "* ]]; then
      answers 200 '"items":[' "$user" "${page[$user]}$path" || { echo "$path: $(head -c 200 "$scratch/answer")"; return 1; }
    else
      answers 403 "$(refused_text "$user" "list resource \\\"${path##*/}\\\"")" "$user" "${page[$user]}$path" || { echo "$path: $(head -c 200 "$scratch/answer")"; return 1; }
      answers 403 '"reason":"Forbidden"' "$user" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json' "${page[$user]}$path?limit=500" ||
        { echo "$path as a table: $(head -c 200 "$scratch/answer")"; return 1; }
    fi
  done
}
is_audited() { # is_audited VERB CODE USER: what the server saw since the last write began
  tail -n +$((audited + 1)) "$scratch/audit.log" | python3 -c '
import json, sys
seen = [(one["verb"], str(one["responseStatus"]["code"]), one["user"]["username"], one["userAgent"].split("/")[0]) for one in map(json.loads, sys.stdin)]
if seen != [(*sys.argv[1:], "volcano-ui")]: sys.exit(str(seen))' "$@"
}
there() { kubectl get "$1" "$2" -n "$3"; }
absent() { ! kubectl get "$1" "$2" -n "$3" > /dev/null 2>&1; }
rights_of_jane_and_ned() { # by sessions of the pages of either form
  check "$1: jane sees the jobs of her namespace and no other list" lists jane $team
  as jane "${page[jane]}$team" > /dev/null
  check "$1: all of them" is "$(names)" "['first']"
  check "$1: ned sees no list, and is told so" lists ned
  check "$1: a job of another namespace is refused by name" answers 403 "$(refused_text jane 'get resource')" jane "${page[jane]}$other/hidden"
  check "$1: ned's write is refused" writes 403 "$(refused_text ned 'create resource')" ned POST $team "$(job "neds-$1")"
  check "$1: and makes nothing" absent vcjob "neds-$1" team
  check "$1: under his name" is_audited create 403 system:serviceaccount:team:ned
  check "$1: jane's write in another namespace is refused" writes 403 'in the namespace \"other\"' jane POST $other "$(job "janes-$1")"
  check "$1: and makes nothing there" absent vcjob "janes-$1" other
  check "$1: jane's change of a queue is refused" writes 403 "$(refused_text jane 'patch resource')" jane PATCH $lab '{"spec":{"weight":9}}'
  check "$1: and the queue is as before" field_is queue lab .spec.weight 1
  check "$1: jane's write needs the proof" answers 403 X-Volcano-Proof jane -H "Origin: ${page[jane]}" -H 'Content-Type: application/json' --data "$(job "janes-$1")" "${page[jane]}$team"
  check "$1: and no other site's origin" answers 403 "is not this page" jane -H 'Origin: http://evil.example' -H "X-Volcano-Proof: ${proof[jane]}" \
    -H 'Content-Type: application/json' --data "$(job "janes-$1")" "${page[jane]}$team"
  check "$1: and lands nowhere without" absent vcjob "janes-$1" team
  check "$1: jane's write in her namespace lands" writes 201 "\"name\":\"janes-$1\"" jane POST $team "$(job "janes-$1")"
  check "$1: it is there" there vcjob "janes-$1" team
  check "$1: under her name" is_audited create 201 system:serviceaccount:team:jane
  check "$1: written by the page" is "$(kubectl get vcjob "janes-$1" -n team -o 'jsonpath={.metadata.managedFields[0].manager}')" volcano-ui
  check "$1: a field that a schema refuses is passed on with its sentence" writes 422 'spec.minAvailable' jane PATCH "$team/janes-$1" '{"spec":{"minAvailable":"many"}}'
  check "$1: jane deletes it" writes 200 '"status":"Success"' jane DELETE "$team/janes-$1" ''
  check "$1: and it is gone" absent vcjob "janes-$1" team
}

# `volcano ui`: a program of each user's own, with a kubeconfig.
open_page() { # open_page USER
  rm -f "$scratch/ui-$1.log"
  run "ui-$1" "$bin/volcano" ui --kubeconfig "$scratch/$1.kubeconfig" --port 0
  wait_for 20 grep -q login "$scratch/ui-$1.log" || { tail -1 "$scratch/ui-$1.log"; return 1; }
  link=$(sed -n 's/^  \(http:.*login.*\)$/\1/p' "$scratch/ui-$1.log")
  page[$1]=${link%%/ui/*}
  jar[$1]=$scratch/jar-$1
}
links_of() { # links_of USER
  check "the page of $1 starts" open_page "$1"
  check "$1: no data without a session" is "$(status "${page[$1]}$team")" 401
  check "$1: nor a write" is "$(status -H "Origin: ${page[$1]}" -H 'Content-Type: application/json' --data "$(job none)" "${page[$1]}$team")" 401
  check "$1: the link opens a session" is "$(status -c "${jar[$1]}" "$link")" 303
  check "$1: once" is "$(status "$link")" 403
  check "$1: the second time is told" grep -q "volcano ui link" "$scratch/answer"
  check "$1: the page is served" answers 200 "" "$1" --compressed "${page[$1]}/ui/"
  proof[$1]=$(proof_of "$1")
}
# A new definition is listed a moment later.
check "the server lists all that is asked for" wait_for 30 sh -c "for list in $(echo $all_lists); do kubectl get --raw \$list || exit 1; done"
for user in admin jane ned; do links_of $user; done
check "the administrator sees all lists" lists admin all
as admin "${page[admin]}/apis/batch.volcano.sh/v1alpha1/jobs" > /dev/null
check "with the jobs of all namespaces" is "$(names)" "['first', 'hidden']"
check "the administrator changes a queue" writes 200 '"weight":3' admin PATCH $lab '{"spec":{"weight":3}}'
check "it is changed" field_is queue lab .spec.weight 3
check "under the administrator's name" is_audited patch 200 fixture-admin
check "and back" writes 200 '"weight":1' admin PATCH $lab '{"spec":{"weight":1}}'
check "a session of one page is none at another's" is "$(status -b "${jar[ned]}" "${page[admin]}$team")" 401
rights_of_jane_and_ned kubeconfig

# A watch outlives the right as it does on the server itself, ends with its time, and the next one is refused.
watched() { grep -q "\"name\":\"$2\"" "$scratch/watch-$1.log"; }
watches() { # watches NAME: four ways by the time of 8 s
  run watch-direct curl -sN --cacert "$scratch/pki/ca.crt" -H "Authorization: Bearer ${token[jane]}" "$direct$team?watch=true&timeoutSeconds=8"
  run watch-page curl -sN -b "${jar[jane]}" "${page[jane]}$team?watch=true&timeoutSeconds=8"
  run watch-stream python3 tests/stock/page_stream.py "${page[jane]}" "${jar[jane]}" "$team?watch=true&timeoutSeconds=8"
  for way in direct page stream; do check "$1: a watch ($way) begins with what there is" wait_for 7 watched $way first; done
  job "seen-$1" | kubectl create -n team -f - > /dev/null
  for way in direct page stream; do check "$1: and tells of a new job ($way)" wait_for 7 watched $way "seen-$1"; done
  kubectl delete rolebinding jane -n team > /dev/null
  check "$1: the right to list is gone" wait_for 5 answers 403 "$(refused_text jane 'list resource')" jane "${page[jane]}$team"
  job "late-$1" | kubectl create -n team -f - > /dev/null
  for way in direct page stream; do check "$1: an open watch goes on as on the server itself ($way)" wait_for 7 watched $way "late-$1"; done
  for at in 1 2 3; do check "$1: and ends with its time" wait_for 15 ended "${programs[-$at]}"; done
  check "$1: the next watch is refused" answers 403 "$(refused_text jane 'watch resource')" jane "${page[jane]}$team?watch=true&timeoutSeconds=8"
  run watch-again python3 tests/stock/page_stream.py "${page[jane]}" "${jar[jane]}" "$team?watch=true&timeoutSeconds=8"
  check "$1: also as a stream of the page" wait_for 5 grep -qF "$(refused_text jane 'watch resource')" "$scratch/watch-again.log"
  check "$1: with its status" grep -qx '{"status":403}' "$scratch/watch-again.log"
  kubectl create rolebinding jane -n team --role=jobs --serviceaccount=team:jane > /dev/null
  check "$1: and is taken once the right is back" wait_for 5 answers 200 '"items":[' jane "${page[jane]}$team"
  wait_for 10 kubectl delete vcjob "seen-$1" "late-$1" -n team --ignore-not-found > /dev/null
}
ended() { ! kill -0 "$1"; }
watches kubeconfig

# What the scheduler would do with a job before it is submitted: dry runs with the rights of each user, and then the scheduler's own page.
asking=10.9.9.9:${STOCK_SCHEDULER_PORT:-28914}
scheduler_runs() {
  ip address add "${asking%:*}/32" dev lo 2> /dev/null
  kubectl apply -f - << 'YAML' || return
apiVersion: v1
kind: Node
metadata: {name: node-1}
YAML
  kubectl patch node node-1 --subresource=status --type=merge -p '{"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"},"capacity":{"cpu":"2","memory":"4Gi","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}' || return
  kubectl taint node node-1 node.kubernetes.io/not-ready- > /dev/null 2>&1
  run scheduler "$bin/vc-scheduler" --kubeconfig "$scratch/admin.kubeconfig" --leader-elect=false --listen-address "$asking" --enable-rehearsal "$@"
  wait_for 20 scheduler_answers
}
many() { # many NAME PODS NAMESPACE: of one CPU each, all or none, as the webhooks would complete it
  printf '{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"%s","namespace":"%s"},"spec":{"schedulerName":"volcano","queue":"default","minAvailable":%s,"tasks":[{"name":"a","replicas":%s,"minAvailable":%s,"template":{"spec":{"containers":[{"name":"c","image":"x","resources":{"requests":{"cpu":"1"}}}]}}}]}}' "$1" "$3" "$2" "$2" "$2"
}
scheduler_answers() { # a dump before the first lists says that it starts
  curl -s --max-time 5 -X POST --data "$(many probe 1 team)" "http://$asking/debug/rehearsal" > "$scratch/probe"
  grep -q '"starting":1' "$scratch/probe" || { head -c 300 "$scratch/probe"; return 1; }
}
scheduler_behind_a_service() {
  kubectl create namespace volcano-system > /dev/null
  kubectl create serviceaccount default -n volcano-system > /dev/null
  kubectl run scheduler -n volcano-system --image=x > /dev/null
  kubectl patch pod scheduler -n volcano-system --subresource=status --type=merge -p "{\"status\":{\"podIPs\":[{\"ip\":\"${asking%:*}\"}]}}" > /dev/null
  kubectl apply -f - << YAML
apiVersion: v1
kind: Service
metadata: {name: volcano-scheduler-service, namespace: volcano-system}
spec: {ports: [{name: metrics, port: 8080}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: volcano-scheduler-service, namespace: volcano-system}
subsets:
- addresses: [{ip: "${asking%:*}", targetRef: {kind: Pod, name: scheduler, namespace: volcano-system}}]
  ports: [{name: metrics, port: ${asking#*:}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: asks, namespace: volcano-system}
rules: [{apiGroups: [""], resources: [services/proxy], resourceNames: ["volcano-scheduler-service:8080"], verbs: [create]}]
YAML
}
asks() { wait_for 5 writes "$1" "$2" "$3" POST /debug/rehearsal "$4" || writes "$1" "$2" "$3" POST /debug/rehearsal "$4"; } # one question a second
rehearsals() { # rehearsals FORM
  check "$1: jane's job would start" asks 200 '"starting":2' jane "$(many dreams-$1 2 team)"
  check "$1: one that is too large would wait, with the reason" asks 200 'can never start' jane "$(many large-$1 3 team)"
  check "$1: nothing was made" absent vcjob dreams-$1 team
  check "$1: in a namespace without rights the refusal is the answer" asks 403 'in the namespace \"other\"' jane "$(many dreams-$1 1 other)"
  check "$1: a question without the proof is refused" answers 403 X-Volcano-Proof jane -X POST -H "Origin: ${page[jane]}" --data "$(many dreams-$1 1 team)" "${page[jane]}/debug/rehearsal"
  check "$1: a job of another scheduler is not rehearsed" asks 422 'default-scheduler' jane "$(job other-$1 | sed 's/"name":"other/"namespace":"team","name":"other/')"
  check "$1: a Secret is not rehearsed" asks 422 'is not rehearsed' jane '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"team"}}'
}
check "a node and a scheduler that rehearses" scheduler_runs
check "without its Service the page has nobody to ask" asks 404 "" admin "$(many none 1 team)"
check "its Service" scheduler_behind_a_service
check "who may not ask it is told so" asks 403 "services" jane "$(many none 1 team)"
kubectl create rolebinding asks -n volcano-system --role=asks --serviceaccount=team:jane > /dev/null
rehearsals kubeconfig

# The page itself in a browser, as jane and as ned: what may not be seen is said.
export CHROMIUM=${CHROMIUM:-/usr/lib/chromium/chromium-headless-shell}
if command -v node "$CHROMIUM" > /dev/null && [ -d src/ui/page/node_modules/playwright-core ]; then
  for user in jane ned; do
    check "another page of $user starts" open_page $user
    node tests/page/rights_test.mjs "$link" $user || failed=1
  done
else
  echo "skip stock page in a browser: Node.js, Chromium or the packages of src/ui/page are missing"
fi

# `volcano-ui`: one program for all users, without rights of its own, who log in with tokens.
served=http://127.0.0.1:${STOCK_HEALTH_PORT:-28911}
run volcano-ui "$bin/volcano-ui" --master "$direct" --certificate-authority "$scratch/pki/ca.crt" --listen-address "${served#http://}" \
  --scheduler-address "http://$asking"
check "the page of the cluster starts" wait_for 20 curl -sf "$served/healthz"
check "no data without a session" is "$(status "$served$team")" 401
check "nor with the token as a header" is "$(status -H "Authorization: Bearer ${token[jane]}" "$served$team")" 401
check "a made-up token is refused" is "$(status -H "Origin: $served" --data-urlencode token=nonsense "$served/ui/login")" 401
for user in jane ned; do
  page[$user]=$served jar[$user]=$scratch/cluster-jar-$user
  check "$user logs in" is "$(status -c "${jar[$user]}" -H "Origin: $served" --data-urlencode "token=${token[$user]}" "$served/ui/login")" 303
  check "the page knows $user" answers 200 "system:serviceaccount:team:$user" $user "$served/ui/session"
  proof[$user]=$(proof_of $user)
done
proof_of_jane=${proof[jane]}
proof[jane]=${proof[ned]}
check "the proof of one user is none of another's" writes 403 X-Volcano-Proof jane POST $team "$(job borrowed)"
proof[jane]=$proof_of_jane
rights_of_jane_and_ned token
kubectl delete rolebinding asks -n volcano-system > /dev/null
rehearsals token
watches token
kubectl delete serviceaccount ned -n team > /dev/null
check "the session of an account that is gone ends" wait_for 20 answers 401 "" ned "$served$team"
check "others go on" answers 200 '"items":[' jane "$served$team"
exit $failed
