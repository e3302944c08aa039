// What notebooks, TensorBoards and volumes are, from objects of the API; and the objects that forms become. Pure.
import { natural, quantity } from './format.js';

export const kNotebooks = { base: '/apis/kubeflow.org/v1', plural: 'notebooks', word: 'notebook', label: 'notebook-name' };
export const kTensorboards = { base: '/apis/tensorboard.kubeflow.org/v1alpha1', plural: 'tensorboards', word: 'tensorboard', label: 'app' };
export const kStopped = 'kubeflow-resource-stopped';
const kGroup = 'scheduling.k8s.io/group-name';

const condition = (object, type) => (object.status?.conditions || []).find((one) => one.type === type);
const keyOf = (object) => `${object.metadata.namespace}/${object.metadata.name}`;

export const linkOf = (kind, object) => `/${kind.word}/${encodeURIComponent(object.metadata.namespace)}/${encodeURIComponent(object.metadata.name)}/`;

// The newest pod of an object that is not being deleted.
export function podOf(kind, object, pods) {
  const own = pods.filter((pod) => pod.metadata.namespace === object.metadata.namespace && pod.metadata.labels?.[kind.label] === object.metadata.name);
  const alive = own.filter((pod) => !pod.metadata.deletionTimestamp).sort((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1));
  return { pod: alive[0], any: own[0] };
}

function containerTrouble(pod) {
  for (const status of [...(pod.status?.initContainerStatuses || []), ...(pod.status?.containerStatuses || [])]) {
    const { reason, message } = status.state?.waiting || {};
    if (!reason || reason === 'PodInitializing' || (reason === 'ContainerCreating' && !message)) continue;
    return { state: reason === 'CrashLoopBackOff' ? 'failed' : 'waiting', reason: `${reason}${message ? `: ${message}` : ''}` };
  }
  return null;
}

// {state, word, reason} of a notebook or a TensorBoard: the words are keys of words.js.
export function standing(kind, object, pods, groups = new Map()) {
  const { pod, any } = podOf(kind, object, pods);
  if (object.metadata.deletionTimestamp) return { state: 'suspended', word: 'Stopping', reason: '' };
  if (object.metadata.annotations?.[kStopped] !== undefined) return any ? { state: 'suspended', word: 'Stopping', reason: '' } : { state: 'suspended', word: 'Stopped', reason: '' };
  if (!pod) return { state: 'waiting', word: 'Waiting', reason: any ? 'its last pod is still ending' : 'its controller has made no pod yet' };
  if (condition(pod, 'Ready')?.status === 'True') return { state: 'running', word: 'Ready', reason: '' };
  if (['Failed', 'Succeeded'].includes(pod.status?.phase)) return { state: 'failed', word: 'Failed', reason: pod.status.message || `its pod has ended: ${pod.status.phase}` };
  if (!pod.spec?.nodeName) {
    const group = groups.get(`${pod.metadata.namespace}/${pod.metadata.annotations?.[kGroup]}`);
    const told = group && condition(group, 'Unschedulable');
    return { state: 'waiting', word: 'Waiting', reason: (told?.status === 'True' && told.message) || condition(pod, 'PodScheduled')?.message || 'the scheduler has not said anything about it yet' };
  }
  const trouble = containerTrouble(pod);
  if (trouble) return { ...trouble, word: trouble.state === 'failed' ? 'Failed' : 'Waiting' };
  return { state: 'waiting', word: 'Starting', reason: '' };
}

export function gpusOf(notebook) {
  let sum = 0;
  for (const container of notebook.spec?.template?.spec?.containers || [])
    for (const [name, value] of Object.entries(container.resources?.limits || {})) if (name.includes('gpu')) sum += quantity(value) || 0;
  return sum;
}

