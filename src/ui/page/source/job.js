// One job: its gang and pods, timeline, the cause of its wait down to the smallest, events, logs, YAML, related objects.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { plain } from './format.js';
import { kJobKinds, objectPath, stateOf } from './jobs_model.js';
import { Confirmation } from './jobs.js';
import { useCollection, usePolled } from './live.js';
import { Logs } from './logs.js';
import { EventList } from './objects.js';
import { Ago, Bar, Link, Notices, State, Table, exact, emptyText, where } from './parts.js';
import { t } from './words.js';
import { yaml } from './yaml.js';

export const ownerOf = (object) => object.metadata.ownerReferences?.find((one) => one.controller) || object.metadata.ownerReferences?.[0];

// The pods of a job: its own, or those of a Job that it made (MPI launchers).
export function podsOf(job, pods) {
  const owners = new Set([job.metadata.uid]);
  for (const pod of pods) {
    const owner = ownerOf(pod);
    if (owner && owner.kind === 'Job' && owner.name === `${job.metadata.name}-launcher`) owners.add(owner.uid);
  }
  return pods.filter((pod) => owners.has(ownerOf(pod)?.uid));
}

// Moments of a job in order: [{time, what}], and how long it waited with which reason.
export function timeline(job, group, pods) {
  const out = [{ time: Date.parse(job.metadata.creationTimestamp), what: 'submitted' }];
  for (const condition of job.status?.conditions || []) {
    const time = Date.parse(condition.lastTransitionTime);
    const what = condition.status && condition.type ? `${condition.type}${condition.status === 'False' ? ' (no)' : ''}` : condition.status || condition.type;
    if (Number.isFinite(time) && what) out.push({ time, what, state: stateOf(condition.status && !condition.type ? condition.status : condition.type) });
  }
  for (const condition of group?.status?.conditions || []) {
    const time = Date.parse(condition.lastTransitionTime);
    if (Number.isFinite(time)) out.push({ time, what: `${condition.type === 'Unschedulable' ? t('Waiting') : t('scheduled')}: ${condition.message || condition.reason || ''}`, state: condition.type === 'Unschedulable' ? 'waiting' : 'running' });
  }
  const starts = pods.map((pod) => Date.parse(pod.status?.startTime)).filter(Number.isFinite);
  if (starts.length) out.push({ time: Math.min(...starts), what: `${t('started')} (${starts.length})`, state: 'running' });
  return out.sort((a, b) => a.time - b.time);
}

// The causes of a wait, from the group down to the smallest: nested {text, below}.
export function causes(told, group, pods) {
  if (!told && !group) return null;
  const message = told?.message || (group?.status?.conditions || []).find((one) => one.type === 'Unschedulable')?.message;
  if (!message) return null;
  const smallest = [];
  if (told?.resource) smallest.push({ text: `${told.resource}: ${told.wanted ?? '?'} wanted, ${told.used ?? '?'} of ${told.allowed ?? '?'} used` });
  if (told?.detail && !message.includes(told.detail)) smallest.push({ text: told.detail });
  const ofPods = new Map();
  for (const pod of pods) {
    const condition = (pod.status?.conditions || []).find((one) => one.type === 'PodScheduled' && one.status === 'False');
    if (condition?.message) ofPods.set(condition.message, [...(ofPods.get(condition.message) || []), pod.metadata.name]);
  }
  for (const [text, names] of ofPods) smallest.push({ text, below: names.slice(0, 5).map((name) => ({ text: name })) });
  return { text: told?.reason ? `${told.reason}: ${message}` : message, below: smallest };
}

const Tree = ({ node }) => html`<li>${plain(node.text)}${node.below?.length > 0 && html`<ul>${node.below.map((one) => html`<${Tree} key=${one.text} node=${one} />`)}</ul>`}</li>`;

export function Timeline({ moments }) {
  return html`<ol class="timeline">${moments.map(({ time, what, state }, at) => html`<li key=${at} class=${`state-${state || ''}`}><time datetime=${new Date(time).toISOString()} title=${exact(time)}><${Ago} time=${time} /></time> <span>${plain(what)}</span></li>`)}</ol>`;
}

