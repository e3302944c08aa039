// Notices about collections, in Node's own runner: npm test.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kJobKinds } from '../source/jobs_model.js';
import { listName, noticesOf } from '../source/notices.js';

const list = (path, state, message) => ({ path, state, error: message && { message } });

test('lists have the names of kubectl', () => {
  for (const [path, name] of [
    ['/api/v1/pods', 'pods'],
    ['/api/v1/namespaces', 'namespaces'],
    ['/api/v1/namespaces/team/pods', 'pods'],
    ['/apis/batch/v1/jobs', 'jobs.batch'],
    ['/apis/batch.volcano.sh/v1alpha1/namespaces/team/jobs', 'jobs.batch.volcano.sh'],
  ]) assert.equal(listName(path), name);
});

test('a refused list is told with the words of the server', () => {
  const told = noticesOf([list('/api/v1/nodes', 'denied', 'nodes is forbidden: User "ned" cannot list resource "nodes"'), list('/api/v1/pods', 'live')], '');
  assert.deepEqual(told.map((one) => one.text), ['You may not see this. Choose a namespace above. nodes is forbidden: User "ned" cannot list resource "nodes"']);
});

test('refused training kinds share one notice that names them', () => {
  const kinds = kJobKinds.filter((kind) => kind.training).map((kind) => list(`/apis/${kind.group}/namespaces/team/${kind.plural}`, 'denied', `${kind.plural}.kubeflow.org is forbidden`));
  assert.deepEqual(noticesOf([...kinds, kinds[0]], 'team').map((one) => one.text), [
    'You may not see this. These lists are refused: pytorchjobs.kubeflow.org, tfjobs.kubeflow.org, mpijobs.kubeflow.org, xgboostjobs.kubeflow.org, paddlejobs.kubeflow.org, jaxjobs.kubeflow.org.',
  ]);
});

test('a lost connection is told once, beside what is refused', () => {
  const told = noticesOf([list('/api/v1/pods', 'broken', 'no answer'), list('/api/v1/nodes', 'broken', 'no answer'), list('/apis/batch/v1/jobs', 'denied', 'forbidden'), list('/api/v1/events', 'absent', 'not found')], 'team');
  assert.deepEqual(told.map((one) => one.text), ['The connection is lost; trying again. no answer', 'You may not see this. forbidden']);
});
