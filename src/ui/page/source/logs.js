// Logs of all pods of a job as they come, with search and download. What is kept is bounded.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { lines, withQuery } from './api.js';
import { logLine, natural, plain } from './format.js';
import { t } from './words.js';

const kLinesMax = 5000;
const kPodsMax = 32;
const kLineMax = 4000;

export function Logs({ ns, pods }) {
  const [only, setOnly] = useState('');
  const [search, setSearch] = useState('');
  const [follow, setFollow] = useState(true);
  const [, redraw] = useState(0);
  const kept = useRef({ lines: [], notes: new Map() });
  const box = useRef(null);
  const containers = pods
    .flatMap((pod) => (pod.spec?.containers || []).map((one) => ({ pod: pod.metadata.name, container: one.name })))
    .sort((a, b) => natural(a.pod, b.pod));
  const wanted = containers.filter((one) => !only || `${one.pod}/${one.container}` === only).slice(0, kPodsMax);
  const keys = wanted.map((one) => `${one.pod}/${one.container}`).join();
  useEffect(() => {
    const abort = new AbortController();
    kept.current = { lines: [], notes: new Map() };
    let told = null;
    const tell = () => (told ??= setTimeout(() => ((told = null), redraw((count) => count + 1)), 100));
    for (const { pod, container } of wanted) {
      const path = withQuery(`/api/v1/namespaces/${encodeURIComponent(ns)}/pods/${encodeURIComponent(pod)}/log`, { container, follow: true, tailLines: Math.ceil(kLinesMax / wanted.length) });
      (async () => {
        try {
          for await (const line of lines(path, { signal: abort.signal, accept: '*/*' })) {
            kept.current.lines.push({ pod, text: logLine(line.slice(0, kLineMax)) });
            if (kept.current.lines.length > kLinesMax) kept.current.lines.splice(0, kLinesMax / 10);
            tell();
          }
        } catch (error) {
          if (!abort.signal.aborted) {
            kept.current.notes.set(`${pod}/${container}`, error.message);
            tell();
          }
        }
      })();
    }
    return () => (abort.abort(), clearTimeout(told));
  }, [ns, keys]);
  useEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  const found = search ? kept.current.lines.filter((one) => one.text.toLowerCase().includes(search.toLowerCase())) : kept.current.lines;
  const download = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([found.map((one) => `${one.pod}\t${one.text}\n`).join('')], { type: 'text/plain' }));
    link.download = 'logs.txt';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const many = wanted.length > 1;
  return html`<div class="tools">
      <label>${t('Container')} <select value=${only} onChange=${(event) => setOnly(event.currentTarget.value)}><option value="">${t('All pods')}</option>${containers.slice(0, 500).map((one) => html`<option key=${one.pod + one.container} value=${`${one.pod}/${one.container}`}>${plain(`${one.pod}/${one.container}`)}</option>`)}</select></label>
      <label>${t('Search')} <input type="search" value=${search} onInput=${(event) => setSearch(event.currentTarget.value)} /></label>
      <label><input type="checkbox" checked=${follow} onChange=${(event) => setFollow(event.currentTarget.checked)} /> ${t('Follow')}</label>
      <button type="button" onClick=${download}>${t('Download')}</button>
    </div>
    ${[...kept.current.notes].slice(0, 5).map(([key, note]) => html`<p class="notice" key=${key}>${plain(key)}: ${plain(note)}</p>`)}
    <div class="logs" ref=${box} tabindex="0" role="log" aria-label=${t('Logs')} aria-live="off">
      ${found.length === 0 ? html`<p class="empty">${t('No output yet.')}</p>` : found.slice(-1000).map((one, at) => html`<div key=${at}>${many && html`<span class="soft">${plain(one.pod)} </span>`}${one.text}</div>`)}
    </div>`;
}