// The choices of Kubeflow's spawner_ui_config.yaml, as far as the form asks for them; the YAML is read by its few lines.
export function formDefaults(text) {
  const out = { image: '', images: [], cpu: '500m', memory: '1Gi', gpu: 'nvidia.com/gpu', workspace: '5Gi' };
  if (!text) return out;
  let section = '', list = '';
  for (const line of text.split('\n')) {
    const depth = line.length - line.trimStart().length, body = line.trim().replace(/\s+#.*$/, '');
    if (!body || body.startsWith('#')) continue;
    if (depth === 2 && /^\w+:/.test(body)) (section = body.slice(0, body.indexOf(':'))), (list = '');
    const value = /^value:\s*["']?([^"']+)["']?$/.exec(body)?.[1];
    if (value && depth === 4 && section === 'image') out.image = value;
    if (value && depth === 4 && (section === 'cpu' || section === 'memory')) out[section] = value;
    if (/^options:/.test(body)) list = section;
    const item = /^- ["']?([^"':]+(?::[^"'\s]+)?)["']?$/.exec(body)?.[1];
    if (item && list === 'image') out.images.push(item);
    const vendor = /^-?\s*limitsKey:\s*["']?([^"']+)["']?$/.exec(body)?.[1];
    if (vendor && section === 'gpus') out.gpu = vendor;
    const size = /^storage:\s*["']?([^"']+)["']?$/.exec(body)?.[1];
    if (size && section === 'workspaceVolume') out.workspace = size;
  }
  if (out.image && !out.images.includes(out.image)) out.images.unshift(out.image);
  return out;
}

const wrong = (field, why) => new Error(`${field}: ${why}`);
export function checkName(name, most = 52) {
  if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) || name.length > most) throw wrong('name', `lower-case letters, digits and hyphens, a letter first, ${most} at most`);
}
function checkAmount(field, text) {
  if (!(quantity(text) > 0)) throw wrong(field, `"${text}" is not an amount such as 2, 500m or 4Gi`);
}

export const claimOf = (ns, name, size, storageClass) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: ns },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: storageClass || undefined, resources: { requests: { storage: size } } },
});

// {notebook, claims}: the notebook of a form, and the volumes that it has. An Error says which field is wrong.
export function notebookOf(form, gpu = 'nvidia.com/gpu') {
  checkName(form.name);
  if (!form.image) throw wrong('image', 'a name of an image');
  checkAmount('cpu', form.cpu);
  checkAmount('memory', form.memory);
  if (form.gpus && !/^\d+$/.test(form.gpus)) throw wrong('gpus', `"${form.gpus}" is not a whole number`);
  if (form.idle && !/^\d+[mh]$/.test(form.idle)) throw wrong('idle', `"${form.idle}" is not a time such as 30m or 2h`);
  const lines = (text) => (text || '').split('\n').map((line) => line.trim()).filter(Boolean);
  const claims = [], mounts = [];
  const take = (claim, path, size) => {
    if (mounts.some((one) => one.mountPath === path)) throw wrong('volumes', `two volumes at ${path}`);
    mounts.push({ name: `volume-${mounts.length + 1}`, mountPath: path, claim });
    claims.push(claimOf(form.ns, claim, size));
  };
  if (form.workspace) {
    checkAmount('workspace', form.workspace);
    take(`${form.name}-workspace`, '/home/jovyan', form.workspace);
  }
  for (const line of lines(form.volumes)) {
    const match = /^([a-z0-9][-a-z0-9.]*):(\/[^\s:]+?)\/?(?::(\S+))?$/.exec(line);
    if (!match) throw wrong('volumes', `"${line}" is not CLAIM:/PATH or CLAIM:/PATH:SIZE`);
    if (match[3]) checkAmount('volumes', match[3]);
    take(match[1], match[2], match[3] || '5Gi');
  }
  const env = lines(form.env).map((line) => {
    const at = line.indexOf('=');
    if (at <= 0) throw wrong('environment', `"${line}" is not NAME=VALUE`);
    return { name: line.slice(0, at), value: line.slice(at + 1) };
  });
  const limits = { memory: form.memory };
  if (Number(form.gpus)) limits[gpu] = form.gpus;
  const annotations = { 'notebooks.kubeflow.org/server-type': 'jupyter' };
  if (form.queue) annotations['scheduling.volcano.sh/queue-name'] = form.queue;
  if (form.idle) annotations['notebooks.volcano.sh/idle-after'] = form.idle;
  const notebook = {
    apiVersion: 'kubeflow.org/v1',
    kind: 'Notebook',
    metadata: { name: form.name, namespace: form.ns, labels: { app: form.name, ...(form.labels || {}) }, annotations },
    spec: {
      template: {
        spec: {
          schedulerName: 'volcano',
          containers: [{ name: form.name, image: form.image, env: env.length ? env : undefined, readinessProbe: { tcpSocket: { port: 8888 }, periodSeconds: 1 }, resources: { requests: { cpu: form.cpu, memory: form.memory }, limits }, volumeMounts: [...mounts.map(({ name, mountPath }) => ({ name, mountPath })), { name: 'shared-memory', mountPath: '/dev/shm' }] }],
          volumes: [...mounts.map(({ name, claim }) => ({ name, persistentVolumeClaim: { claimName: claim } })), { name: 'shared-memory', emptyDir: { medium: 'Memory' } }],
        },
      },
    },
  };
  return { notebook, claims };
}

