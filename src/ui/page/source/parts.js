// Parts that pages share: the table of many rows, dialogs, states of collections, times.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { age, plain } from './format.js';
import { noticesOf } from './notices.js';
import { currentScope } from './scope.js';
import { t } from './words.js';

let now = Date.now();
const clocks = new Set();
setInterval(() => {
  now = Date.now();
  for (const clock of clocks) clock(now);
}, 1000);
export function useNow() {
  const [value, set] = useState(now);
  useEffect(() => {
    clocks.add(set);
    return () => clocks.delete(set);
  }, []);
  return value;
}

const kExact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
export const exact = (time) => (Number.isFinite(time) ? kExact.format(new Date(time)) : '');
export function Ago({ time }) {
  const present = useNow();
  return html`<time datetime=${Number.isFinite(time) ? new Date(time).toISOString() : ''} title=${exact(time)}>${age(time, present)}</time>`;
}

// Says what a reader of the collections has to know: a lost connection, no right.
export const Notices = ({ of }) => html`<div role="status" class="notices">${noticesOf(of, currentScope()).map(({ key, text }) => html`<p key=${key} class="notice">${plain(text)}</p>`)}</div>`;

export const loading = (collections) => collections.some((one) => one.state === 'loading');
export const unseen = (collections) => collections.some((one) => one.state === 'denied' || one.state === 'broken');
// The words in place of rows. A list that may not be seen, or cannot be reached, is not called empty: its notice says so.
export function emptyText(lists, text) {
  const all = [lists].flat();
  if (loading(all)) return t('Loading…');
  if (unseen(all)) return '';
  return all.every((one) => one.state === 'absent') ? t('The cluster does not have this kind.') : text;
}

export const State = ({ state, word }) => html`<span class=${`state state-${state}`}><span class="mark" aria-hidden="true"></span>${plain(word)}</span>`;

// A bar of parts of a whole: [{value, label, kind}]; the text beside it says the same.
export function Bar({ parts, total, label }) {
  let at = 0;
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect x="0" y="0" width="100" height="8" class="bar-ground" />
    ${parts.map(({ value, kind }) => {
      const width = total > 0 ? Math.min(100 - at, (100 * value) / total) : 0;
      const x = at;
      at += width;
      return html`<rect x=${x} y="0" width=${width} height="8" class=${`bar-${kind}`} />`;
    })}
  </svg>`;
}

export function Dialog({ title, children, onClose, actions }) {
  const dialog = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${dialog} aria-labelledby="dialog-title" onCancel=${(event) => (event.preventDefault(), onClose())}>
    <h2 id="dialog-title">${title}</h2>
    <div class="dialog-body">${children}</div>
    <div class="actions">${actions}<button type="button" onClick=${onClose}>${t('Close')}</button></div>
  </dialog>`;
}

const kOverscan = 8;

// A table of any number of rows of one height, of which only those in view are drawn. Arrow keys move, Enter opens,
// Space selects. `columns`: [{id, title, width, cell(row), minor}].
export function Table({ label, columns, rows, sort, onSort, onOpen, selected, onSelect, empty }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, height: 600, row: 32 });
  const [focus, setFocus] = useState(0);
  useEffect(() => {
    const measure = () => {
      const size = parseFloat(getComputedStyle(document.documentElement).fontSize) * 2;
      setView((old) => ({ ...old, height: box.current?.clientHeight || 600, row: size }));
    };
    measure();
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, []);
  const first = Math.max(0, Math.floor(view.top / view.row) - kOverscan);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / view.row) + kOverscan);
  const go = (to) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setFocus(next);
    const top = next * view.row;
    const body = box.current;
    if (top < body.scrollTop) body.scrollTop = top;
    else if (top + view.row * 2 > body.scrollTop + body.clientHeight) body.scrollTop = top - body.clientHeight + view.row * 2;
    requestAnimationFrame(() => body.querySelector(`[data-row="${next}"]`)?.focus());
  };
  const onKey = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -rows.length, End: rows.length }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      go(focus + step);
    } else if (event.key === 'Enter' && event.target.dataset.row && rows[focus] && !rows[focus].heading) {
      onOpen?.(rows[focus]);
    } else if (event.key === ' ' && event.target.dataset.row && onSelect && rows[focus] && !rows[focus].heading) {
      event.preventDefault();
      onSelect(rows[focus]);
    }
  };
  const widths = `${onSelect ? '2.2rem ' : ''}${columns.map((column) => column.width || '1fr').join(' ')}`;
  const head = html`<div role="row" class="row head" style=${`grid-template-columns:${widths}`} aria-rowindex="1">
    ${onSelect && html`<div role="columnheader"><span class="hidden">${t('Select')}</span></div>`}
    ${columns.map(
      ({ id, title, minor }) => html`<div role="columnheader" key=${id} class=${minor ? 'minor' : ''} aria-sort=${sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : 'none'}>
        ${onSort ? html`<button type="button" class="plain" onClick=${() => onSort(sort === id ? `-${id}` : id)}>${title}<span aria-hidden="true">${sort === id ? ' ▲' : sort === `-${id}` ? ' ▼' : ''}</span></button>` : title}
      </div>`,
    )}
  </div>`;
  const body = [];
  for (let at = first; at < last; at++) {
    const row = rows[at];
    const place = `transform:translateY(${at * view.row}px);height:${view.row}px;`;
    if (row.heading !== undefined) {
      body.push(html`<div role="row" key=${row.key} class="row heading" style=${place} aria-rowindex=${at + 2} data-row=${at} tabindex=${at === focus ? 0 : -1}><div role="cell" aria-colspan=${columns.length}>${plain(row.heading)} <span class="count">${row.count}</span></div></div>`);
      continue;
    }
    body.push(html`<div role="row" key=${row.key} class=${`row ${selected?.has(row.key) ? 'selected' : ''}`} style=${`${place}grid-template-columns:${widths}`} aria-rowindex=${at + 2} aria-selected=${selected ? selected.has(row.key) : undefined}
        data-row=${at} tabindex=${at === focus ? 0 : -1} onFocus=${() => setFocus(at)} onClick=${(event) => !event.target.closest('input,button,a') && onOpen?.(row)}>
      ${onSelect && html`<div role="cell"><input type="checkbox" tabindex="-1" checked=${selected.has(row.key)} aria-label=${`${t('Select')} ${plain(row.name)}`} onChange=${() => onSelect(row)} /></div>`}
      ${columns.map(({ id, cell, minor }) => html`<div role="cell" key=${id} class=${minor ? 'minor' : ''}>${cell(row)}</div>`)}
    </div>`);
  }
  return html`<div class="table" role="table" aria-label=${label} aria-rowcount=${rows.length + 1} onKeyDown=${onKey}>
    <div role="rowgroup" class="heads">${head}</div>
    <div class="scroll" ref=${box} role=${rows.length ? 'rowgroup' : 'presentation'} onScroll=${(event) => setView({ ...view, top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}>
      <div style=${`height:${rows.length * view.row}px;position:relative`} role="presentation">${body}</div>
      ${rows.length === 0 && html`<p class="empty">${empty}</p>`}
    </div>
  </div>`;
}

export const Link = ({ to, children, ...rest }) => html`<a href=${`#${to}`} ...${rest}>${children}</a>`;
export const where = (...parts) => '/' + parts.map((part) => encodeURIComponent(part ?? '')).join('/');
