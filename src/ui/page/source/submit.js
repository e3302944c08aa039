// Submit: a form for a simple job that shows the YAML it makes, and any YAML that is pasted or dropped. Both are checked
// by a dry run, and errors stand beside their lines.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { json, request } from './api.js';
import { plain, quantity } from './format.js';
import { Link, where } from './parts.js';
import { t } from './words.js';
import { yaml } from './yaml.js';

// What the form's fields become. An Error says which field is wrong.
export function jobOf(form) {
  const wrong = (field, why) => new Error(`${field}: ${why}`);
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(form.name)) throw wrong('name', 'lower-case letters, digits and hyphens, 63 at most');
  const count = Number(form.count || 1);
  if (!Number.isInteger(count) || count < 1) throw wrong('count', 'a whole number above 0');
  const amounts = {};
  for (const [key, name] of [['cpu', 'cpu'], ['memory', 'memory'], ['gpus', 'nvidia.com/gpu']]) {
    if (!form[key]) continue;
    if (!(quantity(form[key]) > 0)) throw wrong(key, `"${form[key]}" is not an amount such as 2, 500m or 4Gi`);
    amounts[name] = form[key];
  }
  const env = (form.env || '').split('\n').filter((line) => line.trim()).map((line) => {
    const at = line.indexOf('=');
    if (at <= 0) throw wrong('environment', `"${line}" is not NAME=VALUE`);
    return { name: line.slice(0, at).trim(), value: line.slice(at + 1) };
  });
  const mounts = (form.volumes || '').split('\n').filter((line) => line.trim()).map((line) => {
    const [claim, path] = line.trim().split(':');
    if (!claim || !path?.startsWith('/')) throw wrong('volumes', `"${line}" is not CLAIM:/PATH`);
    return { claim, path };
  });
  const container = { name: 'main', image: form.image };
  if (form.command) container.command = ['sh', '-c', form.command];
  if (Object.keys(amounts).length) container.resources = { requests: amounts, limits: amounts['nvidia.com/gpu'] ? { 'nvidia.com/gpu': amounts['nvidia.com/gpu'] } : undefined };
  if (env.length) container.env = env;
  if (mounts.length) container.volumeMounts = mounts.map(({ path }, at) => ({ name: `volume-${at}`, mountPath: path }));
  const seconds = form.time ? spanOf(form.time) : undefined;
  if (form.time && !seconds) throw wrong('time', `"${form.time}" is not a time such as 30m or 2h`);
  return {
    apiVersion: 'batch.volcano.sh/v1alpha1',
    kind: 'Job',
    metadata: { name: form.name, namespace: form.ns || 'default' },
    spec: {
      minAvailable: count,
      queue: form.queue || undefined,
      tasks: [{ name: 'main', replicas: count, template: { spec: { restartPolicy: 'Never', activeDeadlineSeconds: seconds, containers: [container], volumes: mounts.length ? mounts.map(({ claim }, at) => ({ name: `volume-${at}`, persistentVolumeClaim: { claimName: claim } })) : undefined } } }],
      policies: [{ event: 'TaskCompleted', action: 'CompleteJob' }],
    },
  };
}

export function spanOf(text) {
  const match = /^(\d+)([smhd]?)$/.exec(text.trim());
  return match ? Number(match[1]) * { '': 60, s: 1, m: 60, h: 3600, d: 86400 }[match[2]] : 0;
}

// The line (from 0) of a field path such as spec.tasks[0].template in block YAML; -1 where it is not found.
export function lineOf(text, path) {
  const steps = path.replace(/\[(\d+)\]/g, '.[$1]').split('.').filter(Boolean);
  const lines = text.split('\n');
  let at = 0, indent = -1, best = -1;
  for (const step of steps) {
    const index = /^\[(\d+)\]$/.exec(step);
    let found = -1, seen = -1, level = null;
    for (let i = at; i < lines.length; i++) {
      const line = lines[i];
      if (!line.trim() || line.trim().startsWith('#')) continue;
      const depth = line.length - line.trimStart().length;
      const item = line.trimStart().startsWith('- ');
      if (depth < indent || (depth === indent && !item && i > at)) break;
      if (index) {
        if (item && (level === null || depth === level)) {
          level = depth;
          if (++seen === Number(index[1])) {
            found = i;
            break;
          }
        }
      } else {
        const body = item ? line.trimStart().slice(2) : line.trimStart();
        const real = item ? depth + 2 : depth;
        if (level === null) level = real;
        if (real === level && (body === `${step}:` || body.startsWith(`${step}: `))) {
          found = i;
          break;
        }
      }
    }
    if (found < 0) return best;
    best = found;
    const depth = lines[found].length - lines[found].trimStart().length;
    if (index) {
      at = found;
      indent = depth;
    } else {
      at = found + 1;
      indent = lines[found].trimStart().startsWith('- ') ? depth + 2 : depth;
      const next = lines.slice(at).find((line) => line.trim());
      if (next && next.length - next.trimStart().length === indent && next.trimStart().startsWith('- ')) indent -= 1;
    }
  }
  return best;
}

// The documents of a YAML text, each with the line on which it begins.
export function documents(text) {
  const out = [];
  let begin = 0;
  const lines = text.split('\n');
  lines.push('---');
  lines.forEach((line, at) => {
    if (!/^---(\s|$)/.test(line)) return;
    const part = lines.slice(begin, at).join('\n');
    if (part.split('\n').some((each) => each.trim() && !each.trim().startsWith('#'))) out.push({ text: part, line: begin });
    begin = at + 1;
  });
  return out;
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
    made = yaml(jobOf(form)) + '\n';
  } catch (error) {
    wrong = error.message;
  }
  const shown = text ?? made;
  const run = async (dryRun) => {
    setBusy(true);
    setResults({ dryRun, all: await send(shown, form.ns || 'default', dryRun) });
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
      <label>${t('Volumes')} <textarea rows="2" value=${form.volumes} onInput=${set('volumes')} placeholder="CLAIM:/PATH"></textarea></label>
      ${wrong && text === null && html`<p class="notice" role="alert">${plain(wrong)}</p>`}
    </form>
    <div class="editor" onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
      <label for="yaml">${t('The YAML that is sent')} <span class="soft">${t('Paste or drop YAML here')}</span></label>
      <textarea id="yaml" class="code" spellcheck="false" rows="24" value=${shown} onInput=${(event) => (setText(event.currentTarget.value), setResults(null))}></textarea>
      <div class="tools"><button type="button" disabled=${busy || !shown} onClick=${() => run(true)}>${t('Check')}</button><button type="button" class="primary" disabled=${busy || !shown} onClick=${() => run(false)}>${t('Send')}</button></div>
      <div role="status">${results && html`<ul class="results">${results.all.map((one) => html`<li key=${one.line + one.message} class=${one.ok ? 'good' : 'bad'}>${one.ok ? html`${results.dryRun ? t('The server accepts this.') : t('created')} ${!results.dryRun && one.object.kind === 'Job' && one.object.apiVersion.startsWith('batch.volcano.sh') ? html`<${Link} to=${where('job', one.object.apiVersion, 'jobs', one.object.metadata.namespace, one.object.metadata.name)}>${plain(one.message)}<//>` : plain(one.message)}` : html`<strong>${one.line + 1}:</strong> ${plain(one.message)} <code>${plain((shown.split('\n')[one.line] || '').trim().slice(0, 80))}</code>`}</li>`)}</ul>`}</div>
      ${bad.size > 0 && html`<span class="hidden">${bad.size}</span>`}
    </div>
  </div>`;
}
