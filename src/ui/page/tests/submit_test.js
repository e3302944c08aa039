// The form of a job: the objects that its fields become, the fields that are wrong, and the scheduler's words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documents, forecastOf, lineOf, objectsOf, rehearsed } from '../source/submit_model.js';

const kForm = { name: 'a', image: 'i', count: '2' };

test('fields become a job, and claims that have a size', () => {
  const [only] = objectsOf(kForm);
  assert.deepEqual([only.kind, only.metadata.namespace, only.spec.minAvailable, only.spec.tasks[0].replicas], ['Job', 'default', 2, 2]);
  const [claim, job] = objectsOf({ ...kForm, ns: 'team', volumes: 'old:/old\nnew:/new:5Gi' });
  assert.deepEqual([claim.kind, claim.metadata, claim.spec.resources.requests.storage], ['PersistentVolumeClaim', { name: 'new', namespace: 'team' }, '5Gi']);
  const { volumes, containers } = job.spec.tasks[0].template.spec;
  assert.deepEqual(volumes.map((one) => one.persistentVolumeClaim.claimName), ['old', 'new']);
  assert.deepEqual(containers[0].volumeMounts.map((one) => one.mountPath), ['/old', '/new']);
});

test('a field that is wrong is named', () => {
  const rows = [
    [{ name: 'A' }, /^name: /],
    [{ count: '0' }, /^count: /],
    [{ cpu: 'many' }, /^cpu: "many"/],
    [{ env: 'HOME' }, /^environment: "HOME"/],
    [{ volumes: 'data' }, /^volumes: "data"/],
    [{ volumes: 'data:/data:big' }, /^volumes: "big"/],
    [{ time: 'soon' }, /^time: "soon"/],
  ];
  for (const [fields, message] of rows) assert.throws(() => objectsOf({ ...kForm, ...fields }), { message });
});

test('the line of a field is found in a text of several documents', () => {
  const text = 'kind: A\n---\nkind: B\nspec:\n  tasks:\n  - name: a\n    image: x\n  - name: b\n    image: y\n';
  const [, second] = documents(text);
  assert.equal(second.line, 2);
  assert.equal(second.line + lineOf(second.text, 'spec.tasks[1].image'), 8);
  assert.equal(lineOf(second.text, 'spec.tasks[7].image'), 2);
});

test('the scheduler is asked about workloads of all its kinds, with their groups and claims', () => {
  const of = (apiVersion, kind) => ({ apiVersion, kind });
  const claim = of('v1', 'PersistentVolumeClaim'), group = of('scheduling.volcano.sh/v1beta1', 'PodGroup'), secret = of('v1', 'Secret');
  for (const one of [of('batch.volcano.sh/v1alpha1', 'Job'), of('batch/v1', 'Job'), of('kubeflow.org/v1', 'PyTorchJob'), of('v1', 'Pod')]) assert.deepEqual(rehearsed([secret, group, one, claim]), [group, one, claim]);
  assert.deepEqual(rehearsed([claim, group, secret, of('apps/v1', 'Deployment')]), []);
});

test('the answer of the scheduler becomes sentences', () => {
  const said = (answer) => forecastOf({ pods: 4, starting: 0, nodes: 0, evictions: 0, reason: null, ...answer });
  assert.deepEqual(said({ starting: 4, nodes: 2 }), [['The scheduler would start {starting} of {pods} pods now, on {nodes} nodes.', { starting: 4, pods: 4, nodes: 2 }]]);
  assert.deepEqual(said({ starting: 1, nodes: 1, evictions: 3 })[1][1], { evictions: 3 });
  assert.deepEqual(said({ reason: { message: 'no node has 5 cpu' } }), [['The scheduler would let the job wait: {message}', { message: 'no node has 5 cpu' }]]);
});
