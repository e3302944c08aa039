// Artifacts of a task as what they are: tables, curves, matrices, first rows, Markdown, and HTML in a frame without rights.
import { h } from 'preact';
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { json } from './api.js';
import { plain } from './format.js';
import { areaOf, curveOf, markdown, matrixOf, shortOf, sizeOf, tableOf, textOf } from './pipelines_artifacts_model.js';
import { t } from './words.js';

const kHeadMax = 64 << 10;
const pathOf = ({ run, task, name, index }, verb) => `/pipeline/apis/v2beta1/runs/${encodeURIComponent(run)}/nodes/${encodeURIComponent(task)}/artifacts/${encodeURIComponent(name)}:${verb}?index=${index}`;

// ROC curves of one artifact or of several runs: [{title, points}].
export function Curves({ curves }) {
  const size = 240, place = ({ x, y }) => `${(30 + x * size).toFixed(1)} ${(10 + (1 - y) * size).toFixed(1)}`;
  const words = curves.map(({ title, points }) => `${title ? `${plain(title)}: ` : ''}${t('area')} ${areaOf(points).toFixed(3)}`);
  return html`<figure class="curve"><svg viewBox="0 0 290 290" role="img" aria-label=${`${t('ROC curve')}: ${words.join('; ')}`}>
      <rect x="30" y="10" width=${size} height=${size} /><path class="soft" d=${`M${place({ x: 0, y: 0 })} L${place({ x: 1, y: 1 })}`} />
      ${curves.map(({ points }, at) => html`<path key=${at} class=${`line-${at % 6}`} d=${points.map((point, step) => `${step ? 'L' : 'M'}${place(point)}`).join(' ')} />`)}
      <text x="30" y="265">0</text><text x="262" y="265">1</text><text x="150" y="282" text-anchor="middle">${t('false positive rate')}</text><text x="18" y="252">0</text><text x="18" y="18">1</text><text x="12" y="135" text-anchor="middle" transform="rotate(-90 12 135)">${t('recall')}</text>
    </svg><figcaption>${words.map((one, at) => html`<div key=${at}><span class=${`key line-${at % 6}`} aria-hidden="true"></span> ${one}</div>`)}</figcaption></figure>`;
}

function Matrix({ matrix: { names, rows, most } }) {
  return html`<table class="plain-table"><caption>${t('Confusion matrix')}</caption><thead><tr><th scope="col">${t('true \\ predicted')}</th>${names.map((name) => html`<th scope="col" key=${name}>${plain(name)}</th>`)}</tr></thead>
    <tbody>${rows.map((row, at) => html`<tr key=${at}><th scope="row">${plain(names[at])}</th>${row.map((cell, to) => html`<td key=${to} style=${`background:color-mix(in srgb,var(--accent) ${Math.round((30 * Math.max(0, cell)) / most)}%,transparent)`}>${cell}</td>`)}</tr>`)}</tbody></table>`;
}

const treeOf = (nodes) => nodes.map((node) => (typeof node === 'string' ? plain(node) : h(node[0], node[1], ...treeOf(node[2]))));