const podColumns = () => [
  { id: 'name', title: t('Name'), width: 'minmax(10rem,2fr)', cell: (pod) => html`<${Link} to=${where('objects', 'v1', 'pods', pod.metadata.namespace, pod.metadata.name)} tabindex="-1">${plain(pod.metadata.name)}<//>` },
  { id: 'state', title: t('State'), width: '8rem', cell: (pod) => html`<${State} state=${stateOf(pod.status?.phase)} word=${pod.metadata.deletionTimestamp ? 'Terminating' : pod.status?.phase || ''} />` },
  { id: 'node', title: t('Node'), width: 'minmax(5rem,1fr)', cell: (pod) => (pod.spec?.nodeName ? html`<${Link} to=${where('machines', pod.spec.nodeName)} tabindex="-1">${plain(pod.spec.nodeName)}<//>` : '') },
  { id: 'restarts', title: t('Restarts'), width: '5rem', minor: true, cell: (pod) => (pod.status?.containerStatuses || []).reduce((sum, one) => sum + (one.restartCount || 0), 0) },
  { id: 'age', title: t('Age'), width: '4rem', cell: (pod) => html`<${Ago} time=${Date.parse(pod.metadata.creationTimestamp)} />` },
];

// Job, group, queue, pods and claims as boxes with lines between them.
function ObjectMap({ job, group, pods }) {
  const claims = [...new Set(pods.flatMap((pod) => (pod.spec?.volumes || []).map((one) => one.persistentVolumeClaim?.claimName)).filter(Boolean))];
  const columns = [
    [{ label: job.metadata.name, kind: job.kind, to: null }],
    group ? [{ label: group.metadata.name, kind: 'PodGroup', to: where('objects', 'scheduling.volcano.sh/v1beta1', 'podgroups', group.metadata.namespace, group.metadata.name) }] : [],
    [...(group?.spec?.queue ? [{ label: group.spec.queue, kind: 'Queue', to: where('queues', group.spec.queue) }] : []), { label: `${pods.length}`, kind: t('Pods'), to: null }, ...claims.slice(0, 4).map((claim) => ({ label: claim, kind: 'PersistentVolumeClaim', to: where('objects', 'v1', 'persistentvolumeclaims', job.metadata.namespace, claim) }))],
  ].filter((column) => column.length);
  const height = Math.max(...columns.map((column) => column.length)) * 56 + 8;
  const place = (column, row) => [column * 260 + 4, row * 56 + 4];
  const edges = [];
  columns.forEach((column, at) => columns[at + 1]?.forEach((_, to) => edges.push([place(at, 0), place(at + 1, to)])));
  return html`<svg class="map" viewBox=${`0 0 ${columns.length * 260} ${height}`} role="img" aria-label=${t('Related objects')}>
    ${edges.map(([[x1, y1], [x2, y2]], at) => html`<path key=${at} d=${`M${x1 + 230} ${y1 + 22} C${x1 + 245} ${y1 + 22} ${x2 - 15} ${y2 + 22} ${x2} ${y2 + 22}`} />`)}
    ${columns.flatMap((column, at) =>
      column.map(({ label, kind, to }, row) => {
        const [x, y] = place(at, row);
        const box = html`<g><rect x=${x} y=${y} width="230" height="44" rx="6" /><text x=${x + 10} y=${y + 17} class="soft">${kind}</text><text x=${x + 10} y=${y + 35}>${plain(label).slice(0, 30)}</text></g>`;
        return to ? html`<a key=${label + kind} href=${`#${to}`} aria-label=${`${kind} ${plain(label)}`}>${box}</a>` : box;
      }),
    )}
  </svg>`;
}

