// The table of all jobs: filter, sort, groups and saved views in the address bar; actions on many at once.
import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { request } from './api.js';
import { plain } from './format.js';
import { actionOn, grouped, jobRows, kJobKinds, kindPath, matches, sorted } from './jobs_model.js';
import { useCollections, usePolled } from './live.js';
import { Ago, Dialog, Notices, State, Table, loading, emptyText, where } from './parts.js';
import { scoped } from './scope.js';
import { t } from './words.js';

export function useJobs() {
  const sources = useCollections([...kJobKinds.map((kind) => ({ path: kindPath(kind), table: true })), { path: scoped('/apis/scheduling.volcano.sh/v1beta1', 'podgroups'), table: true }]);
  const waiting = usePolled('/debug/waiting', 3000);
  const groups = sources[sources.length - 1];
  const rows = useMemo(
    () => jobRows(kJobKinds.map((kind, at) => ({ kind, items: sources[at].rows.values() })), [...groups.rows.values()], waiting.value),
    [sources.map((one) => `${one.path}/${one.version}/${one.state}`).join(), waiting.value],
  );
  return { rows, collections: sources.filter((one) => one.state !== 'absent'), waiting: waiting.value };
}

const kViews = 'volcano-views';
function savedViews() {
  try {
    return JSON.parse(localStorage.getItem(kViews) || '{}');
  } catch {
    return {};
  }
}

// The labels that jobs have, so that they can be grouped by one; the first twenty.
const labelsOf = (rows) => [...new Set(rows.flatMap((row) => Object.keys(row.labels)))].sort().slice(0, 20);

// Carries an action out on each row, a few at a time, and says how each went.
export async function act(rows, action, onProgress) {
  const results = new Map();
  const remaining = [...rows];
  const worker = async () => {
    for (let row = remaining.shift(); row; row = remaining.shift()) {
      const wish = actionOn(row, action);
      try {
        if (!wish) throw new Error('this kind has no such action');
        await request(wish.path, wish);
        results.set(row.key, null);
      } catch (error) {
        results.set(row.key, error.message);
      }
      onProgress(new Map(results));
    }
  };
  await Promise.all([...Array(6)].map(worker));
}

export function Confirmation({ action, rows, onClose }) {
  const [results, setResults] = useState(null);
  const title = t({ suspend: 'Suspend', resume: 'Resume', cancel: 'Cancel' }[action]);
  return html`<${Dialog} title=${title} onClose=${onClose}
    actions=${!results && html`<button type="button" class="danger" onClick=${() => act(rows, action, setResults)}>${t('Yes, do it')}</button>`}>
    <p>${t('This changes {n} jobs:', { n: rows.length })}</p>
    <ul class="named">${rows.map((row) => html`<li key=${row.key}>${plain(row.ns)}/${plain(row.name)} ${results?.has(row.key) && html`<strong class=${results.get(row.key) ? 'bad' : 'good'}>${results.get(row.key) ? `${t('failed')}: ${plain(results.get(row.key))}` : t('done')}</strong>`}</li>`)}</ul>
  <//>`;
}

