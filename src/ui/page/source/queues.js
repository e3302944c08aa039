// The tree of queues: deserved, guaranteed, allocated and capability as bars; who waits; create, edit, open and close.
import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { request } from './api.js';
import { amount, natural, plain, quantity } from './format.js';
import { jobColumns, useJobs } from './jobs.js';
import { useCollection } from './live.js';
import { Bar, Dialog, Link, Notices, Table, emptyText, where } from './parts.js';
import { t } from './words.js';
import { yaml } from './yaml.js';

const kPath = '/apis/scheduling.volcano.sh/v1beta1/queues';

// Queues in the order of their tree: [{queue, depth}]. A circle, or an absent parent, stands at the top.
export function tree(queues) {
  const by = new Map(queues.map((queue) => [queue.metadata.name, queue]));
  const children = new Map();
  for (const queue of queues) {
    const parent = queue.metadata.name === 'root' ? '' : by.has(queue.spec?.parent) ? queue.spec.parent : by.has('root') ? 'root' : '';
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(queue);
  }
  const out = [];
  const seen = new Set();
  const walk = (queue, depth) => {
    if (seen.has(queue.metadata.name)) return;
    seen.add(queue.metadata.name);
    out.push({ queue, depth });
    for (const child of (children.get(queue.metadata.name) || []).sort((a, b) => natural(a.metadata.name, b.metadata.name))) walk(child, depth + 1);
  };
  for (const queue of (children.get('') || []).sort((a, b) => natural(a.metadata.name, b.metadata.name))) walk(queue, 0);
  for (const queue of queues) walk(queue, 0);
  return out;
}

