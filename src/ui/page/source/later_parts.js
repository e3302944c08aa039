// Parts of the pages that are loaded when they are opened: forms in dialogs, columns, requests about one object.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { request } from './api.js';
import { natural, plain } from './format.js';
import { Ago, Dialog, State } from './parts.js';
import { scoped } from './scope.js';
import { t } from './words.js';

export const listPath = (kind) => scoped(kind.base, kind.plural);
export const objectPath = (kind, object) => `${kind.base}/namespaces/${encodeURIComponent(object.metadata.namespace)}/${kind.plural}/${encodeURIComponent(object.metadata.name)}`;
export const created = (object) => Date.parse(object.metadata.creationTimestamp);
export const byName = (a, b) => natural(a.metadata.namespace, b.metadata.namespace) || natural(a.metadata.name, b.metadata.name);

// A form in a dialog. `send` throws an Error that says what is wrong.
export function FormDialog({ title, fields, first, send, onClose, children }) {
  const [form, setForm] = useState(first);
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const set = (key) => (event) => (setError(''), setForm({ ...form, [key]: event.currentTarget.value }));
  const run = async () => {
    setBusy(true);
    try {
      await send(form);
      onClose();
    } catch (problem) {
      setError(problem.message);
    }
    setBusy(false);
  };
  return html`<${Dialog} title=${title} onClose=${onClose} actions=${html`<button type="button" class="primary" disabled=${busy} onClick=${run}>${t('Create')}</button>`}>
    <form class="fields" onSubmit=${(event) => (event.preventDefault(), run())}>
      ${fields.map(({ key, title: name, hint, rows, options }) => html`<label key=${key}>${name} ${
        options ? html`<select value=${form[key]} onChange=${set(key)}>${options.map(([value, text]) => html`<option key=${value} value=${value}>${plain(text)}</option>`)}</select>`
        : rows ? html`<textarea rows=${rows} value=${form[key]} onInput=${set(key)} placeholder=${hint}></textarea>`
        : html`<input value=${form[key]} onInput=${set(key)} placeholder=${hint || ''} />`}</label>`)}
      ${children?.(form, setForm)}
    </form>
    ${error && html`<p class="notice" role="alert">${plain(error)}</p>`}
  <//>`;
}

// Asks before it is done.
export function Sure({ title, text, act, onClose }) {
  const [error, setError] = useState('');
  const go = () => act().then(onClose, (problem) => setError(problem.message));
  return html`<${Dialog} title=${plain(title)} onClose=${onClose} actions=${html`<button type="button" class="danger" onClick=${go}>${t('Yes, do it')}</button>`}>
    <p>${text}</p>${error && html`<p class="notice" role="alert">${plain(error)}</p>`}<//>`;
}

export const post = (path, body, dryRun) => request(`${path}?fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`, { method: 'POST', body });
export const remove = (path) => request(path, { method: 'DELETE' });

export const nameColumns = () => [{ id: 'ns', title: t('Namespace'), width: 'minmax(6rem,1fr)', minor: true, cell: ({ object }) => plain(object.metadata.namespace) }];
export const stateColumn = () => ({ id: 'state', title: t('State'), width: '7rem', cell: (row) => html`<${State} state=${row.state} word=${t(row.word)} />` });
export const ageColumn = () => ({ id: 'age', title: t('Age'), width: '4rem', minor: true, cell: ({ object }) => html`<${Ago} time=${created(object)} />` });
export const reasonColumn = () => ({ id: 'reason', title: t('Reason'), width: 'minmax(8rem,3fr)', minor: true, cell: (row) => html`<span title=${plain(row.reason)}>${plain(row.reason)}</span>` });
