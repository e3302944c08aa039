// The pure parts of the pages of pipelines: parameters, graphs, states, metrics.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifactsOf, formOf, graphAt, layout, metricsOf, parametersOf, runOf, runOfWorkflow, stateOf, tasksOfWorkflow, took, tookSeconds, valuesOf, waitsFor } from '../source/pipelines_model.js';

const document = {
  root: {
    inputDefinitions: { parameters: { who: { parameterType: 'STRING', defaultValue: 'you' }, count: { parameterType: 'NUMBER_INTEGER' }, list: { parameterType: 'LIST', isOptional: true }, fast: { parameterType: 'BOOLEAN', defaultValue: false } } },
    dag: {
      tasks: {
        a: { componentRef: { name: 'comp-a' } },
        loop: { componentRef: { name: 'comp-loop' }, inputs: { parameters: { x: { taskOutputParameter: { producerTask: 'a', outputParameterKey: 'o' } } } }, parameterIterator: {} },
        z: { componentRef: { name: 'comp-a' }, dependentTasks: ['loop'], inputs: { artifacts: { m: { taskOutputArtifact: { producerTask: 'a' } } } } },
      },
    },
  },
  components: { 'comp-a': { executorLabel: 'e' }, 'comp-loop': { dag: { tasks: { inner: { componentRef: { name: 'comp-a' } } } } } },
};

test('parameters of a pipeline become a form and its values', () => {
  const parameters = parametersOf(document);
  assert.deepEqual(parameters.map(({ name, needed }) => [name, needed]), [['who', false], ['count', true], ['list', false], ['fast', false]]);
  const form = formOf(parameters);
  assert.deepEqual(form, { who: 'you', count: '', list: '', fast: 'false' });
  assert.deepEqual(valuesOf(parameters, { ...form, count: '3', list: '[1]', fast: 'true' }), { count: 3, list: [1], fast: true });
  assert.deepEqual(valuesOf(parameters, { ...form, count: '3' }), { count: 3 });
  for (const [name, value, said] of [['count', 'x', 'count: a whole number is needed'], ['count', '1.5', 'count: a whole number is needed'], ['count', '', 'count: a value is needed'], ['list', '[', 'list: a list in JSON is needed'], ['fast', 'yes', 'fast: true or false is needed']])
    assert.throws(() => valuesOf(parameters, { ...form, count: '1', [name]: value }), { message: said });
  assert.deepEqual(parametersOf({}), []);
});

test('graphs are found by path and laid out by what waits for what', () => {
  assert.deepEqual(waitsFor(document.root.dag.tasks.z), ['loop', 'a']);
  const { boxes, edges, columns, rows } = layout(graphAt(document, 'root'));
  assert.deepEqual(boxes, [{ name: 'a', column: 0, row: 0 }, { name: 'loop', column: 1, row: 0 }, { name: 'z', column: 2, row: 0 }]);
  assert.deepEqual(edges, [['a', 'loop'], ['loop', 'z'], ['a', 'z']]);
  assert.deepEqual([columns, rows], [3, 1]);
  assert.deepEqual(Object.keys(graphAt(document, 'root.loop[3]').tasks), ['inner']);
  assert.equal(graphAt(document, 'root.a'), null);
  assert.equal(graphAt(document, 'root.none'), null);
  assert.equal(layout({ tasks: { a: { dependentTasks: ['b'] }, b: { dependentTasks: ['a'] } } }).boxes.length, 2);
});

test('runs, states, times and metrics', () => {
  assert.equal(stateOf('CACHED'), 'completed');
  assert.equal(stateOf('anything'), 'waiting');
  assert.equal(tookSeconds({ startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-01T00:02:05Z' }, 0), 125);
  assert.equal(tookSeconds({}, 0), null);
  assert.equal(took(125), '2m 5s');
  const run = runOf({ ns: 'n', name: 'first', version: { metadata: { name: 'v' }, spec: { pipelineName: 'p', pipelineSpec: document } }, values: { count: 3 } });
  assert.equal(run.metadata.generateName, 'p-');
  assert.deepEqual(run.spec.runtimeConfig, { parameters: { count: 3 } });
  const task = { spec: { taskName: 'train' }, status: { outputs: { artifacts: { m: [{ name: 'm', type: { schemaTitle: 'system.Metrics' }, uri: 'u', metadata: { accuracy: 0.9, note: 'x' } }] } } } };
  assert.deepEqual(metricsOf([task]), { 'train: accuracy': 0.9 });
  assert.equal(artifactsOf(task.status.outputs)[0].type, 'system.Metrics');
});

test('a Workflow is shown as a run with tasks', () => {
  const spec = { entrypoint: 'all', arguments: { parameters: [{ name: 'rate', value: '1' }, { name: 'words' }] }, templates: [
    { name: 'all', dag: { tasks: [{ name: 'a', template: 'leaf' }, { name: 'b', template: 'inner', depends: 'a.Succeeded && !c', when: 'x' }, { name: 'c', template: 'leaf', withItems: [1] }] } },
    { name: 'inner', steps: [[{ name: 'one', template: 'leaf' }], [{ name: 'two', template: 'leaf' }]] }, { name: 'leaf', container: {} }] };
  const document = { kind: 'Workflow', spec };
  assert.deepEqual(parametersOf(document).map(({ name, needed }) => [name, needed]), [['rate', false], ['words', true]]);
  const dag = graphAt(document, 'root');
  assert.deepEqual(waitsFor(dag.tasks.b), ['a', 'c']);
  assert.deepEqual(waitsFor(graphAt(document, 'root.b').tasks.two), ['one']);
  assert.equal(graphAt(document, 'root.a'), null);
  for (const broken of [{}, { spec: {} }, { spec: { entrypoint: 'x', templates: [{ name: 'x', steps: 1 }] } }]) assert.equal(layout(graphAt({ kind: 'Workflow', ...broken }, 'root.y') || { tasks: {} }).rows, 0);
  const workflow = { metadata: { name: 'w', annotations: { 'pipelines.kubeflow.org/run_name': 'mine' } }, spec, status: { phase: 'Error', message: 'why', nodes: {
    w: { id: 'w', name: 'w', type: 'DAG', phase: 'Error' }, x: { id: 'x', name: 'w.b.one', displayName: 'one', type: 'Pod', phase: 'Succeeded', outputs: { parameters: [{ name: 'p', value: '3' }] } }, y: { id: 'y', name: 'other.b', type: 'Pod', phase: 'Failed' } } } };
  const run = runOfWorkflow(workflow);
  assert.deepEqual([run.spec.displayName, run.status.state, run.status.error, run.spec.runtimeConfig.parameters], ['mine', 'FAILED', 'why', { rate: '1', words: '' }]);
  const tasks = tasksOfWorkflow(workflow);
  assert.deepEqual([...tasks.keys()], ['root', 'root.b.one']);
  assert.deepEqual([tasks.get('root.b.one').status.podName, tasks.get('root.b.one').status.outputs.parameters], ['x', { p: '3' }]);
});
