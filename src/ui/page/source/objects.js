// Any kind's list and YAML, and events: so that nobody needs a second page for a Secret or a claim.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { json, request } from './api.js';
import { natural, plain } from './format.js';
import { useCollection } from './live.js';
import { Ago, Dialog, Link, Notices, Table, emptyText, where } from './parts.js';
import { scoped } from './scope.js';
import { t } from './words.js';
import { yaml } from './yaml.js';

const basePath = (group) => (group === 'v1' ? '/api/v1' : `/apis/${group}`);

// Kinds that can be listed, by discovery: [{group, plural, kind, namespaced}].
export async function discover() {
  const groups = await json('/apis');
  const versions = ['v1', ...(groups.groups || []).map((group) => group.preferredVersion.groupVersion)];
  const found = await Promise.all(versions.map((version) => json(basePath(version)).then((list) => ({ version, list })).catch(() => null)));
  return found
    .filter(Boolean)
    .flatMap(({ version, list }) => (list.resources || []).filter((one) => !one.name.includes('/') && one.verbs.includes('list')).map((one) => ({ group: version, plural: one.name, kind: one.kind, namespaced: one.namespaced })))
    .sort((a, b) => natural(a.kind, b.kind));
}

export function Objects({ group, plural, go }) {
  const [kinds, setKinds] = useState([]);
  const [error, setError] = useState(null);
  useEffect(() => void discover().then(setKinds, setError), []);
  const shown = group && plural ? { group, plural } : { group: 'v1', plural: 'configmaps' };
  const lies = kinds.find((one) => one.group === shown.group && one.plural === shown.plural)?.namespaced ?? true;
  const list = useCollection(lies ? scoped(basePath(shown.group), shown.plural) : `${basePath(shown.group)}/${shown.plural}`, { table: true });
  const rows = [...list.rows.values()].map((row) => ({ ...row, key: row.metadata.uid || row.metadata.name, name: row.metadata.name })).sort((a, b) => natural(a.metadata.namespace, b.metadata.namespace) || natural(a.name, b.name));
  const extra = (list.columns || []).filter((name) => !/^(name|namespace|age)$/i.test(name)).slice(0, 4);
  const columns = [
    { id: 'ns', title: t('Namespace'), width: 'minmax(6rem,1fr)', minor: true, cell: (row) => plain(row.metadata.namespace || '') },
    { id: 'name', title: t('Name'), width: 'minmax(10rem,2fr)', cell: (row) => html`<${Link} to=${where('objects', shown.group, shown.plural, row.metadata.namespace || '-', row.metadata.name)} tabindex="-1">${plain(row.metadata.name)}<//>` },
    ...extra.map((name) => ({ id: name, title: name, width: 'minmax(4rem,1fr)', minor: true, cell: (row) => plain(row.cells[name]) })),
    { id: 'age', title: t('Age'), width: '4rem', cell: (row) => html`<${Ago} time=${Date.parse(row.metadata.creationTimestamp)} />` },
  ];
  return html`<${Notices} of=${[list]} />
    <form class="tools" onSubmit=${(event) => event.preventDefault()}><label>${t('Kind')} <select value=${`${shown.group} ${shown.plural}`} onChange=${(event) => go(where('objects', ...event.currentTarget.value.split(' ')))}>
      ${kinds.map((one) => html`<option key=${one.group + one.plural} value=${`${one.group} ${one.plural}`}>${one.kind} (${one.group})</option>`)}
    </select></label> <span class="soft" role="status">${rows.length} ${t('rows')}</span></form>
    ${error && html`<p class="notice">${plain(error.message)}</p>`}
    <${Table} label=${shown.plural} columns=${columns} rows=${rows} onOpen=${(row) => go(where('objects', shown.group, shown.plural, row.metadata.namespace || '-', row.metadata.name))}
      empty=${emptyText(list, t('No object of this kind.'))} />`;
}

export function ObjectPage({ group, plural, ns, name, go }) {
  const [asked, setAsked] = useState(false);
  const [error, setError] = useState(null);
  const place = `${basePath(group)}${ns !== '-' ? `/namespaces/${encodeURIComponent(ns)}` : ''}/${plural}`;
  const list = useCollection(place, { query: { fieldSelector: `metadata.name=${name}` } });
  const object = list.rows.get(`${ns === '-' ? '' : ns}/${name}`);
  const remove = async () => {
    try {
      await request(`${place}/${encodeURIComponent(name)}`, { method: 'DELETE' });
      go(where('objects', group, plural));
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Notices} of=${[list]} />
    <header class="subject"><h2>${plain(name)} <span class="soft">${plural} ${ns === '-' ? '' : `· ${plain(ns)}`}</span></h2><button type="button" class="danger" onClick=${() => setAsked(true)}>${t('Delete')}</button></header>
    ${object ? html`<pre class="code" tabindex="0">${plain(yaml(object))}</pre><h3>${t('Events')}</h3><${EventList} ns=${ns === '-' ? 'default' : ns} names=${[name]} />` : html`<p class="empty">${emptyText(list, t('No object of this kind.'))}</p>`}
    ${asked && html`<${Dialog} title=${`${t('Delete')}: ${plain(name)}`} onClose=${() => setAsked(false)} actions=${html`<button type="button" class="danger" onClick=${remove}>${t('Yes, do it')}</button>`}>${error && html`<p class="notice">${plain(error.message)}</p>`}<//>`}`;
}

const timeOf = (event) => Date.parse(event.series?.lastObservedTime || event.lastTimestamp || event.eventTime || event.metadata.creationTimestamp);

export function EventList({ ns, names }) {
  const list = useCollection(ns ? `/api/v1/namespaces/${encodeURIComponent(ns)}/events` : scoped('/api/v1', 'events'));
  const wanted = names && new Set(names.filter(Boolean));
  const events = [...list.rows.values()].filter((event) => !wanted || wanted.has(event.involvedObject?.name)).sort((a, b) => timeOf(b) - timeOf(a));
  const rows = events.map((event) => ({ event, key: event.metadata.uid, name: event.metadata.name }));
  const columns = [
    { id: 'age', title: t('Last seen'), width: '5rem', cell: ({ event }) => html`<${Ago} time=${timeOf(event)} />` },
    { id: 'type', title: t('Type'), width: '6rem', minor: true, cell: ({ event }) => html`<span class=${event.type === 'Warning' ? 'bad' : ''}>${plain(event.type)}</span>` },
    { id: 'reason', title: t('Reason'), width: 'minmax(6rem,1fr)', cell: ({ event }) => plain(event.reason) },
    { id: 'object', title: t('Object'), width: 'minmax(8rem,1.5fr)', minor: true, cell: ({ event }) => plain(`${event.involvedObject?.kind}/${event.involvedObject?.name}`) },
    { id: 'message', title: t('Message'), width: 'minmax(10rem,4fr)', cell: ({ event }) => html`<span title=${plain(event.message)}>${plain(event.message)}${event.count > 1 ? ` (${event.count} ${t('times')})` : ''}</span>` },
  ];
  return html`<${Notices} of=${[list]} /><${Table} label=${t('Events')} columns=${columns} rows=${rows} empty=${emptyText(list, t('No event yet.'))} />`;
}