export const jobColumns = () => [
  { id: 'name', title: t('Name'), width: 'minmax(9rem,2fr)', cell: (row) => html`<a href=${`#${where('job', row.kind.group, row.kind.plural, row.ns, row.name)}`} tabindex="-1">${plain(row.name)}</a>` },
  { id: 'ns', title: t('Namespace'), width: 'minmax(5rem,1fr)', minor: true, cell: (row) => plain(row.ns) },
  { id: 'kind', title: t('Kind'), width: '6.5rem', minor: true, cell: (row) => row.kindLabel },
  { id: 'state', title: t('State'), width: '8rem', cell: (row) => html`<${State} state=${row.state} word=${row.phase} />` },
  { id: 'queue', title: t('Queue'), width: 'minmax(5rem,1fr)', minor: true, cell: (row) => plain(row.queue) },
  { id: 'ready', title: t('Ready'), width: '5rem', cell: (row) => row.ready },
  { id: 'age', title: t('Age'), width: '4rem', cell: (row) => html`<${Ago} time=${row.created} />` },
  { id: 'reason', title: t('Reason'), width: 'minmax(8rem,4fr)', minor: true, cell: (row) => html`<span title=${plain(row.reason)}>${plain(row.reason)}</span>` },
];

export function Jobs({ query, setQuery, go }) {
  const { rows, collections } = useJobs();
  const [selected, setSelected] = useState(new Set());
  const [asked, setAsked] = useState(null);
  const [views, setViews] = useState(savedViews());
  const filter = query.filter || '';
  const sort = query.sort || 'age';
  const by = query.by || '';
  const found = useMemo(() => sorted(rows.filter((row) => matches(row, filter)), sort), [rows, filter, sort]);
  const shown = useMemo(() => grouped(found, by), [found, by]);
  const chosen = found.filter((row) => selected.has(row.key));
  const toggle = (row) => {
    const next = new Set(selected);
    if (!next.delete(row.key)) next.add(row.key);
    setSelected(next);
  };
  const save = () => {
    const name = prompt(t('Save view'), filter || by || 'view');
    if (!name) return;
    const next = { ...views, [name]: { filter, sort, by } };
    localStorage.setItem(kViews, JSON.stringify(next));
    setViews(next);
  };
  return html`<${Notices} of=${collections} />
    <form class="tools" role="search" onSubmit=${(event) => event.preventDefault()}>
      <label>${t('Filter')} <input type="search" value=${filter} placeholder="state:waiting queue:default name" onInput=${(event) => setQuery({ filter: event.currentTarget.value })} /></label>
      <label>${t('Group by')} <select value=${by} onChange=${(event) => setQuery({ by: event.currentTarget.value })}>
        ${[['', t('nothing')], ['queue', t('Queue')], ['user', t('User')], ['kind', t('Kind')], ['ns', t('Namespace')], ['state', t('State')], ...labelsOf(rows).map((label) => [`label:${label}`, label])].map(([value, title]) => html`<option key=${value} value=${value}>${title}</option>`)}
      </select></label>
      <button type="button" onClick=${save}>${t('Save view')}</button>
      ${Object.keys(views).length > 0 && html`<label>${t('Saved views')} <select value="" onChange=${(event) => setQuery(views[event.currentTarget.value] || {})}><option value=""></option>${Object.keys(views).map((name) => html`<option key=${name} value=${name}>${plain(name)}</option>`)}</select></label>`}
      <span class="soft" role="status">${found.length} ${t('rows')}</span>
    </form>
    <div class="tools" aria-label=${t('selected')}>
      <button type="button" onClick=${() => setSelected(new Set(selected.size === found.length ? [] : found.map((row) => row.key)))}>${t('Select all that match')}</button>
      ${['suspend', 'resume', 'cancel'].map((action) => html`<button type="button" key=${action} disabled=${chosen.length === 0} class=${action === 'cancel' ? 'danger' : ''} onClick=${() => setAsked({ action, rows: chosen })}>${t({ suspend: 'Suspend', resume: 'Resume', cancel: 'Cancel' }[action])} ${chosen.length || ''}</button>`)}
    </div>
    <${Table} label=${t('Jobs')} columns=${jobColumns()} rows=${shown} sort=${sort} onSort=${(next) => setQuery({ sort: next })} selected=${selected} onSelect=${toggle}
      onOpen=${(row) => go(where('job', row.kind.group, row.kind.plural, row.ns, row.name))}
      empty=${loading(collections) ? t('Loading…') : rows.length ? t('No job matches the filter.') : emptyText(collections, t('No job is here yet. Submit one, or run vsub.'))} />
    ${asked && html`<${Confirmation} ...${asked} onClose=${() => (setAsked(null), setSelected(new Set()))} />`}`;
}
