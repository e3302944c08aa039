// Machines by their place in the network, each with its CPUs, memory and GPUs as cells coloured by job; one node's page.
import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { request } from './api.js';
import { amount, hue, natural, plain, quantity, trim } from './format.js';
import { stateOf } from './jobs_model.js';
import { useCollection } from './live.js';
import { Ago, Bar, Dialog, Link, Notices, State, Table, emptyText, where } from './parts.js';
import { scoped } from './scope.js';
import { t } from './words.js';

const kCellsMax = 64;

// What a pod asks of a node, in numbers: containers together, or the largest init container.
export function requestsOf(pod) {
  const out = {};
  const add = (list, merge) => {
    for (const [name, value] of Object.entries(list || {})) out[name] = merge(out[name] || 0, quantity(value));
  };
  for (const one of pod.spec?.containers || []) add(one.resources?.requests, (a, b) => a + b);
  for (const one of pod.spec?.initContainers || []) if (one.restartPolicy === 'Always') add(one.resources?.requests, (a, b) => a + b);
  for (const one of pod.spec?.initContainers || []) if (one.restartPolicy !== 'Always') add(one.resources?.requests, Math.max);
  add(pod.spec?.overhead, (a, b) => a + b);
  return out;
}

export const isOver = (pod) => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
export const jobOf = (pod) => pod.metadata.labels?.['volcano.sh/job-name'] || pod.metadata.labels?.['training.kubeflow.org/job-name'] || pod.metadata.labels?.['batch.kubernetes.io/job-name'] || pod.metadata.ownerReferences?.[0]?.name || pod.metadata.name;

// Cells of one resource of a node: who holds each unit, free ones last. [{job}|null].
export function cells(allocatable, pods, resource) {
  const total = Math.min(kCellsMax, Math.floor(allocatable + 1e-9));
  const unit = allocatable > kCellsMax ? allocatable / kCellsMax : 1;
  const out = [];
  let carried = 0;
  for (const pod of pods) {
    carried += (requestsOf(pod)[resource] || 0) / unit;
    while (carried >= 1 - 1e-9 && out.length < total) {
      out.push({ job: jobOf(pod), pod: pod.metadata.name });
      carried -= 1;
    }
    if (carried > 1e-3 && out.length < total && carried >= 0.5) {
      out.push({ job: jobOf(pod), pod: pod.metadata.name });
      carried -= 1;
    }
  }
  while (out.length < total) out.push(null);
  return out;
}

// How many pods of `ask` fit at once into what the nodes have free: the largest gang.
export function largestGang(nodes, free, ask) {
  let sum = 0;
  for (const node of nodes) {
    const left = free.get(node.metadata.name) || {};
    let fits = Infinity;
    for (const [name, value] of Object.entries(ask)) fits = Math.min(fits, Math.floor(((left[name] || 0) + 1e-9) / value));
    if (!node.spec?.unschedulable && Number.isFinite(fits)) sum += Math.max(0, fits);
  }
  return sum;
}

// The domains of the lowest tier: HyperNodes of tier 1, or labels of racks and zones, or all in one.
export function racks(nodes, hyperNodes) {
  const tier = hyperNodes.filter((one) => one.spec?.tier === 1);
  const domains = new Map();
  const placed = new Set();
  for (const domain of tier) {
    const names = new Set();
    for (const member of domain.spec?.members || []) {
      const selector = member.selector || {};
      for (const node of nodes) {
        const name = node.metadata.name;
        let hit = selector.exactMatch?.name === name;
        try {
          hit ||= selector.regexMatch?.pattern ? new RegExp(`^(?:${selector.regexMatch.pattern})$`).test(name) : false;
        } catch {
          // a pattern that this browser cannot read chooses nothing
        }
        hit ||= selector.labelMatch?.matchLabels ? Object.entries(selector.labelMatch.matchLabels).every(([key, value]) => node.metadata.labels?.[key] === value) : false;
        if (hit) names.add(name);
      }
    }
    const members = nodes.filter((node) => names.has(node.metadata.name) && !placed.has(node.metadata.name));
    members.forEach((node) => placed.add(node.metadata.name));
    if (members.length) domains.set(domain.metadata.name, members);
  }
  for (const node of nodes) {
    if (placed.has(node.metadata.name)) continue;
    const labels = node.metadata.labels || {};
    const name = labels['topology.kubernetes.io/rack'] || labels['topology.kubernetes.io/zone'] || t('cluster');
    if (!domains.has(name)) domains.set(name, []);
    domains.get(name).push(node);
  }
  return [...domains].sort(([a], [b]) => natural(a, b)).map(([name, members]) => ({ name, nodes: members.sort((a, b) => natural(a.metadata.name, b.metadata.name)) }));
}

const readiness = (node) => {
  const ready = (node.status?.conditions || []).find((one) => one.type === 'Ready');
  return ready?.status === 'True' ? (node.spec?.unschedulable ? t('cordoned') : t('Ready')) : t('not ready');
};

