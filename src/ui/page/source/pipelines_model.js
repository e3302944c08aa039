// The pure parts of the pages of pipelines: documents, parameters, graphs, states.

export const kRuns = { base: '/apis/pipelines.kubeflow.org/v2beta1', plural: 'pipelineruns' };
export const kVersions = { base: kRuns.base, plural: 'pipelineversions' };
export const kRecurring = { base: kRuns.base, plural: 'recurringruns' };
export const kTasks = { base: kRuns.base, plural: 'pipelinetasks' };

// Version 1 of the SDK compiles Workflows, whose runs are objects of that kind.
export const kWorkflows = { base: '/apis/argoproj.io/v1alpha1', plural: 'workflows' };
export const isWorkflow = (document) => document?.kind === 'Workflow';

const kStates = { PENDING: 'waiting', RUNNING: 'running', SUCCEEDED: 'completed', CACHED: 'completed', SKIPPED: 'idle', FAILED: 'failed', CANCELING: 'waiting', CANCELED: 'failed', PAUSED: 'waiting' };
export const stateOf = (state) => kStates[state] || 'waiting';
export const isOver = (state) => ['SUCCEEDED', 'FAILED', 'CANCELED', 'SKIPPED', 'CACHED'].includes(state);

// Seconds between two times, or up to now.
export function tookSeconds(status, now) {
  const from = Date.parse(status?.startTime || status?.startedAt), to = Date.parse(status?.endTime || status?.finishedAt);
  return Number.isFinite(from) ? Math.max(0, Math.round(((Number.isFinite(to) ? to : now) - from) / 1000)) : null;
}
export const took = (seconds) => (seconds === null ? '' : seconds < 120 ? `${seconds}s` : seconds < 7200 ? `${Math.floor(seconds / 60)}m ${seconds % 60}s` : `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`);

// The parameters that a pipeline asks for: [{name, type, fallback, needed, about}].
export function parametersOf(document) {
  if (isWorkflow(document)) return (document.spec?.arguments?.parameters || []).map(({ name, value }) => ({ name, type: 'STRING', fallback: value, needed: value === undefined, about: '' }));
  const all = document?.root?.inputDefinitions?.parameters || {};
  return Object.entries(all).map(([name, one]) => ({ name, type: one.parameterType || 'STRING', fallback: one.defaultValue, needed: one.defaultValue === undefined && !one.isOptional, about: one.description || '' }));
}

const shown = (value) => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));
export const formOf = (parameters) => Object.fromEntries(parameters.map(({ name, fallback }) => [name, shown(fallback)]));

// The values that a form holds. What is as its default says is left out.
export function valuesOf(parameters, form) {
  const values = {};
  for (const { name, type, fallback, needed } of parameters) {
    const text = form[name] ?? '';
    if (text === shown(fallback) && !needed) continue;
    if (text === '' && type !== 'STRING') throw new Error(`${name}: a value is needed`);
    if (type === 'STRING') values[name] = text;
    else if (type === 'BOOLEAN') {
      if (text !== 'true' && text !== 'false') throw new Error(`${name}: true or false is needed`);
      values[name] = text === 'true';
    } else if (type === 'NUMBER_INTEGER' || type === 'NUMBER_DOUBLE') {
      const number = Number(text);
      if (text.trim() === '' || !Number.isFinite(number) || (type === 'NUMBER_INTEGER' && !Number.isInteger(number))) throw new Error(`${name}: a ${type === 'NUMBER_INTEGER' ? 'whole ' : ''}number is needed`);
      values[name] = number;
    } else {
      try {
        values[name] = JSON.parse(text);
      } catch {
        throw new Error(`${name}: ${type === 'LIST' ? 'a list' : 'an object'} in JSON is needed`);
      }
    }
  }
  return values;
}

export function runOf({ ns, name, version, values }) {
  const spec = version.spec || {};
  return {
    apiVersion: 'pipelines.kubeflow.org/v2beta1', kind: 'PipelineRun', metadata: { generateName: `${(spec.pipelineName || 'run').slice(0, 40)}-`, namespace: ns },
    spec: { displayName: name || undefined, pipelineName: spec.pipelineName, pipelineVersionName: version.metadata.name, pipelineSpec: spec.pipelineSpec, platformSpec: spec.platformSpec, runtimeConfig: Object.keys(values).length ? { parameters: values } : undefined },
  };
}

