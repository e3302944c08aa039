// Pipelines: versions and their graph, upload, runs, a run's live graph with each task's inputs, outputs and log.
import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { request, withQuery } from './api.js';
import { natural, plain } from './format.js';
import { FormDialog, Sure, ageColumn, byName, created, listPath, nameColumns, objectPath, post, remove, stateColumn } from './later_parts.js';
import { useCollection } from './live.js';
import { Logs } from './logs.js';
import { EventList } from './objects.js';
import { Ago, Dialog, Link, Notices, State, Table, useNow, emptyText, where } from './parts.js';
import { Artifact, Bars, Curves } from './pipelines_artifacts.js';
import { curveOf, shortOf } from './pipelines_artifacts_model.js';
import { artifactsOf, curvesOf, formOf, graphAt, isOver, isWorkflow, kRecurring, kRuns, kTasks, kVersions, kWorkflows, layout, metricsOf, parametersOf, runOf, runOfWorkflow, stateOf, tasksOfWorkflow, took, tookSeconds, valuesOf } from './pipelines_model.js';
import './pipelines_words.js';
import { currentScope, scoped } from './scope.js';
import { t } from './words.js';
import { yaml } from './yaml.js';

const kFileMax = 10 << 20, kArtifactsMax = 100;
const titleOf = (object) => object.spec?.displayName || object.metadata.name;
const newestFirst = (a, b) => created(b) - created(a) || byName(a, b);
const patch = (kind, object, spec) => request(objectPath(kind, object), { method: 'PATCH', type: 'application/merge-patch+json', body: { spec } });

// Boxes of tasks with lines between them; `look(name)` gives {state, word, below, to} of each.
function Graph({ dag, look, label }) {
  const { boxes, edges, columns, rows } = layout(dag);
  const width = 200, height = 56;
  const place = new Map(boxes.map(({ name, column, row }) => [name, [column * 240 + 4, row * 72 + 4]]));
  return html`<svg class="map" viewBox=${`0 0 ${Math.max(1, columns) * 240} ${Math.max(1, rows) * 72}`} style=${`max-inline-size:${Math.max(1, columns) * 16}rem`} role="group" aria-label=${label}>
    ${edges.map(([from, to]) => {
      const [x1, y1] = place.get(from), [x2, y2] = place.get(to);
      return html`<path key=${`${from} ${to}`} d=${`M${x1 + width} ${y1 + height / 2} C${x1 + width + 20} ${y1 + height / 2} ${x2 - 20} ${y2 + height / 2} ${x2} ${y2 + height / 2}`} />`;
    })}
    ${boxes.map(({ name }) => {
      const [x, y] = place.get(name), { state, word, below, to } = look(name);
      const box = html`<g class=${`box-${state || 'idle'}`}><rect x=${x} y=${y} width=${width} height=${height} rx="6" /><text x=${x + 10} y=${y + 22}>${plain(name).slice(0, 26)}</text><text x=${x + 10} y=${y + 42} class="soft">${plain(word).slice(0, 32)}${below ? ' ▸' : ''}</text></g>`;
      return to ? html`<a key=${name} href=${`#${to}`} aria-label=${plain(`${name}: ${word}`)}>${box}</a>` : html`<g key=${name}>${box}</g>`;
    })}
  </svg>`;
}

const wordOf = (dag, name) => {
  const task = dag.tasks[name];
  return task.parameterIterator || task.artifactIterator ? t('loop') : task.triggerPolicy?.condition ? t('condition') : task.triggerPolicy?.strategy ? t('exit handler') : '';
};

function Upload({ onClose }) {
  const [error, setError] = useState('');
  const ns = currentScope() || 'default';
  const send = async (event) => {
    event.preventDefault();
    const form = event.currentTarget, file = form.elements.file.files[0], name = form.elements.name.value.trim();
    if (!file) return setError(t('Choose a file.'));
    if (file.size > kFileMax) return setError(t('The file is larger than 10 MiB.'));
    const boundary = `page-${crypto.randomUUID()}`;
    const body = new Blob([`--${boundary}\r\nContent-Disposition: form-data; name="uploadfile"; filename="${encodeURIComponent(file.name)}"\r\nContent-Type: application/octet-stream\r\n\r\n`, file, `\r\n--${boundary}--\r\n`]);
    try {
      await request(withQuery('/pipeline/apis/v2beta1/pipelines/upload', { name: name || file.name.replace(/\.[a-z.]+$/, ''), namespace: ns }), { method: 'POST', type: `multipart/form-data; boundary=${boundary}`, body });
      onClose();
    } catch (problem) {
      setError(problem.message);
    }
  };
  return html`<${Dialog} title=${t('Upload a pipeline')} onClose=${onClose} actions=${html`<button type="submit" form="upload" class="primary">${t('Upload')}</button>`}>
    <form id="upload" class="fields" onSubmit=${send}><label>${t('Name')} <input name="name" /></label><label>${t('Compiled pipeline (YAML, zip, tar.gz)')} <input type="file" name="file" accept=".yaml,.yml,.json,.zip,.gz,.tgz" /></label></form>
    ${error && html`<p class="notice" role="alert">${plain(error)}</p>`}<//>`;
}

