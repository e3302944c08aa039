// The page's pure parts, in Node's own runner: npm test.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { age, amount, logLine, natural, plain, quantity } from '../source/format.js';
import { actionOn, grouped, jobRows, matches, sorted, stateOf } from '../source/jobs_model.js';
import { putBefore, ring, sample } from '../source/usage_ring.js';
import { yaml } from '../source/yaml.js';

test('quantities', () => {
  for (const [text, value] of [['1500m', 1.5], ['2', 2], ['4Gi', 4 * 2 ** 30], ['1e3', 1000], ['100k', 100000], [undefined, 0]]) assert.equal(quantity(text), value);
  for (const text of ['', '4 Gi', 'x', '1Q', '--1']) assert.ok(Number.isNaN(quantity(text)), text);
  assert.equal(amount('memory', 1.5 * 2 ** 30), '1.5 GiB');
  assert.equal(amount('cpu', 2.25), '2.3');
});

test('ages, as kubectl shows them', () => {
  for (const [seconds, text] of [[45, '45s'], [180, '3m'], [7200, '2h'], [200000, '2d'], [-5, '0s']]) assert.equal(age(0, seconds * 1000), text);
  assert.equal(age(NaN, 0), '');
});

test('natural order', () => assert.deepEqual(['lr-10', 'lr-2', 'lr-1'].sort(natural), ['lr-1', 'lr-2', 'lr-10']));

test('marks that turn the direction of writing and control characters are shown', () => {
  assert.equal(plain('a\u202eb\u0000c'), 'a\\u202eb\\u0000c');
  assert.equal(plain('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>'); // the page writes text, never markup
  assert.equal(logLine('\u001b[31mred\u001b[0m\r'), 'red');
});

const row = (name, cells, metadata = {}) => ({ metadata: { name, namespace: 'team', uid: `u-${name}`, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata }, cells });
const vcjob = { group: 'batch.volcano.sh/v1alpha1', plural: 'jobs', kind: 'Job', volcano: true };

test('jobs join their groups, and groups without a job stand for themselves', () => {
  const jobs = [row('a', { STATUS: 'Pending', QUEUE: 'q', REASON: 'old' }), row('b', { STATUS: 'Running', QUEUE: 'q', RUNNINGS: 1, minAvailable: 2 })];
  const groups = [row('a-1', { STATUS: 'Pending', RUNNINGS: 0, minMember: 4, QUEUE: 'q' }, { ownerReferences: [{ uid: 'u-a', controller: true }] }), row('lone', { STATUS: 'Inqueue', minMember: 1, QUEUE: 'r' })];
  const rows = jobRows([{ kind: vcjob, items: jobs }], groups, { 'team/a-1': { message: 'cpu is short' } });
  assert.deepEqual(rows.map((one) => [one.name, one.state, one.ready, one.queue, one.reason]), [['a', 'waiting', '0/4', 'q', 'cpu is short'], ['b', 'running', '1/2', 'q', ''], ['lone', 'waiting', '0/1', 'r', '']]);
});

test('filters', () => {
  const [one] = jobRows([{ kind: vcjob, items: [row('train', { STATUS: 'Pending', QUEUE: 'gpu' }, { labels: { app: 'x' } })] }], [], null);
  for (const filter of ['', 'queue:gpu', 'state:waiting', 'state:pending', 'kind:vcjob', 'ns:team tra', 'label:app=x', 'label:app', 'TRAIN']) assert.ok(matches(one, filter), filter);
  for (const filter of ['queue:g', 'state:running', 'label:app=y', 'label:b', 'nothing']) assert.ok(!matches(one, filter), filter);
});

test('order and groups', () => {
  const rows = jobRows([{ kind: vcjob, items: ['b-10', 'b-2', 'a'].map((name) => row(name, { STATUS: 'Running', QUEUE: name[0] })) }], [], null);
  assert.deepEqual(sorted(rows, 'name').map((one) => one.name), ['a', 'b-2', 'b-10']);
  assert.deepEqual(sorted(rows, '-name').map((one) => one.name), ['b-10', 'b-2', 'a']);
  assert.deepEqual(grouped(sorted(rows, 'name'), 'queue').map((one) => one.heading ?? one.name), ['a', 'a', 'b', 'b-2', 'b-10']);
});

test('states of all kinds', () => {
  for (const [word, state] of [['Inqueue', 'waiting'], ['Aborted', 'suspended'], ['Succeeded', 'completed'], ['Terminated', 'failed'], ['Restarting', 'running'], ['Novel', 'running']]) assert.equal(stateOf(word), state);
});

test('actions are the requests that the tools make', () => {
  const one = { kind: vcjob, ns: 'team', name: 'a', uid: 'u' };
  assert.equal(actionOn(one, 'suspend').body.action, 'AbortJob');
  assert.equal(actionOn(one, 'resume').body.target.uid, 'u');
  assert.deepEqual(actionOn({ ...one, kind: { group: 'batch/v1', plural: 'jobs', kind: 'Job' } }, 'suspend').body, { spec: { suspend: true } });
  assert.equal(actionOn({ ...one, kind: { group: 'g/v1', plural: 'podgroups', plain: true } }, 'suspend'), null);
  assert.match(actionOn(one, 'cancel').path, /propagationPolicy=Background$/);
});

test('YAML is read back as it was', () => {
  const text = yaml({ a: 'yes', b: [1, { c: 'x: y', d: [] }], e: 'two\nlines\n', f: null, 'g h': '', i: '-1', j: {}, k: 'plain words' });
  assert.equal(text, 'a: "yes"\nb:\n- 1\n- c: "x: y"\n  d: []\ne: |\n  two\n  lines\nf: null\ng h: ""\ni: "-1"\nj: {}\nk: plain words');
});

test('the use since the start stands before the samples of the page', () => {
  sample(100, 1, 10, 4);
  sample(102, 9, 90, 9); // too early
  sample(105, 2, 20, 8);
  putBefore([[80, 0.5, 5], [90, 0.75, 7, 3], [98, 8, 8, 8], [110, 9, 9, 9]]);
  assert.deepEqual({ ...ring }, { times: [80, 90, 100, 105], cpu: [0.5, 0.75, 1, 2], memory: [5, 7, 10, 20], gpus: [0, 3, 4, 8], sinceStart: true });
});

test('jobs that ended today', () => {
  const state = (phase, statusAt) => jobRows([{ kind: vcjob, items: [row('a', { STATUS: phase }, { statusAt })] }], [], null)[0];
  assert.ok(matches(state('Completed', Date.now()), 'ended:today') && matches(state('Failed', Date.now()), 'ended:today'));
  for (const other of [state('Running', Date.now()), state('Completed', Date.now() - 86400000), state('Completed', 0)]) assert.ok(!matches(other, 'ended:today'));
});