function Head({ text, whole, type }) {
  if (text === null) return html`<p class="soft">${t('The bytes are not text.')}</p>`;
  if (type === 'system.Markdown') return html`<div class="document">${treeOf(markdown(text))}</div>`;
  const table = tableOf(text, whole);
  if (table) return html`<div class="scroll" tabindex="0" role="group" aria-label=${t('First rows')}><table class="plain-table"><thead><tr>${table.head.map((cell, at) => html`<th scope="col" key=${at}>${plain(cell)}</th>`)}</tr></thead><tbody>${table.rows.map((row, at) => html`<tr key=${at}>${row.map((cell, to) => html`<td key=${to}>${plain(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
  return html`<pre class="code" tabindex="0">${plain(text.slice(0, 8192))}</pre>`;
}

// The bytes are read when a person asks for them, with that person's rights, and no more than their head.
function Content({ place, type }) {
  const [head, setHead] = useState(null);
  const [error, setError] = useState('');
  const load = async () => {
    try {
      if (type === 'system.HTML') return setHead({ page: true });
      const { data, size } = await json(`${pathOf(place, 'read')}&max_bytes=${kHeadMax}`);
      const bytes = Uint8Array.from(atob(data || ''), (c) => c.charCodeAt(0));
      setHead({ text: textOf(bytes, bytes.length === size), size, whole: bytes.length === size });
    } catch (problem) {
      setError(problem.message);
    }
  };
  const save = async () => {
    try {
      const { data, archive } = await json(pathOf(place, 'read'));
      const link = document.createElement('a'), bytes = Uint8Array.from(atob(data || ''), (c) => c.charCodeAt(0));
      link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
      link.download = `${place.name}.${archive === 'tar' ? 'tar' : 'bin'}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (problem) {
      setError(problem.message);
    }
  };
  if (error) return html`<p class="notice" role="alert">${plain(error)}</p>`;
  const hidden = html`<span class="hidden"> ${plain(place.name)}</span>`;
  if (!head) return html`<button type="button" onClick=${load}>${t('Show')}${hidden}</button> <button type="button" onClick=${save}>${t('Download')}${hidden}</button>`;
  if (head.page) return html`<iframe class="artifact" sandbox="" referrerpolicy="no-referrer" title=${plain(place.name)} src=${pathOf(place, 'view')}></iframe><p class="soft">${t('Scripts in it do not run.')}</p>`;
  return html`<p class="soft">${sizeOf(head.size)}${head.whole ? '' : ` · ${t('the first part')}`}</p><${Head} text=${head.text} whole=${head.whole} type=${type} />`;
}

export function Artifact({ run, task, one: { name, label, index, type, uri, metadata } }) {
  const curve = curveOf(metadata), matrix = matrixOf(metadata);
  const rest = Object.entries(metadata).filter(([key]) => !(key === 'confidenceMetrics' && curve.length) && !(key === 'confusionMatrix' && matrix) && key !== 'display_name');
  const hasBytes = uri && type !== 'system.Metrics' && type !== 'system.ClassificationMetrics' && type !== 'system.SlicedClassificationMetrics';
  return html`<section class="artifact-box" aria-label=${plain(label)}><h5>${plain(label)} <span class="soft">${plain(type)}</span></h5>
    ${uri && html`<p class="soft address">${plain(uri)}</p>`}
    ${rest.length > 0 && html`<table class="plain-table"><tbody>${rest.map(([key, value]) => html`<tr key=${key}><th scope="row">${plain(key)}</th><td>${plain(shortOf(value))}</td></tr>`)}</tbody></table>`}
    ${curve.length > 1 && html`<${Curves} curves=${[{ title: '', points: curve }]} />`}
    ${matrix && html`<${Matrix} matrix=${matrix} />`}
    ${hasBytes && html`<${Content} place=${{ run, task, name, index }} type=${type} />`}
  </section>`;
}

// The numbers of runs beside each other: a row of bars for each metric.
export function Bars({ titles, sides }) {
  const names = [...new Set(sides.flatMap(Object.keys))].filter((name) => sides.some((side) => typeof side[name] === 'number')).slice(0, 30);
  if (!names.length) return null;
  return html`<h3>${t('Metrics')}</h3>${names.map((name) => {
    const values = sides.map((side) => (typeof side[name] === 'number' ? side[name] : null)), most = Math.max(...values.map((value) => Math.abs(value ?? 0))) || 1;
    return html`<figure class="bars" key=${name}><figcaption>${plain(name)}</figcaption><svg viewBox=${`0 0 480 ${titles.length * 24}`} role="img" aria-label=${plain(`${name}: ${titles.map((title, at) => `${title} ${values[at] ?? '–'}`).join(', ')}`)}>
      ${values.map((value, at) => html`<text key=${`t${at}`} x="0" y=${at * 24 + 16}>${plain(titles[at]).slice(0, 22)}</text><rect key=${at} class=${`line-${at % 6}`} x="160" y=${at * 24 + 4} height="16" width=${Math.max(1, (220 * Math.abs(value ?? 0)) / most)} /><text key=${`v${at}`} x=${166 + (220 * Math.abs(value ?? 0)) / most} y=${at * 24 + 16}>${value === null ? '–' : String(Number(value.toPrecision(5)))}</text>`)}
    </svg></figure>`;
  })}`;
}