export function tensorboardOf(form) {
  checkName(form.name);
  if (!form.claim && !/^(s3|gs):\/\/./.test(form.path)) throw wrong('logs', 'a volume, or an address of s3:// or gs://');
  if (form.path.split('/').includes('..')) throw wrong('path', 'a path that does not lead back');
  const path = form.path.replace(/^\/+|\/+$/g, '');
  return {
    apiVersion: 'tensorboard.kubeflow.org/v1alpha1',
    kind: 'Tensorboard',
    metadata: { name: form.name, namespace: form.ns },
    spec: { logspath: form.claim ? `pvc://${form.claim}${path ? `/${path}` : ''}` : form.path },
  };
}

// The pods that use each claim of a list: "ns/claim" -> names.
export function usersOf(pods) {
  const users = new Map();
  for (const pod of pods) {
    if (['Succeeded', 'Failed'].includes(pod.status?.phase)) continue;
    for (const volume of pod.spec?.volumes || []) {
      const claim = volume.persistentVolumeClaim?.claimName;
      if (!claim) continue;
      const key = `${pod.metadata.namespace}/${claim}`;
      users.set(key, [...(users.get(key) || []), pod.metadata.name].sort(natural));
    }
  }
  return users;
}

export const viewerLink = (ns, name) => `/pvcviewers/${encodeURIComponent(ns)}/${encodeURIComponent(name)}/`;
// The viewer of a claim, as Kubeflow's page of volumes makes it.
export const viewerOf = (ns, claim) => ({
  apiVersion: 'kubeflow.org/v1alpha1',
  kind: 'PVCViewer',
  metadata: { name: claim, namespace: ns },
  spec: { pvc: claim, rwoScheduling: true, networking: { targetPort: 8080, basePrefix: '/pvcviewers', rewrite: viewerLink(ns, claim), timeout: '30s' } },
});

export const groupsByKey = (groups) => new Map(groups.map((group) => [keyOf(group), group]));

export function profileOf(form) {
  checkName(form.name, 63);
  if (!form.owner) throw wrong('owner', 'a user');
  const hard = {};
  for (const word of (form.quota || '').split(',').map((one) => one.trim()).filter(Boolean)) {
    const at = word.indexOf('=');
    if (at <= 0 || Number.isNaN(quantity(word.slice(at + 1)))) throw wrong('quota', `"${word}" is not NAME=AMOUNT, such as cpu=8 or requests.nvidia.com/gpu=2`);
    hard[word.slice(0, at)] = word.slice(at + 1);
  }
  return {
    apiVersion: 'kubeflow.org/v1',
    kind: 'Profile',
    metadata: { name: form.name },
    spec: { owner: { kind: 'User', name: form.owner, apiGroup: 'rbac.authorization.k8s.io' }, resourceQuotaSpec: Object.keys(hard).length ? { hard } : undefined },
  };
}