export function StartRun({ version, onClose, go }) {
  const parameters = parametersOf(version.spec?.pipelineSpec);
  const fields = [{ key: ' name', title: t('Name of the run') }, ...parameters.map(({ name, type, about }) => ({ key: name, title: `${name} (${type})${about ? `: ${about}` : ''}`, rows: type === 'LIST' || type === 'STRUCT' ? 3 : 0, options: type === 'BOOLEAN' ? [['true', 'true'], ['false', 'false']] : undefined }))];
  const ns = version.metadata.namespace;
  const send = async (form) => {
    if (isWorkflow(version.spec?.pipelineSpec)) {
      const values = valuesOf(parameters, form), reference = (type, id, relationship) => ({ key: { type, id }, relationship });
      const body = { name: form[' name'], pipeline_spec: { parameters: Object.entries(values).map(([name, value]) => ({ name, value })) }, resource_references: [reference('NAMESPACE', ns, 'OWNER'), reference('PIPELINE_VERSION', version.metadata.uid, 'CREATOR')] };
      const { pipeline_runtime: runtime } = await (await request('/pipeline/apis/v1beta1/runs', { method: 'POST', body })).json();
      return go(`${where('pipelines', 'run', ns, JSON.parse(runtime.workflow_manifest).metadata.name)}?kind=workflow`);
    }
    const made = await (await post(`${kRuns.base}/namespaces/${encodeURIComponent(ns)}/pipelineruns`, runOf({ ns, name: form[' name'], version, values: valuesOf(parameters, form) }))).json();
    go(where('pipelines', 'run', ns, made.metadata.name));
  };
  return html`<${FormDialog} title=${`${t('Run')}: ${titleOf(version)}`} fields=${fields} first=${{ ' name': titleOf(version), ...formOf(parameters) }} send=${send} onClose=${onClose} />`;
}

function RunTable({ runs, list, go, onCompare }) {
  const now = useNow();
  const placeOf = ({ object, name }) => `${where('pipelines', 'run', object.metadata.namespace, name)}${object.workflow ? '?kind=workflow' : ''}`;
  const [selected, setSelected] = useState(new Set());
  const rows = runs.sort(newestFirst).map((object) => ({ object, key: object.metadata.uid, name: object.metadata.name, state: stateOf(object.status?.state), word: object.status?.state || 'PENDING', reason: object.status?.error || '' }));
  const columns = [
    ...nameColumns(),
    { id: 'name', title: t('Run'), width: 'minmax(10rem,2fr)', cell: (row) => html`<${Link} to=${placeOf(row)} tabindex="-1">${plain(titleOf(row.object))}<//>` },
    stateColumn(),
    { id: 'pipeline', title: t('Pipeline'), width: 'minmax(6rem,1fr)', minor: true, cell: ({ object }) => plain(object.spec?.pipelineName) },
    { id: 'tasks', title: t('Tasks'), width: '6rem', cell: ({ object: { status } }) => (status?.tasks ? `${status.tasks.succeeded || 0}/${status.tasks.total || 0}` : '') },
    { id: 'took', title: t('Duration'), width: '6rem', minor: true, cell: ({ object }) => took(tookSeconds(object.status, now)) },
    ageColumn(),
    { id: 'why', title: t('Reason'), width: 'minmax(8rem,3fr)', minor: true, cell: (row) => html`<span title=${plain(row.reason)}>${plain(row.reason)}</span>` },
  ];
  const select = (row) => setSelected((old) => (old.has(row.key) ? new Set([...old].filter((key) => key !== row.key)) : new Set([...old, row.key].slice(-8))));
  return html`${selected.size > 1 && html`<div class="tools"><button type="button" onClick=${() => onCompare(rows.filter((row) => selected.has(row.key)).map((row) => row.object))}>${t('Compare')} (${selected.size})</button></div>`}
    <${Table} label=${t('Runs')} columns=${columns} rows=${rows} selected=${selected} onSelect=${select} onOpen=${(row) => go(placeOf(row))} empty=${emptyText(list, t('No run yet: upload a pipeline and run it, or use the SDK.'))} />`;
}

