// The first page: use now and since the start of the cluster, jobs by state, frequent reasons, things that need a look.
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { amount, bytes, plain, quantity, trim } from './format.js';
import { useJobs } from './jobs.js';
import { isToday } from './jobs_model.js';
import { useCollection, usePolled } from './live.js';
import { Bar, Link, Notices, emptyText, unseen, where } from './parts.js';
import { scoped } from './scope.js';
import { putBefore, ring, sample } from './usage_ring.js';
import { t } from './words.js';

function Chart({ label, series, format, version }) {
  const box = useRef(null);
  const plot = useRef(null);
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    plot.current = new uPlot(
      {
        width: Math.max(200, box.current.clientWidth),
        height: 120,
        cursor: { show: false },
        legend: { show: false },
        axes: [
          { stroke: color('--soft'), grid: { stroke: color('--line') } },
          { stroke: color('--soft'), grid: { stroke: color('--line') }, size: 64, values: (_, values) => values.map(format) },
        ],
        scales: { y: { range: (_, low, high) => [0, Math.max(high, 1e-9) * 1.1] } },
        series: [{}, { stroke: color('--accent'), width: 2, fill: color('--accent-soft') }],
      },
      [ring.times, series],
      box.current,
    );
    const resize = () => plot.current.setSize({ width: Math.max(200, box.current.clientWidth), height: 120 });
    window.addEventListener('resize', resize);
    return () => {
      window.removeEventListener('resize', resize);
      plot.current.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData([ring.times, series]), [version]);
  const last = series[series.length - 1];
  return html`<figure><figcaption>${label}: ${last === undefined ? '' : format(last)} <span class="soft">${t(ring.sinceStart ? 'since the start' : 'since this page was opened')}</span></figcaption><div ref=${box} role="img" aria-label=${`${label} ${last === undefined ? '' : format(last)}`}></div></figure>`;
}

// Allocatable amounts of ready nodes, and what queues have allocated of them.
export function clusterAmounts(nodes, queues) {
  const total = {};
  for (const node of nodes)
    for (const [name, value] of Object.entries(node.status?.allocatable || {})) total[name] = (total[name] || 0) + quantity(value);
  const used = {};
  for (const queue of queues) {
    if (queue.metadata.name === 'root' || queues.some((other) => other.spec?.parent === queue.metadata.name)) continue;
    for (const [name, value] of Object.entries(queue.status?.allocated || {})) used[name] = (used[name] || 0) + quantity(value);
  }
  return { total, used };
}

export function needsALook(rows, waiting, nodes, pods) {
  const out = [];
  for (const [key, told] of Object.entries(waiting || {})) {
    if (told.impossible) out.push({ text: `${jobName(rows, key)}: ${told.message}`, to: groupPlace(rows, key) });
  }
  for (const node of nodes) {
    const ready = (node.status?.conditions || []).find((one) => one.type === 'Ready');
    if (ready?.status !== 'True') out.push({ text: `${node.metadata.name}: ${t('is not ready')}: ${ready?.message || ready?.reason || ''}`, to: where('machines', node.metadata.name) });
  }
  for (const pod of pods) if (/CrashLoop|ImagePull|ErrImage|CreateContainerConfig/.test(pod.cells.Status)) out.push({ text: `${pod.metadata.namespace}/${pod.metadata.name}: ${t('restarts again and again')}: ${pod.cells.Status}`, to: where('objects', 'v1', 'pods', pod.metadata.namespace, pod.metadata.name) });
  return out;
}

const ofGroup = (rows, key) => rows.find((one) => `${one.ns}/${one.group}` === key);
const jobName = (rows, key) => (ofGroup(rows, key) ? `${ofGroup(rows, key).ns}/${ofGroup(rows, key).name}` : key);

function groupPlace(rows, key) {
  const row = ofGroup(rows, key);
  return row ? where('job', row.kind.group, row.kind.plural, row.ns, row.name) : where('jobs');
}

// Sentences without their numbers, so that reasons of equal causes count together.
export function frequent(waiting) {
  const counts = new Map();
  for (const told of Object.values(waiting || {})) {
    const key = String(told.message || told.reason).replace(/[0-9]+(\.[0-9]+)?/g, '…');
    const entry = counts.get(key) || { count: 0, example: told.message || told.reason };
    entry.count++;
    counts.set(key, entry);
  }
  return [...counts.values()].sort((a, b) => b.count - a.count).slice(0, 3);
}

