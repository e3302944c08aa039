// The pure part of the page on which jobs are submitted: a form's objects, a text's documents and lines, the scheduler's
// answer.
import { plain, quantity } from './format.js';
import { kJobKinds } from './jobs_model.js';

export const isJob = (object) => object.kind === 'Job' && object.apiVersion.startsWith('batch.volcano.sh');

// Whether the scheduler can be asked about an object before it is there; groups and claims come with the pods that use them.
const kAsked = [...kJobKinds.map(({ group, kind }) => `${group} ${kind}`), 'v1 Pod'];
const kAskedWith = ['scheduling.volcano.sh/v1beta1 PodGroup', 'v1 PersistentVolumeClaim'];
export function rehearsed(objects) {
  const among = (kinds) => ({ apiVersion, kind }) => kinds.includes(`${apiVersion} ${kind}`);
  return objects.some(among(kAsked)) ? objects.filter(among([...kAsked, ...kAskedWith])) : [];
}

// The objects that the form's fields become: new claims, and the job. An Error says which field is wrong.
export function objectsOf(form) {
  const wrong = (field, why) => new Error(`${field}: ${why}`);
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(form.name)) throw wrong('name', 'lower-case letters, digits and hyphens, 63 at most');
  const count = Number(form.count || 1);
  if (!Number.isInteger(count) || count < 1) throw wrong('count', 'a whole number above 0');
  const amounts = {};
  for (const [key, name] of [['cpu', 'cpu'], ['memory', 'memory'], ['gpus', 'nvidia.com/gpu']]) {
    if (!form[key]) continue;
    if (!(quantity(form[key]) > 0)) throw wrong(key, `"${form[key]}" is not an amount such as 2, 500m or 4Gi`);
    amounts[name] = form[key];
  }
  const env = (form.env || '').split('\n').filter((line) => line.trim()).map((line) => {
    const at = line.indexOf('=');
    if (at <= 0) throw wrong('environment', `"${line}" is not NAME=VALUE`);
    return { name: line.slice(0, at).trim(), value: line.slice(at + 1) };
  });
  const mounts = (form.volumes || '').split('\n').filter((line) => line.trim()).map((line) => {
    const [claim, path, size] = line.trim().split(':');
    if (!claim || !path?.startsWith('/')) throw wrong('volumes', `"${line}" is not CLAIM:/PATH or CLAIM:/PATH:SIZE`);
    if (size !== undefined && !(quantity(size) > 0)) throw wrong('volumes', `"${size}" is not a size such as 5Gi`);
    return { claim, path, size };
  });
  const container = { name: 'main', image: form.image };
  if (form.command) container.command = ['sh', '-c', form.command];
  if (Object.keys(amounts).length) container.resources = { requests: amounts, limits: amounts['nvidia.com/gpu'] ? { 'nvidia.com/gpu': amounts['nvidia.com/gpu'] } : undefined };
  if (env.length) container.env = env;
  if (mounts.length) container.volumeMounts = mounts.map(({ path }, at) => ({ name: `volume-${at}`, mountPath: path }));
  const seconds = form.time ? spanOf(form.time) : undefined;
  if (form.time && !seconds) throw wrong('time', `"${form.time}" is not a time such as 30m or 2h`);
  const ns = form.ns || 'default';
  const claims = mounts.filter(({ size }) => size).map(({ claim, size }) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: claim, namespace: ns },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
  }));
  const job = {
    apiVersion: 'batch.volcano.sh/v1alpha1',
    kind: 'Job',
    metadata: { name: form.name, namespace: ns },
    spec: {
      minAvailable: count,
      queue: form.queue || undefined,
      tasks: [{ name: 'main', replicas: count, template: { spec: { restartPolicy: 'Never', activeDeadlineSeconds: seconds, containers: [container], volumes: mounts.length ? mounts.map(({ claim }, at) => ({ name: `volume-${at}`, persistentVolumeClaim: { claimName: claim } })) : undefined } } }],
      policies: [{ event: 'TaskCompleted', action: 'CompleteJob' }],
    },
  };
  return [...claims, job];
}

export function spanOf(text) {
  const match = /^(\d+)([smhd]?)$/.exec(text.trim());
  return match ? Number(match[1]) * { '': 60, s: 1, m: 60, h: 3600, d: 86400 }[match[2]] : 0;
}

// The line (from 0) of a field path such as spec.tasks[0].template in block YAML; -1 where it is not found.
export function lineOf(text, path) {
  const steps = path.replace(/\[(\d+)\]/g, '.[$1]').split('.').filter(Boolean);
  const lines = text.split('\n');
  let at = 0, indent = -1, best = -1;
  for (const step of steps) {
    const index = /^\[(\d+)\]$/.exec(step);
    let found = -1, seen = -1, level = null;
    for (let i = at; i < lines.length; i++) {
      const line = lines[i];
      if (!line.trim() || line.trim().startsWith('#')) continue;
      const depth = line.length - line.trimStart().length;
      const item = line.trimStart().startsWith('- ');
      if (depth < indent || (depth === indent && !item && i > at)) break;
      if (index) {
        if (item && (level === null || depth === level)) {
          level = depth;
          if (++seen === Number(index[1])) {
            found = i;
            break;
          }
        }
      } else {
        const body = item ? line.trimStart().slice(2) : line.trimStart();
        const real = item ? depth + 2 : depth;
        if (level === null) level = real;
        if (real === level && (body === `${step}:` || body.startsWith(`${step}: `))) {
          found = i;
          break;
        }
      }
    }
    if (found < 0) return best;
    best = found;
    const depth = lines[found].length - lines[found].trimStart().length;
    if (index) {
      at = found;
      indent = depth;
    } else {
      at = found + 1;
      indent = lines[found].trimStart().startsWith('- ') ? depth + 2 : depth;
      const next = lines.slice(at).find((line) => line.trim());
      if (next && next.length - next.trimStart().length === indent && next.trimStart().startsWith('- ')) indent -= 1;
    }
  }
  return best;
}

// The documents of a YAML text, each with the line on which it begins.
export function documents(text) {
  const out = [];
  let begin = 0;
  const lines = text.split('\n');
  lines.push('---');
  lines.forEach((line, at) => {
    if (!/^---(\s|$)/.test(line)) return;
    const part = lines.slice(begin, at).join('\n');
    if (part.split('\n').some((each) => each.trim() && !each.trim().startsWith('#'))) out.push({ text: part, line: begin });
    begin = at + 1;
  });
  return out;
}

// The scheduler's answer to a rehearsal as sentences with their values.
export function forecastOf({ pods, starting, nodes, evictions, reason }) {
  const out = [];
  if (starting > 0) out.push(['The scheduler would start {starting} of {pods} pods now, on {nodes} nodes.', { starting, pods, nodes }]);
  if (evictions > 0) out.push(['The scheduler would evict {evictions} pods of others for them.', { evictions }]);
  if (reason) out.push(['The scheduler would let the job wait: {message}', { message: plain(reason.message) }]);
  return out;
}