function Compare({ runs, onClose }) {
  const tasks = useCollection(listPath(kTasks), { query: { labelSelector: `pipelines.kubeflow.org/run in (${runs.map((run) => run.metadata.name).join(',')})` } });
  const all = [...tasks.rows.values()], titles = runs.map(titleOf);
  const tasksOf = runs.map((run) => all.filter((task) => task.spec?.runName === run.metadata.name && task.metadata.namespace === run.metadata.namespace));
  const metrics = tasksOf.map(metricsOf);
  const curves = tasksOf.flatMap((own, at) => curvesOf(own).map(({ title, metadata }) => ({ title: `${titles[at]} · ${title}`, points: curveOf(metadata) }))).filter(({ points }) => points.length > 1).slice(0, 24);
  const parameters = runs.map(({ spec }) => ({ ...Object.fromEntries(parametersOf(spec?.pipelineSpec).filter(({ fallback }) => fallback !== undefined).map(({ name, fallback }) => [name, fallback])), ...spec?.runtimeConfig?.parameters }));
  const names = (sides) => [...new Set(sides.flatMap(Object.keys))].sort(natural);
  const rowsOf = (sides) => names(sides).map((name) => html`<tr key=${name}><th scope="row">${plain(name)}</th>${sides.map((side, at) => html`<td key=${at}>${plain(side[name] === undefined ? '' : shortOf(side[name]))}</td>`)}</tr>`);
  return html`<${Dialog} title=${t('Compare')} onClose=${onClose}><div class="scroll" tabindex="0" role="group" aria-label=${t('Compare')}><table class="plain-table"><thead><tr><th></th>${runs.map((run) => html`<th scope="col" key=${run.metadata.uid}>${plain(titleOf(run))}</th>`)}</tr></thead>
    <tbody><tr><th scope="row">${t('State')}</th>${runs.map((run) => html`<td key=${run.metadata.uid}>${plain(run.status?.state)}</td>`)}</tr>${rowsOf(parameters)}${rowsOf(metrics)}</tbody></table></div><${Bars} titles=${titles} sides=${metrics} />${curves.length > 0 && html`<h3>${t('ROC curve')}</h3><${Curves} curves=${curves} />`}<//>`;
}