export function Job({ group: apiGroup, plural, ns, name, query, setQuery, go }) {
  const kind = kJobKinds.find((one) => one.group === apiGroup && one.plural === plural) || { group: apiGroup, plural, kind: 'PodGroup', plain: true };
  const [asked, setAsked] = useState(null);
  const one = useCollection(`/apis/${apiGroup}/namespaces/${encodeURIComponent(ns)}/${plural}`, { query: { fieldSelector: `metadata.name=${name}` } });
  const groups = useCollection(`/apis/scheduling.volcano.sh/v1beta1/namespaces/${encodeURIComponent(ns)}/podgroups`);
  const job = one.rows.get(`${ns}/${name}`);
  const selector = kind.volcano ? `volcano.sh/job-name=${name}` : kind.training ? `training.kubeflow.org/job-name=${name}` : kind.plain ? undefined : `batch.kubernetes.io/job-name=${name}`;
  const pods = useCollection(`/api/v1/namespaces/${encodeURIComponent(ns)}/pods`, { query: selector ? { labelSelector: selector } : {} });
  const waiting = usePolled('/debug/waiting', 3000);
  if (!job) return html`<${Notices} of=${[one]} /><p class="empty">${emptyText(one, t('No object of this kind.'))}</p>`;
  const group = kind.plain ? job : [...groups.rows.values()].find((each) => ownerOf(each)?.uid === job.metadata.uid);
  const members = kind.plain ? [...pods.rows.values()].filter((pod) => pod.metadata.annotations?.['scheduling.k8s.io/group-name'] === name) : podsOf(job, [...pods.rows.values()]);
  const phase = job.status?.state?.phase || job.status?.phase || [...(job.status?.conditions || [])].reverse().find((each) => each.status === 'True')?.type || 'Pending';
  const row = { key: name, kind, ns, name, uid: job.metadata.uid };
  const cause = stateOf(phase) === 'waiting' || members.some((pod) => pod.status?.phase === 'Pending') ? causes(waiting.value?.[`${ns}/${group?.metadata.name}`], group, members) : null;
  const running = members.filter((pod) => pod.status?.phase === 'Running').length;
  const tab = query.tab || 'pods';
  const tabs = [['pods', t('Pods')], ['logs', t('Logs')], ['events', t('Events')], ['map', t('Related objects')], ['yaml', t('YAML')]];
  return html`<${Notices} of=${[one, pods, groups]} />
    <header class="subject"><h2>${plain(name)} <span class="soft">${kind.kind} · ${plain(ns)}</span></h2><${State} state=${stateOf(phase)} word=${phase} />
      ${['suspend', 'resume', 'cancel'].filter((action) => !kind.plain || action === 'cancel').map((action) => html`<button type="button" key=${action} class=${action === 'cancel' ? 'danger' : ''} onClick=${() => setAsked({ action, rows: [row] })}>${t({ suspend: 'Suspend', resume: 'Resume', cancel: 'Cancel' }[action])}</button>`)}
    </header>
    ${job.status?.state?.message && html`<p>${plain(job.status.state.message)}</p>`}
    ${group && html`<p>${running} ${t('Running').toLowerCase()} ${t('of a gang of')} ${group.spec?.minMember ?? 1} <${Bar} total=${Math.max(members.length, group.spec?.minMember || 1)} parts=${[{ value: running, kind: 'used' }]} label=${`${running}/${group.spec?.minMember ?? 1}`} /> ${t('Queue')}: <${Link} to=${where('queues', group.spec?.queue || 'default')}>${plain(group.spec?.queue || 'default')}<//></p>`}
    ${cause && html`<section><h3>${t('Why it waits')}</h3><ul class="causes"><${Tree} node=${cause} /></ul></section>`}
    <section><h3>${t('Timeline')}</h3><${Timeline} moments=${timeline(job, group, members)} /></section>
    <div role="tablist" class="tabs" aria-label=${plain(name)}>${tabs.map(([id, title]) => html`<button key=${id} role="tab" id=${`tab-${id}`} aria-selected=${tab === id} aria-controls="tab-body" onClick=${() => setQuery({ tab: id })}>${title}</button>`)}</div>
    <div role="tabpanel" id="tab-body" aria-labelledby=${`tab-${tab}`} class="tab-body">
      ${tab === 'pods' && html`<${Table} label=${t('Pods')} columns=${podColumns()} rows=${members.map((pod) => ({ ...pod, key: pod.metadata.uid, name: pod.metadata.name }))} onOpen=${(pod) => go(where('objects', 'v1', 'pods', ns, pod.metadata.name))} empty=${emptyText(pods, t('No pod is there.'))} />`}
      ${tab === 'logs' && html`<${Logs} ns=${ns} pods=${members} />`}
      ${tab === 'events' && html`<${EventList} ns=${ns} names=${[name, group?.metadata.name, ...members.map((pod) => pod.metadata.name)]} />`}
      ${tab === 'map' && html`<${ObjectMap} job=${job} group=${group} pods=${members} />`}
      ${tab === 'yaml' && html`<pre class="code" tabindex="0">${plain(yaml(job))}</pre>`}
    </div>
    ${asked && html`<${Confirmation} ...${asked} onClose=${() => setAsked(null)} />`}`;
}
export { objectPath };