// The fields that saving would change, as sentences.
export function changes(before, after, path = '') {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
  if (isObject(before) && isObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((key) => changes(before[key], after[key], path ? `${path}.${key}` : key));
  const shown = (value) => (value === undefined ? '(unset)' : typeof value === 'object' ? JSON.stringify(value) : String(value));
  return [`${path}: ${shown(before)} → ${shown(after)}`];
}

const text = (list) => Object.entries(list || {}).map(([name, value]) => `${name}=${value}`).join(', ');
function amounts(words) {
  const out = {};
  for (const word of words.split(',').map((one) => one.trim()).filter(Boolean)) {
    const at = word.indexOf('=');
    if (at <= 0 || Number.isNaN(quantity(word.slice(at + 1)))) throw new Error(`"${word}" is not NAME=AMOUNT, such as cpu=8 or memory=32Gi`);
    out[word.slice(0, at)] = word.slice(at + 1);
  }
  return Object.keys(out).length ? out : undefined;
}

function EditQueue({ queue, onClose }) {
  const spec = queue?.spec || { weight: 1 };
  const [form, setForm] = useState({ name: queue?.metadata.name || '', weight: String(spec.weight ?? 1), parent: spec.parent || '', capability: text(spec.capability), deserved: text(spec.deserved), guarantee: text(spec.guarantee?.resource) });
  const [found, setFound] = useState(null); // what would change, after a dry run
  const [error, setError] = useState(null);
  const set = (key) => (event) => (setFound(null), setForm({ ...form, [key]: event.currentTarget.value }));
  const made = () => {
    const guarantee = amounts(form.guarantee);
    return {
      apiVersion: 'scheduling.volcano.sh/v1beta1',
      kind: 'Queue',
      metadata: queue ? { name: form.name, resourceVersion: queue.metadata.resourceVersion, labels: queue.metadata.labels, annotations: queue.metadata.annotations } : { name: form.name },
      spec: { ...spec, weight: Number(form.weight), parent: form.parent || undefined, capability: amounts(form.capability), deserved: amounts(form.deserved), guarantee: guarantee ? { resource: guarantee } : undefined },
    };
  };
  const send = async (dryRun) => {
    setError(null);
    try {
      const body = made();
      const path = `${queue ? `${kPath}/${encodeURIComponent(form.name)}` : kPath}${dryRun ? '?dryRun=All' : ''}`;
      const answer = await (await request(path, { method: queue ? 'PUT' : 'POST', body })).json();
      if (!dryRun) return onClose();
      setFound(changes(queue?.spec || {}, answer.spec));
    } catch (problem) {
      setError(problem.status === 409 && queue ? t('Somebody else changed it meanwhile. Look at the new state, and save again.') : problem.message);
    }
  };
  const field = (key, title, hint, extra = {}) => html`<label>${title} <input value=${form[key]} onInput=${set(key)} placeholder=${hint} ...${extra} /></label>`;
  return html`<${Dialog} title=${queue ? `${t('Edit')}: ${plain(form.name)}` : t('Create queue')} onClose=${onClose}
      actions=${html`<button type="button" onClick=${() => send(true)}>${t('What would change')}</button>${found && html`<button type="button" class="primary" onClick=${() => send(false)}>${t('Save')}</button>`}`}>
    <form class="fields" onSubmit=${(event) => (event.preventDefault(), send(true))}>
      ${field('name', t('Name'), 'team-a', { readonly: Boolean(queue), required: true })}
      ${field('weight', t('Weight'), '1', { inputmode: 'numeric' })} ${field('parent', t('Parent'), 'root')}
      ${field('capability', t('Capability'), 'cpu=8, memory=32Gi')} ${field('deserved', t('Deserved'), 'cpu=4')} ${field('guarantee', t('Guaranteed'), 'cpu=2')}
    </form>
    ${error && html`<p class="notice" role="alert">${plain(error)}</p>`}
    ${found && html`<h3>${t('What would change')}</h3>${found.length ? html`<ul>${found.map((line) => html`<li key=${line}>${plain(line)}</li>`)}</ul>` : html`<p>${t('Nothing would change.')}</p>`}`}
  <//>`;
}

function Resources({ queue }) {
  const { spec = {}, status = {} } = queue;
  const names = [...new Set([spec.capability, spec.deserved, spec.guarantee?.resource, status.allocated].flatMap((list) => Object.keys(list || {})))].filter((name) => name !== 'pods').sort(natural);
  return html`<div class="meters">${names.map((name) => {
    const value = (list) => quantity(list?.[name]);
    const used = value(status.allocated), limit = spec.capability?.[name] !== undefined ? value(spec.capability) : NaN;
    const deserved = value(spec.deserved), guaranteed = value(spec.guarantee?.resource);
    const words = `${t('Allocated')} ${amount(name, used)}, ${t('Deserved')} ${amount(name, deserved)}, ${t('Guaranteed')} ${amount(name, guaranteed)}, ${t('Capability')} ${Number.isNaN(limit) ? t('no limit') : amount(name, limit)}`;
    return html`<div class="meter" key=${name}><span>${plain(name)}</span><${Bar} total=${Number.isNaN(limit) ? Math.max(used, deserved, guaranteed, 1e-9) : limit} parts=${[{ value: Math.min(used, deserved || used), kind: 'used' }, { value: Math.max(0, used - (deserved || used)), kind: 'over' }]} label=${`${name}: ${words}`} /><span>${words}</span></div>`;
  })}</div>`;
}

export function Queues({ name, go }) {
  const list = useCollection(kPath);
  const { rows, collections } = useJobs();
  const [edited, setEdited] = useState(null);
  const [error, setError] = useState(null);
  const ordered = useMemo(() => tree([...list.rows.values()]), [list.version]);
  const waiting = new Map();
  for (const row of rows) if (row.state === 'waiting') waiting.set(row.queue, (waiting.get(row.queue) || 0) + 1);
  const one = name && list.rows.get(`/${name}`);
  const command = async (queue, action) => {
    setError(null);
    try {
      await request('/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands', {
        method: 'POST',
        body: { apiVersion: 'bus.volcano.sh/v1alpha1', kind: 'Command', metadata: { generateName: `${queue.metadata.name.slice(0, 40)}-`, namespace: 'default' }, target: { apiVersion: 'scheduling.volcano.sh/v1beta1', kind: 'Queue', name: queue.metadata.name, uid: queue.metadata.uid, controller: true }, action },
      });
    } catch (problem) {
      setError(problem);
    }
  };
  const buttons = (queue) => html`<span class="actions"><button type="button" onClick=${() => setEdited(queue)}>${t('Edit')}</button>
    ${queue.metadata.name !== 'root' && (queue.status?.state === 'Closed' || queue.status?.state === 'Closing' ? html`<button type="button" onClick=${() => command(queue, 'OpenQueue')}>${t('Open the queue')}</button>` : html`<button type="button" onClick=${() => command(queue, 'CloseQueue')}>${t('Close the queue')}</button>`)}</span>`;
  const dialog = edited && html`<${EditQueue} queue=${edited === 'new' ? null : edited} onClose=${() => setEdited(null)} />`;
  const notice = error && html`<p class="notice" role="alert">${plain(error.message)}</p>`;
  if (name) {
    const own = rows.filter((row) => row.queue === name).map((row) => row);
    return html`<${Notices} of=${[list, ...collections]} />${notice}<header class="subject"><h2>${plain(name)} <span class="soft">Queue · ${plain(one?.status?.state || '')}</span></h2>${one && buttons(one)}</header>
      ${one ? html`<${Resources} queue=${one} /><h3>${t('Jobs')}</h3><${Table} label=${t('Jobs')} columns=${jobColumns()} rows=${own} onOpen=${(row) => go(where('job', row.kind.group, row.kind.plural, row.ns, row.name))} empty=${emptyText(collections, t('Nothing waits.'))} /><h3>${t('YAML')}</h3><pre class="code" tabindex="0">${plain(yaml(one))}</pre>` : html`<p class="empty">${emptyText(list, t('No object of this kind.'))}</p>`}${dialog}`;
  }
  return html`<${Notices} of=${[list]} />${notice}
    <div class="tools"><button type="button" class="primary" onClick=${() => setEdited('new')}>${t('Create queue')}</button></div>
    <ul class="queues">${ordered.map(({ queue, depth }) => html`<li key=${queue.metadata.name} style=${`margin-inline-start:${Math.min(depth, 8) * 1.2}rem`}>
      <header><${Link} to=${where('queues', queue.metadata.name)}><strong>${plain(queue.metadata.name)}</strong><//> <span class=${`chip ${queue.status?.state === 'Open' ? '' : 'bad'}`}>${t(queue.status?.state || '')}</span>
        <span class="soft">${t('Running')} ${queue.status?.running || 0}, ${t('Waiting')} ${waiting.get(queue.metadata.name) || 0}</span> ${buttons(queue)}</header>
      <${Resources} queue=${queue} />
    </li>`)}</ul>${ordered.length === 0 && html`<p class="empty">${emptyText(list, t('No object of this kind.'))}</p>`}${dialog}`;
}