export function Pipelines({ query, setQuery, go }) {
  const runs = useCollection(listPath(kRuns));
  const workflows = useCollection(listPath(kWorkflows));
  const versions = useCollection(listPath(kVersions));
  const recurring = useCollection(listPath(kRecurring));
  const [asked, setAsked] = useState(null);
  const tab = query.tab || 'runs';
  const tabs = [['runs', t('Runs')], ['pipelines', t('Pipelines')], ['recurring', t('Recurring runs')]];
  const versionRows = [...versions.rows.values()].sort(newestFirst).map((object) => ({ object, key: object.metadata.uid, name: object.metadata.name }));
  const versionColumns = [
    ...nameColumns(),
    { id: 'name', title: t('Pipeline'), width: 'minmax(8rem,1.5fr)', cell: ({ object }) => html`<${Link} to=${where('pipelines', 'version', object.metadata.namespace, object.metadata.name)} tabindex="-1">${plain(object.spec?.pipelineName)}<//>` },
    { id: 'version', title: t('Version'), width: 'minmax(8rem,1.5fr)', cell: ({ object }) => plain(object.spec?.displayName || object.metadata.name) },
    { id: 'about', title: t('Description'), width: 'minmax(8rem,2fr)', minor: true, cell: ({ object }) => plain(object.spec?.description || object.spec?.pipelineSpec?.pipelineInfo?.description) },
    ageColumn(),
    { id: 'act', title: t('Actions'), width: '11rem', cell: ({ object }) => html`<span class="actions"><button type="button" onClick=${() => setAsked({ start: object })}>${t('Run')}<span class="hidden"> ${plain(object.metadata.name)}</span></button><button type="button" class="danger" onClick=${() => setAsked({ remove: object, kind: kVersions })}>${t('Delete')}<span class="hidden"> ${plain(object.metadata.name)}</span></button></span>` },
  ];
  const recurringRows = [...recurring.rows.values()].sort(byName).map((object) => ({ object, key: object.metadata.uid, name: object.metadata.name, state: object.spec?.mode === 'DISABLE' ? 'idle' : object.status?.error ? 'failed' : 'running', word: object.status?.state || object.spec?.mode || 'ENABLE' }));
  const triggerOf = ({ spec }) => spec?.trigger?.cronSchedule?.cron || (spec?.trigger?.periodicSchedule ? `${spec.trigger.periodicSchedule.intervalSecond} s` : '');
  const recurringColumns = [
    ...nameColumns(), { id: 'name', title: t('Name'), width: 'minmax(8rem,2fr)', cell: ({ object }) => plain(titleOf(object)) }, stateColumn(),
    { id: 'trigger', title: t('Schedule'), width: 'minmax(6rem,1fr)', cell: ({ object }) => plain(triggerOf(object)) },
    { id: 'next', title: t('Next'), width: '8rem', minor: true, cell: ({ object }) => plain(object.status?.nextRunTime) },
    { id: 'act', title: t('Actions'), width: '12rem', cell: ({ object }) => html`<span class="actions"><button type="button" onClick=${() => patch(kRecurring, object, { mode: object.spec?.mode === 'DISABLE' ? 'ENABLE' : 'DISABLE' })}>${object.spec?.mode === 'DISABLE' ? t('Enable') : t('Disable')}<span class="hidden"> ${plain(object.metadata.name)}</span></button><button type="button" class="danger" onClick=${() => setAsked({ remove: object, kind: kRecurring })}>${t('Delete')}<span class="hidden"> ${plain(object.metadata.name)}</span></button></span>` },
  ];
  return html`<${Notices} of=${[runs, versions]} />
    <div class="tools"><button type="button" class="primary" onClick=${() => setAsked({ upload: true })}>${t('Upload a pipeline')}</button></div>
    <div class="tabs" role="tablist">${tabs.map(([id, title]) => html`<button type="button" role="tab" key=${id} aria-selected=${tab === id ? 'true' : 'false'} onClick=${() => setQuery({ tab: id })}>${title}</button>`)}</div>
    <div class="tab-body">
      ${tab === 'runs' && html`<${RunTable} runs=${[...runs.rows.values(), ...[...workflows.rows.values()].map(runOfWorkflow)]} list=${runs} go=${go} onCompare=${(chosen) => setAsked({ compare: chosen })} />`}
      ${tab === 'pipelines' && html`<${Table} label=${t('Pipelines')} columns=${versionColumns} rows=${versionRows} onOpen=${({ object }) => go(where('pipelines', 'version', object.metadata.namespace, object.metadata.name))} empty=${emptyText(versions, t('No pipeline yet: upload one that the SDK compiled.'))} />`}
      ${tab === 'recurring' && html`<${Table} label=${t('Recurring runs')} columns=${recurringColumns} rows=${recurringRows} empty=${emptyText(recurring, t('No recurring run yet: create one with the SDK.'))} />`}
    </div>
    ${asked?.upload && html`<${Upload} onClose=${() => setAsked(null)} />`}
    ${asked?.start && html`<${StartRun} version=${asked.start} go=${go} onClose=${() => setAsked(null)} />`}
    ${asked?.compare && html`<${Compare} runs=${asked.compare} onClose=${() => setAsked(null)} />`}
    ${asked?.remove && html`<${Sure} title=${`${t('Delete')}: ${asked.remove.metadata.name}`} text=${t('Runs that it was used for stay.')} act=${() => remove(objectPath(asked.kind, asked.remove))} onClose=${() => setAsked(null)} />`}`;
}

// The way to a graph inside of others: root ▸ for-loop-1[3] ▸ ...
function Crumbs({ path, to }) {
  const parts = path.split('.');
  return html`<nav aria-label=${t('Graph')}><p>${parts.map((part, at) => html`${at > 0 ? ' ▸ ' : ''}${at === parts.length - 1 ? html`<strong>${plain(part)}</strong>` : html`<${Link} key=${at} to=${to(parts.slice(0, at + 1).join('.'))}>${plain(part)}<//>`}`)}</p></nav>`;
}