function CellRow({ title, all }) {
  const held = all.filter(Boolean).length;
  const columns = 16;
  return html`<div class="cells"><span>${title} ${held}/${all.length}</span>
    <svg viewBox=${`0 0 ${columns * 10} ${Math.ceil(all.length / columns) * 10}`} role="img" aria-label=${`${title}: ${held} ${t('of')} ${all.length} ${t('requested')}`}>
      ${all.map((cell, at) => html`<rect key=${at} x=${(at % columns) * 10 + 1} y=${Math.floor(at / columns) * 10 + 1} width="8" height="8" class=${cell ? `hue-${hue(cell.job)}` : 'hole'}>${cell && html`<title>${plain(cell.job)}: ${plain(cell.pod)}</title>`}</rect>`)}
    </svg></div>`;
}

function NodeCard({ node, pods, usage }) {
  const allocatable = node.status?.allocatable || {};
  const gpus = Object.keys(allocatable).filter((name) => name.includes('/') && !name.startsWith('hugepages') && quantity(allocatable[name]) > 0);
  const used = (name) => (pods ? pods.reduce((sum, pod) => sum + (requestsOf(pod)[name] || 0), 0) : quantity(usage?.[name]));
  return html`<article class=${`node ${readiness(node) === t('Ready') ? '' : 'bad-node'}`}>
    <h3><${Link} to=${where('machines', node.metadata.name)}>${plain(node.metadata.name)}<//> <span class="chip">${readiness(node)}</span></h3>
    ${pods ? html`<${CellRow} title=${t('CPU')} all=${cells(quantity(allocatable.cpu), pods, 'cpu')} />${gpus.map((name) => html`<${CellRow} key=${name} title=${plain(name)} all=${cells(quantity(allocatable[name]), pods, name)} />`)}` : html`<${Bar} total=${quantity(allocatable.cpu)} parts=${[{ value: used('cpu'), kind: 'used' }]} label=${`CPU ${trim(used('cpu'))} ${t('of')} ${trim(quantity(allocatable.cpu))}`} />`}
    <div class="meter"><span>${t('Memory')}</span><${Bar} total=${quantity(allocatable.memory)} parts=${[{ value: used('memory'), kind: 'used' }]} label=${`${t('Memory')} ${amount('memory', used('memory'))} ${t('of')} ${amount('memory', quantity(allocatable.memory))}`} /></div>
  </article>`;
}

const kNodesWithPods = 64; // above it, cells would need every pod of the cluster

