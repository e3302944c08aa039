# Completion for zsh: source <(vcctl completion zsh)
_volcano_words() {
  found=
  case $1 in
    'vcctl') found='job jobflow jobtemplate queue pod explain top completion version --help' ;;
    'vcctl job') found='run list view suspend resume restart delete logs wait --help' ;;
    'vcctl job run') found='--image --namespace --name --min --replicas --requests --limits --scheduler --filename --kubeconfig --master --help' ;;
    'vcctl job list') found='--all-namespaces --namespace --queue --scheduler --selector --user --state --sort --output --kubeconfig --master --help' ;;
    'vcctl job list --sort') found='name age state queue user' ;;
    'vcctl job list --output') found='json yaml table' ;;
    'vcctl job list -o') found='json yaml table' ;;
    'vcctl job view') found='--namespace --name --output --kubeconfig --master --help' ;;
    'vcctl job view --output') found='json yaml' ;;
    'vcctl job view -o') found='json yaml' ;;
    'vcctl job suspend') found='--namespace --name --kubeconfig --master --help' ;;
    'vcctl job resume') found='--namespace --name --kubeconfig --master --help' ;;
    'vcctl job restart') found='--namespace --name --kubeconfig --master --help' ;;
    'vcctl job delete') found='--namespace --name --kubeconfig --master --help' ;;
    'vcctl job logs') found='--namespace --name --task --container --follow --tail --kubeconfig --master --help' ;;
    'vcctl job wait') found='--namespace --name --for --timeout --kubeconfig --master --help' ;;
    'vcctl job wait --for') found='completed failed terminated aborted running deleted' ;;
    'vcctl jobflow') found='create list get delete describe --help' ;;
    'vcctl jobflow create') found='--file --kubeconfig --master --help' ;;
    'vcctl jobflow list') found='--namespace --output --all-namespaces --kubeconfig --master --help' ;;
    'vcctl jobflow list --output') found='json yaml' ;;
    'vcctl jobflow list -o') found='json yaml' ;;
    'vcctl jobflow get') found='--name --namespace --output --kubeconfig --master --help' ;;
    'vcctl jobflow get --output') found='json yaml' ;;
    'vcctl jobflow get -o') found='json yaml' ;;
    'vcctl jobflow delete') found='--name --namespace --file --kubeconfig --master --help' ;;
    'vcctl jobflow describe') found='--name --namespace --format --kubeconfig --master --help' ;;
    'vcctl jobtemplate') found='create list get delete describe --help' ;;
    'vcctl jobtemplate create') found='--file --kubeconfig --master --help' ;;
    'vcctl jobtemplate list') found='--namespace --output --kubeconfig --master --help' ;;
    'vcctl jobtemplate list --output') found='json yaml' ;;
    'vcctl jobtemplate list -o') found='json yaml' ;;
    'vcctl jobtemplate get') found='--name --namespace --output --kubeconfig --master --help' ;;
    'vcctl jobtemplate get --output') found='json yaml' ;;
    'vcctl jobtemplate get -o') found='json yaml' ;;
    'vcctl jobtemplate delete') found='--name --namespace --file --kubeconfig --master --help' ;;
    'vcctl jobtemplate describe') found='--name --namespace --format --kubeconfig --master --help' ;;
    'vcctl queue') found='create delete operate list get --help' ;;
    'vcctl queue create') found='--name --weight --state --kubeconfig --master --help' ;;
    'vcctl queue delete') found='--name --kubeconfig --master --help' ;;
    'vcctl queue operate') found='--name --weight --action --kubeconfig --master --help' ;;
    'vcctl queue list') found='--output --kubeconfig --master --help' ;;
    'vcctl queue list --output') found='json yaml table' ;;
    'vcctl queue list -o') found='json yaml table' ;;
    'vcctl queue get') found='--name --output --kubeconfig --master --help' ;;
    'vcctl queue get --output') found='json yaml table' ;;
    'vcctl queue get -o') found='json yaml table' ;;
    'vcctl pod') found='list --help' ;;
    'vcctl pod list') found='--all-namespaces --job --namespace --queue --output --kubeconfig --master --help' ;;
    'vcctl pod list --output') found='json yaml' ;;
    'vcctl pod list -o') found='json yaml' ;;
    'vcctl explain') found='job podgroup pod queue --help' ;;
    'vcctl explain job') found='--namespace --name --scheduler --kubeconfig --master --help' ;;
    'vcctl explain podgroup') found='--namespace --name --scheduler --kubeconfig --master --help' ;;
    'vcctl explain pod') found='--namespace --name --scheduler --kubeconfig --master --help' ;;
    'vcctl explain queue') found='--name --scheduler --kubeconfig --master --help' ;;
    'vcctl top') found='--namespace --interval --scheduler --kubeconfig --master --help' ;;
    'vcctl completion') found='--shell --help' ;;
    'vcctl completion --shell') found='bash zsh' ;;
    'vcctl version') found='--help' ;;
    'vsub') found='--image --namespace --name --min --replicas --requests --limits --scheduler --command --queue --time --array --env --gpu --depends --kill-on-invalid-dep --volume --chdir --output --offline --no-requeue --wait --kubeconfig --master --help' ;;
    'vjobs') found='--namespace --name --scheduler --all-namespaces --selector --queue --user --state --sort --output --kubeconfig --master --help' ;;
    'vjobs --sort') found='name age state queue user' ;;
    'vjobs --output') found='json yaml table' ;;
    'vjobs -o') found='json yaml table' ;;
    'vqueues') found='--name --output --kubeconfig --master --help' ;;
    'vqueues --output') found='json yaml table' ;;
    'vqueues -o') found='json yaml table' ;;
    'vcancel') found='--namespace --name --kubeconfig --master --help' ;;
    'vsuspend') found='--namespace --name --kubeconfig --master --help' ;;
    'vresume') found='--namespace --name --kubeconfig --master --help' ;;
  esac
}
_volcano_complete() {
  local -a line=("${words[@]}")
  local at=$CURRENT path_so_far=${line[1]:t} found= i
  for ((i = 2; i < at; i++)); do
    _volcano_words "$path_so_far ${line[i]}"
    [[ ${line[i]} != -* && -n $found ]] && path_so_far="$path_so_far ${line[i]}"
  done
  _volcano_words "$path_so_far ${line[at - 1]}"
  [[ ${line[at - 1]} == -* && -n $found ]] || _volcano_words "$path_so_far"
  compadd -- ${=found}
}
compdef _volcano_complete vcctl vsub vjobs vqueues vcancel vsuspend vresume