export function PipelineVersion({ ns, name, query, go }) {
  const one = useCollection(`${kVersions.base}/namespaces/${encodeURIComponent(ns)}/pipelineversions`, { query: { fieldSelector: `metadata.name=${name}` } });
  const [starting, setStarting] = useState(false);
  const version = one.rows.get(`${ns}/${name}`);
  if (!version) return html`<${Notices} of=${[one]} /><p class="empty">${emptyText(one, t('No pipeline is there.'))}</p>`;
  const path = query.at || 'root', dag = graphAt(version.spec?.pipelineSpec, path);
  const to = (at) => `${where('pipelines', 'version', ns, name)}?at=${encodeURIComponent(at)}`;
  const look = (task) => {
    const below = graphAt(version.spec?.pipelineSpec, `${path}.${task}`) !== null;
    return { state: 'idle', word: wordOf(dag, task) || t('step'), below, to: below ? to(`${path}.${task}`) : null };
  };
  return html`<header class="subject"><h2>${plain(version.spec?.pipelineName)} <span class="soft">${plain(titleOf(version))} · ${plain(ns)}</span></h2><button type="button" class="primary" onClick=${() => setStarting(true)}>${t('Run')}</button></header>
    <p>${plain(version.spec?.description || version.spec?.pipelineSpec?.pipelineInfo?.description)}</p>
    <${Crumbs} path=${path} to=${to} />${dag ? html`<${Graph} dag=${dag} look=${look} label=${t('Graph')} />` : html`<p class="empty">${t('This pipeline has no graph that can be shown.')}</p>`}
    <h3>${t('YAML')}</h3><pre class="code" tabindex="0">${plain(yaml(version.spec?.pipelineSpec || {}))}</pre>
    ${starting && html`<${StartRun} version=${version} go=${go} onClose=${() => setStarting(false)} />`}`;
}

