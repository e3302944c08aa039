// The pure parts of the pages of notebooks: states, forms, volumes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formDefaults, gpusOf, kNotebooks, linkOf, notebookOf, profileOf, standing, tensorboardOf, usersOf, viewerLink, viewerOf } from '../source/notebooks_model.js';

const notebook = (more = {}) => ({ metadata: { name: 'one', namespace: 'ann', ...more }, spec: { template: { spec: { containers: [{ name: 'one', image: 'i', resources: { limits: { 'nvidia.com/gpu': '2', memory: '1Gi' } } }] } } } });
const pod = (spec, status, more = {}) => ({ metadata: { name: 'one-0', namespace: 'ann', labels: { 'notebook-name': 'one' }, ...more }, spec, status });
const form = { name: 'one', ns: 'ann', image: 'jupyterlab:4', cpu: '1', memory: '2Gi', gpus: '', workspace: '5Gi', volumes: '', queue: '', idle: '', env: '' };

test('a notebook stands as its pod does', () => {
  const word = (object, pods, groups) => {
    const { word: said, reason } = standing(kNotebooks, object, pods, groups);
    return reason ? `${said}: ${reason}` : said;
  };
  assert.equal(word(notebook(), []), 'Waiting: its controller has made no pod yet');
  assert.equal(word(notebook(), [pod({ nodeName: 'n' }, { conditions: [{ type: 'Ready', status: 'True' }] })]), 'Ready');
  assert.equal(word(notebook(), [pod({ nodeName: 'n' }, { containerStatuses: [{ state: { waiting: { reason: 'ErrImagePull', message: 'none' } } }] })]), 'Waiting: ErrImagePull: none');
  assert.equal(word(notebook(), [pod({}, { conditions: [{ type: 'PodScheduled', status: 'False', message: 'no room' }] })]), 'Waiting: no room');
  const groups = new Map([['ann/g', { status: { conditions: [{ type: 'Unschedulable', status: 'True', message: 'queue is full' }] } }]]);
  assert.equal(word(notebook(), [pod({}, {}, { annotations: { 'scheduling.k8s.io/group-name': 'g' } })], groups), 'Waiting: queue is full');
  const stopped = notebook({ annotations: { 'kubeflow-resource-stopped': '' } });
  assert.equal(word(stopped, []), 'Stopped');
  assert.equal(word(stopped, [pod({ nodeName: 'n' }, {})]), 'Stopping');
  assert.equal(word(notebook(), [{ ...pod({ nodeName: 'n' }, { conditions: [{ type: 'Ready', status: 'True' }] }), metadata: { name: 'x', namespace: 'bob', labels: { 'notebook-name': 'one' } } }]), 'Waiting: its controller has made no pod yet');
  assert.equal(gpusOf(notebook()), 2);
  assert.equal(linkOf(kNotebooks, notebook()), '/notebook/ann/one/');
});

test('a form becomes a notebook and its volumes', () => {
  const { notebook: made, claims } = notebookOf({ ...form, gpus: '1', volumes: 'data:/data\nmore:/more:20Gi', queue: 'q', idle: '2h', env: 'A=b=c', labels: { tool: 'yes' } });
  assert.deepEqual(claims.map((claim) => [claim.metadata.name, claim.spec.resources.requests.storage]), [['one-workspace', '5Gi'], ['data', '5Gi'], ['more', '20Gi']]);
  const [container] = made.spec.template.spec.containers;
  assert.deepEqual(container.resources, { requests: { cpu: '1', memory: '2Gi' }, limits: { memory: '2Gi', 'nvidia.com/gpu': '1' } });
  assert.deepEqual(container.env, [{ name: 'A', value: 'b=c' }]);
  assert.deepEqual(container.volumeMounts.map((one) => one.mountPath), ['/home/jovyan', '/data', '/more', '/dev/shm']);
  assert.deepEqual(made.metadata.labels, { app: 'one', tool: 'yes' });
  assert.equal(made.metadata.annotations['scheduling.volcano.sh/queue-name'], 'q');
  for (const [field, value] of [['name', 'One'], ['name', '1a'], ['name', 'a'.repeat(53)], ['image', ''], ['cpu', 'many'], ['memory', '-1'], ['gpus', '1.5'], ['volumes', 'data'], ['volumes', 'a:/x\nb:/x'], ['workspace', 'big'], ['idle', 'soon'], ['env', 'x']])
    assert.throws(() => notebookOf({ ...form, [field]: value }), undefined, `${field} ${value}`);
});

test('the choices of forms are those of spawner_ui_config.yaml', () => {
  const text = 'spawnerFormDefaults:\n  image:\n    # the first\n    value: jupyterlab:4\n    options:\n    - jupyterlab:4\n    - registry:5000/torch:2\n  cpu:\n    value: "0.5"\n  memory:\n    value: 1.0Gi\n  gpus:\n    value:\n      vendors:\n      - limitsKey: "amd.com/gpu"\n        uiName: AMD\n  workspaceVolume:\n    value:\n      mount: /home/jovyan\n      newPvc:\n        spec:\n          resources:\n            requests:\n              storage: 7Gi\n';
  assert.deepEqual(formDefaults(text), { image: 'jupyterlab:4', images: ['jupyterlab:4', 'registry:5000/torch:2'], cpu: '0.5', memory: '1.0Gi', gpu: 'amd.com/gpu', workspace: '7Gi' });
  assert.deepEqual(formDefaults('').images, []);
});

test('TensorBoards, profiles, and who uses a volume', () => {
  assert.equal(tensorboardOf({ name: 'a', ns: 'n', claim: 'c', path: '/runs/1/' }).spec.logspath, 'pvc://c/runs/1');
  assert.equal(tensorboardOf({ name: 'a', ns: 'n', claim: 'c', path: '' }).spec.logspath, 'pvc://c');
  assert.equal(tensorboardOf({ name: 'a', ns: 'n', claim: '', path: 's3://b/x' }).spec.logspath, 's3://b/x');
  assert.throws(() => tensorboardOf({ name: 'a', ns: 'n', claim: '', path: 'runs' }));
  assert.throws(() => tensorboardOf({ name: 'a', ns: 'n', claim: 'c', path: '../x' }));
  assert.deepEqual(profileOf({ name: 'ann', owner: 'ann', quota: 'cpu=8' }).spec.resourceQuotaSpec, { hard: { cpu: '8' } });
  assert.throws(() => profileOf({ name: 'ann', owner: '', quota: '' }));
  assert.throws(() => profileOf({ name: 'ann', owner: 'a', quota: 'cpu' }));
  assert.equal(viewerLink('ann', 'c'), '/pvcviewers/ann/c/');
  assert.equal(viewerOf('ann', 'c').spec.networking.rewrite, '/pvcviewers/ann/c/');
  const uses = (phase) => ({ metadata: { name: `p-${phase}`, namespace: 'ann' }, spec: { volumes: [{ persistentVolumeClaim: { claimName: 'c' } }] }, status: { phase } });
  assert.deepEqual(usersOf([uses('Running'), uses('Failed')]).get('ann/c'), ['p-Running']);
});
