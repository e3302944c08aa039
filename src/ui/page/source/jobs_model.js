// Jobs of all kinds as rows of one table. Pure.
import { natural } from './format.js';
import { scoped } from './scope.js';

const kubeflow = (plural, kind) => ({ group: 'kubeflow.org/v1', plural, kind, training: true });
export const kJobKinds = [
  { group: 'batch.volcano.sh/v1alpha1', plural: 'jobs', kind: 'Job', volcano: true },
  { group: 'batch/v1', plural: 'jobs', kind: 'Job' },
  kubeflow('pytorchjobs', 'PyTorchJob'),
  kubeflow('tfjobs', 'TFJob'),
  kubeflow('mpijobs', 'MPIJob'),
  kubeflow('xgboostjobs', 'XGBoostJob'),
  kubeflow('paddlejobs', 'PaddleJob'),
  kubeflow('jaxjobs', 'JAXJob'),
];
export const kindPath = (kind) => scoped(`/apis/${kind.group}`, kind.plural);
export const objectPath = (kind, ns, name) => `/apis/${kind.group}/namespaces/${ns}/${kind.plural}/${name}`;
export const kindLabel = (kind) => (kind.volcano ? 'vcjob' : kind.kind === 'Job' ? 'Job' : kind.kind);

const cell = (row, ...names) => {
  for (const name of names) {
    const value = row.cells[name];
    if (value !== undefined && value !== null && value !== '<none>') return value;
  }
  return '';
};

export const isToday = (time) => time >= new Date().setHours(0, 0, 0, 0);

// The states of all kinds in six words: what people ask for first.
const kStates = {
  waiting: ['Pending', 'Inqueue', 'Created', 'CreationRefused', 'Unknown', ''],
  running: ['Running', 'Restarting', 'Completing', 'Terminating'],
  suspended: ['Aborted', 'Aborting', 'Suspended'],
  completed: ['Completed', 'Complete', 'Succeeded'],
  failed: ['Failed', 'Terminated', 'FailureTarget'],
};
export function stateOf(word) {
  for (const [state, words] of Object.entries(kStates)) if (words.includes(word)) return state;
  return 'running';
}

// `groups`: PodGroups as table rows; `waiting`: /debug/waiting, or null where it may not be read.
export function jobRows(sources, groups, waiting) {
  const byOwner = new Map();
  for (const group of groups) {
    const owner = group.metadata.ownerReferences?.find((one) => one.controller) || group.metadata.ownerReferences?.[0];
    byOwner.set(owner?.uid || group.metadata.uid, group);
  }
  const rows = [];
  const owners = new Set();
  for (const { kind, items } of sources)
    for (const item of items) {
      owners.add(item.metadata.uid);
      rows.push(rowOf(kind, item, byOwner.get(item.metadata.uid), waiting));
    }
  for (const [owner, group] of byOwner) if (!owners.has(owner)) rows.push(groupRow(group, waiting));
  return rows;
}

function reasonOf(group, waiting, fallback) {
  const told = group && waiting?.[`${group.metadata.namespace}/${group.metadata.name}`];
  return told?.message || (group && cell(group, 'REASON')) || fallback || '';
}

function rowOf(kind, item, group, waiting) {
  const { metadata } = item;
  const phase = String(cell(item, 'STATUS', 'State', 'Status'));
  const state = stateOf(phase);
  const ready = group ? [Number(cell(group, 'RUNNINGS') || 0), Number(cell(group, 'minMember') || 0)] : kind.volcano ? [Number(cell(item, 'RUNNINGS') || 0), Number(cell(item, 'minAvailable') || 0)] : null;
  const completions = kind.group === 'batch/v1' ? String(cell(item, 'Completions')) : '';
  return {
    key: `${kind.group}/${kind.plural}/${metadata.namespace}/${metadata.name}`,
    kind,
    kindLabel: kindLabel(kind),
    ns: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    phase: phase || 'Pending',
    state,
    queue: String(cell(item, 'QUEUE') || (group ? cell(group, 'QUEUE') : '')),
    user: metadata.annotations?.['volcano.sh/user'] || metadata.labels?.['volcano.sh/user'] || '',
    labels: metadata.labels || {},
    ready: completions || (ready ? `${ready[0]}/${ready[1]}` : ''),
    created: Date.parse(metadata.creationTimestamp),
    ended: state === 'completed' || state === 'failed' ? metadata.statusAt || 0 : 0,
    reason: state === 'waiting' || state === 'failed' ? reasonOf(state === 'waiting' ? group : null, waiting, String(cell(item, 'REASON'))) : '',
    group: group?.metadata.name,
  };
}

