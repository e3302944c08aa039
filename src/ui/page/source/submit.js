// Submit: a form for a simple job that shows the YAML it makes, and any YAML that is pasted or dropped. Both are checked
// by a dry run, and errors stand beside their lines.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { json, request } from './api.js';
import { plain } from './format.js';
import { Link, where } from './parts.js';
import { documents, forecastOf, isJob, lineOf, objectsOf, rehearsed } from './submit_model.js';
import './submit_words.js';
import { t } from './words.js';
import { yaml } from './yaml.js';

// What the scheduler would do with workloads, all of which the server accepts: sentences, none where it is not asked
// here.
async function rehearse(objects) {
  const items = rehearsed(objects);
  if (items.length === 0) return [];
  try {
    return forecastOf(await json('/debug/rehearsal', { method: 'POST', body: { apiVersion: 'v1', kind: 'List', items } })).map(([text, values]) => t(text, values));
  } catch (error) {
    return error.status === 404 ? [] : [plain(error.message)];
  }
}

async function pathFor(text, ns) {
  const word = (key) => new RegExp(`^${key}:\\s*["']?([^"'\\s#]+)`, 'm').exec(text)?.[1];
  const group = word('apiVersion'), kind = word('kind');
  if (!group || !kind) throw new Error('apiVersion and kind: both have to be there');
  const base = group.includes('/') ? `/apis/${group}` : `/api/${group}`;
  const list = await json(base).catch(() => {
    throw new Error(`apiVersion: the cluster does not serve ${group}`);
  });
  const found = list.resources?.find((one) => one.kind === kind && !one.name.includes('/'));
  if (!found) throw new Error(`kind: the cluster does not serve ${kind} of ${group}`);
  const metadata = /^metadata:\n((?:[ \t]+.*\n?|\n)*)/m.exec(text)?.[1] || '';
  const own = /^\s+namespace:\s*["']?([^"'\s#]+)/m.exec(metadata)?.[1];
  return found.namespaced ? `${base}/namespaces/${encodeURIComponent(own || ns)}/${found.name}` : `${base}/${found.name}`;
}

// Sends all documents, or asks what would be said to them. [{line, message, name}]
export async function send(text, ns, dryRun) {
  const out = [];
  for (const document of documents(text)) {
    try {
      const path = await pathFor(document.text, ns);
      const made = await (await request(`${path}?fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`, { method: 'POST', type: 'application/yaml', body: document.text })).json();
      out.push({ line: document.line, ok: true, object: made, message: `${made.kind} ${made.metadata.namespace ? `${made.metadata.namespace}/` : ''}${made.metadata.name}` });
    } catch (error) {
      const causes = error.causes?.length ? error.causes : [{ field: /^([a-z]\w*(?:[.[]\S*)?):/.exec(error.message)?.[1] || '', message: error.message }];
      for (const cause of causes) {
        const at = cause.field ? lineOf(document.text, cause.field) : -1;
        out.push({ line: document.line + Math.max(at, 0), ok: false, message: cause.field && !cause.message.startsWith(cause.field) ? `${cause.field}: ${cause.message}` : cause.message });
      }
    }
  }
  return out;
}

const kEmpty = { name: 'hello', ns: '', image: 'busybox', command: 'echo hello', count: '1', cpu: '', memory: '', gpus: '', queue: '', time: '', env: '', volumes: '' };

export function Submit() {
  const [form, setForm] = useState(kEmpty);
  const [text, setText] = useState(null); // null: the form's own
  const [results, setResults] = useState(null);
  const [busy, setBusy] = useState(false);
  let made = '', wrong = '';
  try {
    made = objectsOf(form).map((one) => yaml(one)).join('\n---\n') + '\n';
  } catch (error) {
    wrong = error.message;
  }
  const shown = text ?? made;
  const run = async (dryRun) => {
    setBusy(true);
    const all = await send(shown, form.ns || 'default', dryRun);
    const forecast = dryRun && all.every((one) => one.ok) ? await rehearse(all.map((one) => one.object)) : [];
    setResults({ dryRun, all, forecast });
    setBusy(false);
  };
  const set = (key) => (event) => (setText(null), setResults(null), setForm({ ...form, [key]: event.currentTarget.value }));
  const field = (key, title, hint = '') => html`<label>${title} <input value=${form[key]} onInput=${set(key)} placeholder=${hint} /></label>`;
  const bad = new Map((results?.all || []).filter((one) => !one.ok).map((one) => [one.line, one.message]));
  const drop = (event) => {
    event.preventDefault();
    event.dataTransfer.files[0]?.text().then((content) => (setText(content), setResults(null)));
  };
  return html`<div class="submit">
    <form class="fields" aria-label=${t('Form')} onSubmit=${(event) => (event.preventDefault(), run(true))}>
      ${field('name', t('Name'))} ${field('ns', t('Namespace'), 'default')} ${field('image', t('Image'))} ${field('command', t('Command'))}
      ${field('count', t('Count'), '1')} ${field('cpu', t('CPU'), '2')} ${field('memory', t('Memory'), '4Gi')} ${field('gpus', t('GPUs'), '1')}
      ${field('queue', t('Queue'), 'default')} ${field('time', t('Time limit'), '2h')}
      <label>${t('Environment')} <textarea rows="2" value=${form.env} onInput=${set('env')} placeholder="NAME=VALUE"></textarea></label>
      <label>${t('Volumes')} <textarea rows="2" value=${form.volumes} onInput=${set('volumes')} placeholder="CLAIM:/PATH, CLAIM:/PATH:5Gi"></textarea></label>
      ${wrong && text === null && html`<p class="notice" role="alert">${plain(wrong)}</p>`}
    </form>
    <div class="editor" onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
      <label for="yaml">${t('The YAML that is sent')} <span class="soft">${t('Paste or drop YAML here')}</span></label>
      <textarea id="yaml" class="code" spellcheck="false" rows="24" value=${shown} onInput=${(event) => (setText(event.currentTarget.value), setResults(null))}></textarea>
      <div class="tools"><button type="button" disabled=${busy || !shown} onClick=${() => run(true)}>${t('Check')}</button><button type="button" class="primary" disabled=${busy || !shown} onClick=${() => run(false)}>${t('Send')}</button></div>
      <div role="status">${results && html`<ul class="results">${results.all.map((one) => html`<li key=${one.line + one.message} class=${one.ok ? 'good' : 'bad'}>${one.ok ? html`${results.dryRun ? t('The server accepts this.') : t('created')} ${!results.dryRun && isJob(one.object) ? html`<${Link} to=${where('job', one.object.apiVersion, 'jobs', one.object.metadata.namespace, one.object.metadata.name)}>${plain(one.message)}<//>` : plain(one.message)}` : html`<strong>${one.line + 1}:</strong> ${plain(one.message)} <code>${plain((shown.split('\n')[one.line] || '').trim().slice(0, 80))}</code>`}</li>`)}${results.forecast.map((sentence) => html`<li key=${sentence} class="forecast">${sentence}</li>`)}</ul>`}</div>
      ${bad.size > 0 && html`<span class="hidden">${bad.size}</span>`}
    </div>
  </div>`;
}