export function Machines({ name, go }) {
  const list = useCollection('/api/v1/nodes');
  const hyper = useCollection('/apis/topology.volcano.sh/v1alpha1/hypernodes');
  const few = list.rows.size > 0 && list.rows.size <= kNodesWithPods;
  const pods = useCollection(scoped('/api/v1', 'pods'), { query: name ? { fieldSelector: `spec.nodeName=${name}` } : few ? { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' } : { fieldSelector: 'metadata.name=no-pod-is-listed-here' } });
  const byNode = useMemo(() => {
    const out = new Map();
    for (const pod of pods.rows.values()) if (pod.spec?.nodeName && !isOver(pod)) out.set(pod.spec.nodeName, [...(out.get(pod.spec.nodeName) || []), pod]);
    for (const one of out.values()) one.sort((a, b) => natural(jobOf(a), jobOf(b)) || natural(a.metadata.name, b.metadata.name));
    return out;
  }, [pods.version]);
  const nodes = [...list.rows.values()];
  const domains = useMemo(() => racks(nodes, [...hyper.rows.values()]), [list.version, hyper.version]);
  if (name) return html`<${NodePage} node=${list.rows.get(`/${name}`)} name=${name} pods=${[...pods.rows.values()]} collections=${[list, pods]} go=${go} />`;
  const free = new Map();
  if (few)
    for (const node of nodes) {
      const left = {};
      for (const [key, value] of Object.entries(node.status?.allocatable || {})) left[key] = quantity(value) - (byNode.get(node.metadata.name) || []).reduce((sum, pod) => sum + (requestsOf(pod)[key] || 0), 0);
      free.set(node.metadata.name, left);
    }
  const gpu = nodes.flatMap((node) => Object.keys(node.status?.allocatable || {})).find((key) => key.endsWith('/gpu'));
  return html`<${Notices} of=${[list, pods].filter((one) => one.state !== 'absent')} />
    ${domains.map((domain) => html`<section key=${domain.name} class="rack"><h2>${plain(domain.name)} <span class="soft">${domain.nodes.length} ${t('Nodes')}</span></h2>
      ${few && html`<p class="soft">${t('Largest gang that fits')}: ${largestGang(domain.nodes, free, { cpu: 1 })} ${t('pods of one CPU')}${gpu ? `, ${largestGang(domain.nodes, free, { [gpu]: 1 })} ${t('pods of one GPU')}` : ''}</p>`}
      <div class="nodes">${domain.nodes.slice(0, 500).map((node) => html`<${NodeCard} key=${node.metadata.name} node=${node} pods=${few ? byNode.get(node.metadata.name) || [] : null} usage=${null} />`)}</div></section>`)}
    ${nodes.length === 0 && html`<p class="empty">${emptyText(list, t('No object of this kind.'))}</p>`}`;
}

function NodePage({ node, name, pods, collections, go }) {
  const [asked, setAsked] = useState(false);
  const [error, setError] = useState(null);
  const [told, setTold] = useState([]);
  const live = pods.filter((pod) => !isOver(pod));
  const cordon = async (unschedulable) => {
    setError(null);
    try {
      await request(`/api/v1/nodes/${encodeURIComponent(name)}`, { method: 'PATCH', type: 'application/merge-patch+json', body: { spec: { unschedulable } } });
    } catch (problem) {
      setError(problem);
    }
  };
  const evictable = live.filter((pod) => !pod.metadata.ownerReferences?.some((one) => one.kind === 'DaemonSet' || one.kind === 'Node'));
  const drain = async () => {
    await cordon(true);
    for (const pod of evictable) {
      try {
        await request(`/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}/eviction`, { method: 'POST', body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod.metadata.name, namespace: pod.metadata.namespace } } });
        setTold((old) => [...old, `${pod.metadata.name}: ${t('done')}`]);
      } catch (problem) {
        setTold((old) => [...old, `${pod.metadata.name}: ${problem.message}`]);
      }
    }
  };
  if (!node) return html`<${Notices} of=${collections} /><p class="empty">${emptyText(collections[0], t('No object of this kind.'))}</p>`;
  const columns = [
    { id: 'name', title: t('Name'), width: 'minmax(10rem,2fr)', cell: (pod) => html`<${Link} to=${where('objects', 'v1', 'pods', pod.metadata.namespace, pod.metadata.name)} tabindex="-1">${plain(pod.metadata.name)}<//>` },
    { id: 'job', title: t('Jobs'), width: 'minmax(6rem,1fr)', minor: true, cell: (pod) => plain(jobOf(pod)) },
    { id: 'state', title: t('State'), width: '8rem', cell: (pod) => html`<${State} state=${stateOf(pod.status?.phase)} word=${pod.status?.phase} />` },
    { id: 'cpu', title: t('CPU'), width: '4rem', minor: true, cell: (pod) => trim(requestsOf(pod).cpu || 0) },
    { id: 'memory', title: t('Memory'), width: '6rem', minor: true, cell: (pod) => amount('memory', requestsOf(pod).memory || 0) },
    { id: 'age', title: t('Age'), width: '4rem', cell: (pod) => html`<${Ago} time=${Date.parse(pod.metadata.creationTimestamp)} />` },
  ];
  return html`<${Notices} of=${collections} />
    <header class="subject"><h2>${plain(name)} <span class="soft">${t('Node')} · ${readiness(node)}</span></h2>
      <button type="button" onClick=${() => cordon(!node.spec?.unschedulable)}>${node.spec?.unschedulable ? t('Uncordon') : t('Cordon')}</button>
      <button type="button" class="danger" onClick=${() => setAsked(true)}>${t('Drain')}</button></header>
    ${error && html`<p class="notice" role="alert">${plain(error.message)}</p>`}
    <div class="meters">${Object.entries(node.status?.allocatable || {}).filter(([key, value]) => quantity(value) > 0 && key !== 'pods').map(([key, value]) => {
      const used = live.reduce((sum, pod) => sum + (requestsOf(pod)[key] || 0), 0);
      return html`<div class="meter" key=${key}><span>${plain(key)}</span><${Bar} total=${quantity(value)} parts=${[{ value: used, kind: 'used' }]} label=${`${key} ${amount(key, used)} ${t('of')} ${amount(key, quantity(value))}`} /><span>${amount(key, used)} ${t('of')} ${amount(key, quantity(value))} ${t('requested')}</span></div>`;
    })}</div>
    ${node.spec?.taints?.length > 0 && html`<h3>${t('Taints')}</h3><ul>${node.spec.taints.map((taint) => html`<li key=${taint.key + taint.effect}>${plain(`${taint.key}${taint.value ? `=${taint.value}` : ''}:${taint.effect}`)}</li>`)}</ul>`}
    <h3>${t('Conditions')}</h3><ul>${(node.status?.conditions || []).map((one) => html`<li key=${one.type}>${plain(one.type)}: ${plain(one.status)} <span class="soft">${plain(one.message)}</span></li>`)}</ul>
    <h3>${t('Pods')}</h3><${Table} label=${t('Pods')} columns=${columns} rows=${live.map((pod) => ({ ...pod, key: pod.metadata.uid, name: pod.metadata.name }))} onOpen=${(pod) => go(where('objects', 'v1', 'pods', pod.metadata.namespace, pod.metadata.name))} empty=${emptyText(collections, t('No object of this kind.'))} />
    ${asked && html`<${Dialog} title=${`${t('Drain')}: ${plain(name)}`} onClose=${() => setAsked(false)} actions=${told.length === 0 && html`<button type="button" class="danger" onClick=${drain}>${t('Yes, do it')}</button>`}>
      <ul class="named">${told.length ? told.map((line) => html`<li key=${line}>${plain(line)}</li>`) : evictable.map((pod) => html`<li key=${pod.metadata.uid}>${plain(pod.metadata.namespace)}/${plain(pod.metadata.name)}</li>`)}</ul><//>`}`;
}