export function Overview() {
  const { rows, collections, waiting } = useJobs();
  const nodes = useCollection('/api/v1/nodes');
  const queues = useCollection('/apis/scheduling.volcano.sh/v1beta1/queues');
  // Only pods that are neither running nor over: what hangs is among them.
  const pods = useCollection(scoped('/api/v1', 'pods'), { table: true, query: { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed,status.phase!=Running' } });
  const before = usePolled(ring.sinceStart ? null : '/debug/usage', 3600000);
  if (before.value?.points && !ring.sinceStart) putBefore(before.value.points);
  const usage = usePolled('/apis/metrics.k8s.io/v1beta1/nodes', 5000);
  const measured = (usage.value?.items || []).reduce((sum, one) => ({ cpu: sum.cpu + quantity(one.usage?.cpu), memory: sum.memory + quantity(one.usage?.memory) }), { cpu: 0, memory: 0 });
  const { total, used } = clusterAmounts([...nodes.rows.values()], [...queues.rows.values()]);
  const counts = {};
  for (const row of rows) counts[row.state] = (counts[row.state] || 0) + 1;
  const counted = (number) => number || (unseen(collections) ? '–' : 0);
  const gpus = Object.keys(total).filter((name) => name.includes('/') && !name.startsWith('hugepages') && total[name] > 0);
  if (usage.value) sample(Math.floor(Date.now() / 1000), measured.cpu, measured.memory, gpus.reduce((sum, name) => sum + (used[name] || 0), 0));
  const look = needsALook(rows, waiting, [...nodes.rows.values()], [...pods.rows.values()]);
  return html`<${Notices} of=${[...collections, nodes, queues, pods]} />
    <section class="tiles" aria-label=${t('Jobs')}>
      ${[['running', 'Running'], ['waiting', 'Waiting'], ['suspended', 'Suspended'], ['completed', 'Completed'], ['failed', 'Failed']].map(
        ([state, title]) => html`<${Link} key=${state} to=${`/jobs?filter=state:${state}`} class=${`tile state-${state}`}><strong>${counted(counts[state])}</strong><span>${t(title)}</span><//>`,
      )}
      <${Link} to="/jobs?filter=ended:today" class="tile"><strong>${counted(rows.filter((row) => isToday(row.ended)).length)}</strong><span>${t('Ended today')}</span><//>
    </section>
    <section><h2>${t('Use of the cluster')}</h2>
      <div class="meters">${['cpu', 'memory', ...gpus].filter((name) => total[name]).map(
        (name) => html`<div key=${name} class="meter"><span>${name === 'cpu' ? t('CPU') : name === 'memory' ? t('Memory') : plain(name)}</span>
          <${Bar} total=${total[name]} parts=${[{ value: used[name] || 0, kind: 'used' }]} label=${`${name}: ${amount(name, used[name] || 0)} ${t('of')} ${amount(name, total[name])}`} />
          <span>${amount(name, used[name] || 0)} ${t('of')} ${amount(name, total[name])} ${t('requested')}</span></div>`,
      )}</div>
      ${ring.times.length > 1 && html`<div class="charts"><${Chart} label=${t('CPU')} series=${ring.cpu} format=${trim} version=${ring.times.length} /><${Chart} label=${t('Memory')} series=${ring.memory} format=${bytes} version=${ring.times.length} />${gpus.length > 0 && html`<${Chart} label=${t('GPU')} series=${ring.gpus} format=${trim} version=${ring.times.length} />`}</div>`}
    </section>
    <section><h2>${t('Most frequent reasons')}</h2>
      ${frequent(waiting).length === 0 ? html`<p class="empty">${emptyText(collections, t('Nothing waits.'))}</p>` : html`<ol class="reasons">${frequent(waiting).map((one) => html`<li key=${one.example}><strong>${one.count} ×</strong> ${plain(one.example)}</li>`)}</ol>`}
    </section>
    <section><h2>${t('Needs a look')}</h2>
      ${look.length === 0 ? html`<p class="empty">${emptyText([...collections, nodes, pods], t('Nothing needs a look.'))}</p>` : html`<ul class="look">${look.slice(0, 20).map((one) => html`<li key=${one.text}><${Link} to=${one.to}>${plain(one.text)}<//></li>`)}</ul>`}
    </section>`;
}