function Values({ title, side, run, task }) {
  const parameters = Object.entries(side?.parameters || {}), artifacts = artifactsOf(side);
  if (!parameters.length && !artifacts.length) return null;
  return html`<h4>${title}</h4><table class="plain-table"><tbody>
    ${parameters.map(([name, value]) => html`<tr key=${name}><th scope="row">${plain(name)}</th><td><pre class="code">${plain(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}</pre></td></tr>`)}
  </tbody></table>${artifacts.slice(0, kArtifactsMax).map((one, at) => html`<${Artifact} key=${`${at} ${one.uri}`} run=${run} task=${task} one=${one} />`)}${artifacts.length > kArtifactsMax ? html`<p class="soft">${artifacts.length - kArtifactsMax} ${t('more')}</p>` : ''}`;
}

function Task({ task, ns, run }) {
  const now = useNow();
  const { status = {}, spec } = task;
  const pods = useCollection(`/api/v1/namespaces/${encodeURIComponent(ns)}/pods`, { query: { fieldSelector: `metadata.name=${status.podName || '-'}` } });
  const pod = status.podName && pods.rows.get(`${ns}/${status.podName}`);
  return html`<section aria-label=${plain(spec.path)}><h3>${plain(spec.displayName || spec.taskName)} <span class="soft">${plain(spec.type)}${spec.iteration !== undefined ? ` · ${spec.iteration}` : ''}</span></h3>
    <p><${State} state=${stateOf(status.state)} word=${status.state || 'PENDING'} /> ${took(tookSeconds(status, now))} ${status.attempt > 0 ? html`<span class="soft">${t('attempt')} ${status.attempt + 1}</span>` : ''} ${status.cachedFrom ? html`<span class="soft">${t('from the cache:')} ${plain(status.cachedFrom)}</span>` : ''}</p>
    ${status.error && html`<p class="notice">${plain(status.error)}</p>`}${status.message && html`<p role="status">${plain(status.message)}</p>`}
    <${Values} title=${t('Inputs')} side=${status.inputs} run=${run} task=${spec.path} /><${Values} title=${t('Outputs')} side=${status.outputs} run=${run} task=${spec.path} />
    ${pod && html`<h4>${t('Logs')} <${Link} to=${where('objects', 'v1', 'pods', ns, status.podName)}>${plain(status.podName)}<//></h4><${Logs} ns=${ns} pods=${[pod]} /><h4>${t('Events')}</h4><${EventList} ns=${ns} names=${[status.podName]} />`}
  </section>`;
}

export function PipelineRun({ ns, name, query, go }) {
  const now = useNow();
  const old = query.kind === 'workflow', kind = old ? kWorkflows : kRuns;
  const one = useCollection(`${kind.base}/namespaces/${encodeURIComponent(ns)}/${kind.plural}`, { query: { fieldSelector: `metadata.name=${name}` } });
  const list = useCollection(scoped(kTasks.base, kTasks.plural), { query: { labelSelector: `pipelines.kubeflow.org/run=${name}` } });
  const [sure, setSure] = useState(false);
  const [error, setError] = useState('');
  const found = one.rows.get(`${ns}/${name}`);
  const tasks = useMemo(() => old ? (found ? tasksOfWorkflow(found) : new Map()) : new Map([...list.rows.values()].filter((task) => task.metadata.namespace === ns).map((task) => [task.spec.path, task])), [list.version, one.version]);
  const run = old && found ? runOfWorkflow(found) : found;
  if (!run) return html`<${Notices} of=${[one]} /><p class="empty">${emptyText(one, t('No run is there.'))}</p>`;
  const state = run.status?.state || 'PENDING', document = run.spec?.pipelineSpec;
  const path = query.at || 'root', opened = query.task && tasks.get(query.task);
  const to = (at, task) => `${where('pipelines', 'run', ns, name)}?at=${encodeURIComponent(at)}${old ? '&kind=workflow' : ''}${task ? `&task=${encodeURIComponent(task)}` : ''}`;
  const turns = [...tasks.values()].filter((task) => task.spec.parentPath === path && task.spec.path.startsWith(`${path}[`)).sort((a, b) => a.spec.iteration - b.spec.iteration);
  const dag = turns.length ? null : graphAt(document, path);
  const look = (task) => {
    const at = `${path}.${task}`, known = tasks.get(at), below = graphAt(document, at) !== null;
    return { state: known ? stateOf(known.status?.state) : 'idle', word: known ? `${known.status?.state || 'PENDING'} ${took(tookSeconds(known.status, now))}` : wordOf(dag, task), below, to: below ? to(at, at) : known ? to(path, at) : null };
  };
  const act = (sent) => sent.catch((problem) => setError(problem.message));
  const retry = () => act(old ? request(`/pipeline/apis/v1beta1/runs/${encodeURIComponent(run.metadata.uid)}/retry`, { method: 'POST' }) : patch(kRuns, run, { retries: (run.spec?.retries || 0) + 1 }));
  return html`<${Notices} of=${[one, list]} />${error && html`<p class="notice" role="alert">${plain(error)}</p>`}
    <header class="subject"><h2>${plain(titleOf(run))} <span class="soft">${plain(name)} · ${plain(ns)}</span></h2><${State} state=${stateOf(state)} word=${state} /> ${took(tookSeconds(run.status, now))}
      ${isOver(state) ? html`<button type="button" onClick=${retry}>${t('Retry')}</button>` : html`<button type="button" class="danger" onClick=${() => act(patch(kind, run, old ? { shutdown: 'Terminate' } : { terminate: true }))}>${t('Terminate')}</button>`}
      <button type="button" class="danger" onClick=${() => setSure(true)}>${t('Delete')}</button></header>
    <p class="soft">${t('submitted')} <${Ago} time=${created(run)} />${run.spec?.pipelineName ? ` · ${plain(run.spec.pipelineName)}` : ''}</p>
    ${run.status?.error && html`<p class="notice">${plain(run.status.error)}</p>`}
    <${Crumbs} path=${path} to=${(at) => to(at)} />
    ${dag ? html`<${Graph} dag=${dag} look=${look} label=${t('Graph')} />` : turns.length ? html`<ul class="results">${turns.map((task) => html`<li key=${task.spec.path}><${State} state=${stateOf(task.status?.state)} word=${task.status?.state || 'PENDING'} /> <${Link} to=${to(task.spec.path, task.spec.path)}>${plain(task.spec.path)}<//></li>`)}</ul>` : html`<p class="empty">${t('This pipeline has no graph that can be shown.')}</p>`}
    ${opened ? html`<${Task} key=${query.task} task=${opened} ns=${ns} run=${run.metadata.uid} />` : html`<p class="soft">${t('Choose a task to see its inputs, outputs and log.')}</p><${Values} title=${t('Parameters')} side=${{ parameters: run.spec?.runtimeConfig?.parameters }} /><${Values} title=${t('Outputs')} side=${tasks.get('root')?.status?.outputs} run=${run.metadata.uid} task="root" />`}
    ${sure && html`<${Sure} title=${`${t('Delete')}: ${name}`} text=${t('Its tasks and pods go with it.')} act=${() => remove(objectPath(kind, run)).then(() => go('/pipelines'))} onClose=${() => setSure(false)} />`}`;
}