function groupRow(group, waiting) {
  const kind = { group: 'scheduling.volcano.sh/v1beta1', plural: 'podgroups', kind: 'PodGroup', plain: true };
  const row = rowOf(kind, group, group, waiting);
  return { ...row, kindLabel: 'PodGroup', queue: String(cell(group, 'QUEUE')) };
}

// What the words of a filter select: "queue:a user:ann state:waiting kind:vcjob ns:team label:k=v text".
export function matches(row, filter) {
  for (const word of filter.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = word.indexOf(':');
    const [key, value] = at > 0 ? [word.slice(0, at), word.slice(at + 1)] : ['', word];
    if (key === 'queue' && row.queue.toLowerCase() !== value) return false;
    else if (key === 'user' && row.user.toLowerCase() !== value) return false;
    else if (key === 'ended' && value === 'today') {
      if (!isToday(row.ended)) return false;
    } else if (key === 'state' && row.state !== value && row.phase.toLowerCase() !== value) return false;
    else if (key === 'kind' && row.kindLabel.toLowerCase() !== value) return false;
    else if (key === 'ns' && row.ns.toLowerCase() !== value) return false;
    else if (key === 'label') {
      const [name, wanted] = value.split('=');
      const own = Object.entries(row.labels).find(([label]) => label.toLowerCase() === name);
      if (!own || (wanted !== undefined && own[1].toLowerCase() !== wanted)) return false;
    } else if (!['queue', 'user', 'state', 'kind', 'ns'].includes(key) && !`${row.ns}/${row.name} ${row.reason}`.toLowerCase().includes(word)) return false;
  }
  return true;
}

const kOrder = {
  name: (a, b) => natural(a.name, b.name) || natural(a.ns, b.ns),
  ns: (a, b) => natural(a.ns, b.ns),
  kind: (a, b) => natural(a.kindLabel, b.kindLabel),
  state: (a, b) => natural(a.phase, b.phase),
  queue: (a, b) => natural(a.queue, b.queue),
  user: (a, b) => natural(a.user, b.user),
  ready: (a, b) => natural(a.ready, b.ready),
  age: (a, b) => b.created - a.created,
  reason: (a, b) => natural(a.reason, b.reason),
};
export function sorted(rows, sort) {
  const down = sort.startsWith('-');
  const order = kOrder[down ? sort.slice(1) : sort] || kOrder.age;
  return [...rows].sort((a, b) => (down ? -1 : 1) * order(a, b) || natural(a.key, b.key));
}

// Rows with a heading before each group: by queue, user, kind, ns, state, or label:KEY.
export function grouped(rows, by) {
  if (!by) return rows;
  const value = (row) => (by.startsWith('label:') ? row.labels[by.slice(6)] : by === 'kind' ? row.kindLabel : row[by]) || '(none)';
  const groups = new Map();
  for (const row of rows) {
    const key = value(row);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return [...groups].sort(([a], [b]) => natural(a, b)).flatMap(([name, members]) => [{ heading: name, count: members.length, key: `heading ${name}` }, ...members]);
}

// What suspends, resumes or cancels a job: a request, or null where its kind has no such thing.
export function actionOn(row, action) {
  const path = objectPath(row.kind, row.ns, row.name);
  if (action === 'cancel') return { method: 'DELETE', path: `${path}?propagationPolicy=Background` };
  if (row.kind.volcano) {
    const word = action === 'suspend' ? 'AbortJob' : 'ResumeJob';
    return {
      method: 'POST',
      path: `/apis/bus.volcano.sh/v1alpha1/namespaces/${row.ns}/commands`,
      body: {
        apiVersion: 'bus.volcano.sh/v1alpha1',
        kind: 'Command',
        metadata: {
          generateName: `${row.name.slice(0, 40)}-${word.toLowerCase()}-`,
          namespace: row.ns,
          ownerReferences: [{ apiVersion: row.kind.group, kind: 'Job', name: row.name, uid: row.uid, controller: true }],
        },
        target: { apiVersion: row.kind.group, kind: 'Job', name: row.name, uid: row.uid, controller: true },
        action: word,
      },
    };
  }
  if (row.kind.plain) return null;
  const suspend = action === 'suspend';
  const body = row.kind.training ? { spec: { runPolicy: { suspend } } } : { spec: { suspend } };
  return { method: 'PATCH', path, type: 'application/merge-patch+json', body };
}