// The tasks of a template as those of a graph: steps wait for the group before theirs.
function graphOfTemplate(template) {
  const groups = Array.isArray(template?.steps) ? template.steps.map((group) => (Array.isArray(group) ? group : [])) : null, tasks = {};
  const add = (use, before) => {
    tasks[use.name] = { template: use.template, dependentTasks: before, parameterIterator: use.withItems || use.withParam || use.withSequence, triggerPolicy: use.when ? { condition: use.when } : undefined };
  };
  if (groups) groups.forEach((group, at) => group.forEach((use) => add(use, (groups[at - 1] || []).map(({ name }) => name))));
  else if (Array.isArray(template?.dag?.tasks)) for (const use of template.dag.tasks) add(use, use.dependencies || (use.depends?.match(/[\w-]+(?:\.\w+)?/g) || []).map((word) => word.split('.')[0]));
  else return null;
  return { tasks };
}
function graphOfWorkflow(document, path) {
  const templates = new Map((document.spec?.templates || []).map((one) => [one.name, one]));
  let template = templates.get(document.spec?.entrypoint);
  for (const part of String(path).split('.').slice(1)) template = templates.get(graphOfTemplate(template)?.tasks[part.replace(/[[(].*$/, '')]?.template);
  return graphOfTemplate(template);
}

// A Workflow as the pages of runs show runs, and its nodes as tasks by path.
const kPhases = { Pending: 'PENDING', Running: 'RUNNING', Succeeded: 'SUCCEEDED', Failed: 'FAILED', Error: 'FAILED', Skipped: 'SKIPPED', Omitted: 'SKIPPED' };
const byName = (list, valueOf) => Object.fromEntries((list || []).map((one) => [one.name, valueOf(one)]));
const sideOf = (side) => side && { parameters: byName(side.parameters, ({ value }) => value ?? ''), artifacts: byName(side.artifacts, (one) => [{ type: {}, uri: '', metadata: { path: one.path || '' } }]) };
export function runOfWorkflow(workflow) {
  const { metadata, spec, status } = workflow, notes = metadata.annotations || {}, failed = status?.phase === 'Failed' || status?.phase === 'Error';
  return {
    metadata, workflow: true,
    spec: { displayName: notes['pipelines.kubeflow.org/run_name'], pipelineName: notes['pipelines.kubeflow.org/run_pipeline'], pipelineSpec: { kind: 'Workflow', spec }, runtimeConfig: { parameters: byName(spec?.arguments?.parameters, ({ value }) => value ?? '') } },
    status: { state: kPhases[status?.phase] || 'PENDING', error: failed ? status.message : '', startedAt: status?.startedAt, finishedAt: status?.finishedAt },
  };
}
export function tasksOfWorkflow(workflow) {
  const name = workflow.metadata.name, tasks = new Map();
  for (const node of Object.values(workflow.status?.nodes || {})) {
    const own = String(node.name), path = own === name ? 'root' : own.startsWith(`${name}.`) ? `root${own.slice(name.length)}` : null;
    if (!path) continue;
    const failed = node.phase === 'Failed' || node.phase === 'Error';
    tasks.set(path, { metadata: workflow.metadata, spec: { path, taskName: node.displayName, type: node.type }, status: { state: kPhases[node.phase] || 'PENDING', error: failed ? node.message : '', message: failed ? '' : node.message, podName: node.type === 'Pod' ? node.id : '', startTime: node.startedAt, endTime: node.finishedAt, inputs: sideOf(node.inputs), outputs: sideOf(node.outputs) } });
  }
  return tasks;
}

// The graph of the document at a path of a run ("root.for-loop-1[3]"): {tasks, name}; null where there is none.
export function graphAt(document, path) {
  if (isWorkflow(document)) return graphOfWorkflow(document, path);
  let component = document?.root;
  for (const part of String(path).split('.').slice(1)) {
    const name = part.replace(/\[\d+\]$/, '');
    component = document.components?.[component?.dag?.tasks?.[name]?.componentRef?.name];
    if (!component) return null;
  }
  return component?.dag ? component.dag : null;
}

// What a task waits for: the tasks that it names, and those whose outputs it takes.
export function waitsFor(task) {
  const before = new Set(task.dependentTasks || []);
  for (const one of [...Object.values(task.inputs?.parameters || {}), ...Object.values(task.inputs?.artifacts || {})]) {
    const from = one.taskOutputParameter?.producerTask || one.taskOutputArtifact?.producerTask || one.taskFinalStatus?.producerTask;
    if (from) before.add(from);
  }
  return [...before];
}

// Boxes in columns by what they wait for: {boxes: [{name, column, row}], edges: [[from, to]], columns, rows}.
export function layout(dag) {
  const names = Object.keys(dag?.tasks || {}), columns = new Map();
  const columnOf = (name, depth = 0) => {
    if (columns.has(name)) return columns.get(name);
    if (depth > names.length) return 0; // a circle, which no server lets through
    const before = waitsFor(dag.tasks[name]).filter((one) => one in dag.tasks);
    const column = before.length ? 1 + Math.max(...before.map((one) => columnOf(one, depth + 1))) : 0;
    columns.set(name, column);
    return column;
  };
  const filled = [];
  const boxes = names.map((name) => {
    const column = columnOf(name);
    filled[column] = (filled[column] || 0) + 1;
    return { name, column, row: filled[column] - 1 };
  });
  const edges = names.flatMap((to) => waitsFor(dag.tasks[to]).filter((from) => from in dag.tasks).map((from) => [from, to]));
  return { boxes, edges, columns: filled.length, rows: Math.max(0, ...filled) };
}

// The artifacts of one side of a task as a list: [{name, index, label, type, uri, metadata}].
export const artifactsOf = (side) => Object.entries(side?.artifacts || {}).flatMap(([name, list]) => (Array.isArray(list) ? list : [list]).map((one, index, all) => ({ name, index, label: all.length > 1 ? `${name}[${index}]` : name, type: one?.type?.schemaTitle || one?.type?.schema_title || '', uri: one?.uri || '', metadata: one?.metadata || {} })));

// The curves of a run's tasks: [{title, metadata}].
export const curvesOf = (tasks) => tasks.flatMap((task) => artifactsOf(task.status?.outputs).filter(({ type }) => type === 'system.ClassificationMetrics').map(({ label, metadata }) => ({ title: `${task.spec.taskName}: ${label}`, metadata })));

// The numbers that runs reported as metrics, by "task: name".
export function metricsOf(tasks) {
  const out = {};
  for (const task of tasks)
    for (const { type, metadata } of artifactsOf(task.status?.outputs))
      if (type === 'system.Metrics') for (const [name, value] of Object.entries(metadata)) if (typeof value === 'number') out[`${task.spec.taskName}: ${name}`] = value;
  return out;
}
