// Notebooks, TensorBoards, volumes and people: pages that main.js loads when one of them is opened.
import { html } from 'htm/preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { json, request } from './api.js';
import { natural, plain } from './format.js';
import { useCollection } from './live.js';
import { Logs } from './logs.js';
import { checkName, claimOf, formDefaults, gpusOf, groupsByKey, kNotebooks, kStopped, kTensorboards, linkOf, notebookOf, podOf, profileOf, standing, tensorboardOf, usersOf, viewerLink, viewerOf } from './notebooks_model.js';
import './notebooks_words.js';
import { FormDialog, Sure, ageColumn, byName, listPath, nameColumns, objectPath, post, reasonColumn, remove, stateColumn } from './later_parts.js';
import { EventList } from './objects.js';
import { Link, Notices, State, Table, emptyText, where } from './parts.js';
import { currentScope, scoped } from './scope.js';
import { t } from './words.js';
import { yaml } from './yaml.js';

const kForms = '/api/v1/namespaces/kubeflow/configmaps/jupyter-web-app-config';

// Objects of a kind with their pods and how they stand.
function useStandings(kind) {
  const list = useCollection(listPath(kind));
  const pods = useCollection(scoped('/api/v1', 'pods'), { query: { labelSelector: kind.label } });
  const groups = useCollection(scoped('/apis/scheduling.volcano.sh/v1beta1', 'podgroups'));
  const rows = useMemo(() => {
    const all = [...pods.rows.values()], known = groupsByKey([...groups.rows.values()]);
    return [...list.rows.values()].sort(byName).map((object) => ({ object, key: object.metadata.uid || `${object.metadata.namespace}/${object.metadata.name}`, name: object.metadata.name, ...standing(kind, object, all, known) }));
  }, [list.version, pods.version, groups.version]);
  return { list, pods, rows };
}

async function needClaim(claim) {
  try {
    await post(`/api/v1/namespaces/${encodeURIComponent(claim.metadata.namespace)}/persistentvolumeclaims`, claim);
  } catch (error) {
    if (error.status !== 409) throw error; // it is there already
  }
}
const setStopped = (object, stopped) => request(objectPath(kNotebooks, object), { method: 'PATCH', type: 'application/merge-patch+json', body: { metadata: { annotations: { [kStopped]: stopped ? new Date().toISOString().replace(/\.\d+/, '') : null } } } });

function CreateNotebook({ onClose }) {
  const [forms, setForms] = useState(null);
  const [configurations, setConfigurations] = useState([]);
  const ns = currentScope() || 'default';
  useEffect(() => {
    json(kForms).then((map) => setForms(formDefaults(map.data?.['spawner_ui_config.yaml'])), () => setForms(formDefaults('')));
    json(`/apis/kubeflow.org/v1alpha1/namespaces/${encodeURIComponent(ns)}/poddefaults`).then((list) => setConfigurations(list.items || []), () => {});
  }, []);
  if (!forms) return html`<p class="empty">${t('Loading…')}</p>`;
  const first = { name: '', ns, image: forms.image, other: '', cpu: forms.cpu, memory: forms.memory, gpus: '', workspace: forms.workspace, volumes: '', queue: '', idle: '', env: '', labels: {} };
  const send = async (form) => {
    const { notebook, claims } = notebookOf({ ...form, image: form.other.trim() || form.image }, forms.gpu);
    const path = `${kNotebooks.base}/namespaces/${encodeURIComponent(form.ns)}/notebooks`;
    await post(path, notebook, true); // one that is refused leaves no volumes behind
    for (const claim of claims) await needClaim(claim);
    await post(path, notebook);
  };
  const fields = [
    { key: 'name', title: t('Name') }, { key: 'ns', title: t('Namespace') },
    ...(forms.images.length ? [{ key: 'image', title: t('Image'), options: forms.images.map((image) => [image, image]) }] : []),
    { key: 'other', title: forms.images.length ? t('another image') : t('Image'), hint: 'jupyterlab:4' },
    { key: 'cpu', title: t('CPU') }, { key: 'memory', title: t('Memory') }, { key: 'gpus', title: t('GPUs'), hint: '0' },
    { key: 'workspace', title: t('Workspace'), hint: t('size of the home folder’s volume; empty: none') },
    { key: 'volumes', title: `${t('Volumes')} (${t('made if it is not there')})`, rows: 2, hint: 'CLAIM:/PATH:SIZE' },
    { key: 'queue', title: t('Queue'), hint: 'default' }, { key: 'idle', title: t('Stop when idle for'), hint: '2h' },
    { key: 'env', title: t('Environment'), rows: 2, hint: 'NAME=VALUE' },
  ];
  return html`<${FormDialog} title=${t('Create notebook')} fields=${fields} first=${first} send=${send} onClose=${onClose}>${(form, setForm) => configurations.length > 0 && html`<fieldset><legend>${t('Configurations')}</legend>${configurations.map((one) => {
    const wanted = one.spec?.selector?.matchLabels || {};
    const on = Object.entries(wanted).every(([key, value]) => form.labels[key] === value);
    const toggle = () => {
      const labels = { ...form.labels };
      for (const [key, value] of Object.entries(wanted)) if (on) delete labels[key]; else labels[key] = value;
      setForm({ ...form, labels });
    };
    return html`<label key=${one.metadata.name}><input type="checkbox" checked=${on} onChange=${toggle} /> ${plain(one.spec?.desc || one.metadata.name)}</label>`;
  })}</fieldset>`}<//>`;
}

function NotebookActions({ row, setSure, setError }) {
  const { object } = row;
  const stopped = row.word === 'Stopped';
  const set = (value) => setStopped(object, value).catch((problem) => setError(problem.message));
  return html`<span class="actions">
    <a href=${linkOf(kNotebooks, object)} target="_blank" rel="noopener">${t('Open it')}<span class="hidden"> ${plain(object.metadata.name)}</span></a>
    <button type="button" onClick=${() => set(!stopped)}>${stopped ? t('Start') : t('Stop')}<span class="hidden"> ${plain(object.metadata.name)}</span></button>
    <button type="button" class="danger" onClick=${() => setSure(object)}>${t('Delete')}<span class="hidden"> ${plain(object.metadata.name)}</span></button></span>`;
}


export function Notebooks({ go }) {
  const { list, pods, rows } = useStandings(kNotebooks);
  const [creating, setCreating] = useState(false);
  const [sure, setSure] = useState(null);
  const [error, setError] = useState('');
  const place = ({ object }) => where('notebooks', object.metadata.namespace, object.metadata.name);
  const columns = [
    ...nameColumns(),
    { id: 'name', title: t('Name'), width: 'minmax(8rem,1.5fr)', cell: (row) => html`<${Link} to=${place(row)} tabindex="-1">${plain(row.name)}<//>` },
    stateColumn(),
    { id: 'image', title: t('Image'), width: 'minmax(8rem,2fr)', minor: true, cell: ({ object }) => plain(object.spec?.template?.spec?.containers?.[0]?.image) },
    { id: 'gpus', title: t('GPUs'), width: '4rem', minor: true, cell: ({ object }) => String(gpusOf(object) || '') },
    ageColumn(), reasonColumn(),
    { id: 'act', title: t('Actions'), width: '16rem', cell: (row) => html`<${NotebookActions} row=${row} setSure=${setSure} setError=${setError} />` },
  ];
  return html`<${Notices} of=${[list, pods]} />${error && html`<p class="notice" role="alert">${plain(error)}</p>`}
    <div class="tools"><button type="button" class="primary" onClick=${() => setCreating(true)}>${t('Create notebook')}</button></div>
    <${Table} label=${t('Notebooks')} columns=${columns} rows=${rows} onOpen=${(row) => go(place(row))} empty=${emptyText(list, t('No notebook yet: create one here, or by the command volcano notebook create NAME.'))} />
    ${creating && html`<${CreateNotebook} onClose=${() => setCreating(false)} />`}
    ${sure && html`<${Sure} title=${`${t('Delete')}: ${sure.metadata.name}`} text=${t('Its volumes stay.')} act=${() => remove(objectPath(kNotebooks, sure))} onClose=${() => setSure(null)} />`}`;
}

export function Notebook({ ns, name, go }) {
  const { list, pods, rows } = useStandings(kNotebooks);
  const [sure, setSure] = useState(null);
  const [error, setError] = useState('');
  const row = rows.find(({ object }) => object.metadata.namespace === ns && object.metadata.name === name);
  if (!row) return html`<${Notices} of=${[list]} /><p class="empty">${emptyText(list, t('No notebook is there.'))}</p>`;
  const { pod } = podOf(kNotebooks, row.object, [...pods.rows.values()]);
  return html`<${Notices} of=${[list, pods]} />${error && html`<p class="notice" role="alert">${plain(error)}</p>`}
    <header class="subject"><h2>${plain(name)} <span class="soft">${plain(ns)}</span></h2><${State} state=${row.state} word=${t(row.word)} /><${NotebookActions} row=${row} setSure=${setSure} setError=${setError} /></header>
    ${row.reason && html`<p role="status">${plain(row.reason)}</p>`}
    <h3>${t('Logs')}</h3>${pod ? html`<${Logs} ns=${ns} pods=${[pod]} />` : html`<p class="empty">${t('No pod is there.')}</p>`}
    <h3>${t('Events')}</h3><${EventList} ns=${ns} names=${[name, `${name}-0`]} />
    <h3>${t('YAML')}</h3><pre class="code" tabindex="0">${plain(yaml(row.object))}</pre>
    ${sure && html`<${Sure} title=${`${t('Delete')}: ${name}`} text=${t('Its volumes stay.')} act=${() => remove(objectPath(kNotebooks, sure)).then(() => go('/notebooks'))} onClose=${() => setSure(null)} />`}`;
}

export function Tensorboards() {
  const { list, pods, rows } = useStandings(kTensorboards);
  const claims = useCollection(scoped('/api/v1', 'persistentvolumeclaims'));
  const [creating, setCreating] = useState(false);
  const [sure, setSure] = useState(null);
  const ns = currentScope() || 'default';
  const own = [...claims.rows.values()].filter((claim) => claim.metadata.namespace === ns).map((claim) => claim.metadata.name).sort(natural);
  const fields = [
    { key: 'name', title: t('Name') }, { key: 'ns', title: t('Namespace') },
    { key: 'claim', title: t('Volume'), options: [['', t('none')], ...own.map((name) => [name, name])] },
    { key: 'path', title: t('Path in the volume, or s3:// or gs://'), hint: 'runs' },
  ];
  const columns = [
    ...nameColumns(),
    { id: 'name', title: t('Name'), width: 'minmax(8rem,1.5fr)', cell: (row) => plain(row.name) },
    stateColumn(),
    { id: 'logs', title: t('Logs of a run'), width: 'minmax(8rem,2fr)', cell: ({ object }) => plain(object.spec?.logspath) },
    ageColumn(), reasonColumn(),
    { id: 'act', title: t('Actions'), width: '12rem', cell: ({ object }) => html`<span class="actions"><a href=${linkOf(kTensorboards, object)} target="_blank" rel="noopener">${t('Open it')}<span class="hidden"> ${plain(object.metadata.name)}</span></a> <button type="button" class="danger" onClick=${() => setSure(object)}>${t('Delete')}<span class="hidden"> ${plain(object.metadata.name)}</span></button></span>` },
  ];
  const send = (form) => {
    const made = tensorboardOf(form);
    return post(`${kTensorboards.base}/namespaces/${encodeURIComponent(form.ns)}/tensorboards`, made);
  };
  return html`<${Notices} of=${[list, pods]} />
    <div class="tools"><button type="button" class="primary" onClick=${() => setCreating(true)}>${t('Create TensorBoard')}</button></div>
    <${Table} label=${t('TensorBoards')} columns=${columns} rows=${rows} empty=${emptyText(list, t('No TensorBoard yet: create one for the logs of a run.'))} />
    ${creating && html`<${FormDialog} title=${t('Create TensorBoard')} fields=${fields} first=${{ name: '', ns, claim: own[0] || '', path: '' }} send=${async (form) => send(form)} onClose=${() => setCreating(false)} />`}
    ${sure && html`<${Sure} title=${`${t('Delete')}: ${sure.metadata.name}`} text=${t('Its volumes stay.')} act=${() => remove(objectPath(kTensorboards, sure))} onClose=${() => setSure(null)} />`}`;
}

export function Volumes() {
  const list = useCollection(scoped('/api/v1', 'persistentvolumeclaims'));
  const pods = useCollection(scoped('/api/v1', 'pods'));
  const viewers = useCollection(scoped('/apis/kubeflow.org/v1alpha1', 'pvcviewers'));
  const classes = useCollection('/apis/storage.k8s.io/v1/storageclasses');
  const [creating, setCreating] = useState(false);
  const [sure, setSure] = useState(null);
  const users = usersOf([...pods.rows.values()]);
  const [error, setError] = useState('');
  const viewerPath = (claim) => `/apis/kubeflow.org/v1alpha1/namespaces/${encodeURIComponent(claim.metadata.namespace)}/pvcviewers`;
  const look = (claim) => post(viewerPath(claim), viewerOf(claim.metadata.namespace, claim.metadata.name)).catch((problem) => setError(problem.message));
  const unlook = (claim) => remove(`${viewerPath(claim)}/${encodeURIComponent(claim.metadata.name)}`).catch((problem) => setError(problem.message));
  const actions = (claim) => {
    const { namespace, name } = claim.metadata;
    const viewed = viewers.rows.get(`${namespace}/${name}`);
    const of = html`<span class="hidden"> ${plain(name)}</span>`;
    return html`<span class="actions">${viewers.state === 'live' && (viewed ? html`<a href=${viewerLink(namespace, name)} target="_blank" rel="noopener">${t('Open it')}${of}</a><button type="button" onClick=${() => unlook(claim)}>${t('Close the viewer')}${of}</button>` : html`<button type="button" onClick=${() => look(claim)}>${t('Look inside')}${of}</button>`)}
      <button type="button" class="danger" onClick=${() => setSure(claim)}>${t('Delete')}${of}</button></span>`;
  };
  const usersFor = (claim) => users.get(`${claim.metadata.namespace}/${claim.metadata.name}`) || [];
  const rows = [...list.rows.values()].sort(byName).map((object) => ({ object, key: object.metadata.uid, name: object.metadata.name, state: object.status?.phase === 'Bound' ? 'running' : object.status?.phase === 'Lost' ? 'failed' : 'waiting', word: object.status?.phase || 'Pending' }));
  const ns = currentScope() || 'default';
  const columns = [
    ...nameColumns(),
    { id: 'name', title: t('Name'), width: 'minmax(8rem,1.5fr)', cell: ({ object }) => html`<${Link} to=${where('objects', 'v1', 'persistentvolumeclaims', object.metadata.namespace, object.metadata.name)} tabindex="-1">${plain(object.metadata.name)}<//>` },
    stateColumn(),
    { id: 'size', title: t('Size'), width: '5rem', cell: ({ object }) => plain(object.status?.capacity?.storage || object.spec?.resources?.requests?.storage) },
    { id: 'class', title: t('Class'), width: 'minmax(5rem,1fr)', minor: true, cell: ({ object }) => plain(object.spec?.storageClassName) },
    { id: 'users', title: t('Used by'), width: 'minmax(8rem,2fr)', cell: ({ object }) => plain(usersFor(object).join(', ')) },
    ageColumn(),
    { id: 'act', title: t('Actions'), width: '15rem', cell: ({ object }) => actions(object) },
  ];
  const fields = [{ key: 'name', title: t('Name') }, { key: 'ns', title: t('Namespace') }, { key: 'size', title: t('Size'), hint: '10Gi' }, { key: 'class', title: t('Class'), options: [['', t('none')], ...[...classes.rows.values()].map((one) => [one.metadata.name, one.metadata.name])] }];
  const send = async (form) => {
    checkName(form.name, 63);
    await post(`/api/v1/namespaces/${encodeURIComponent(form.ns)}/persistentvolumeclaims`, claimOf(form.ns, form.name, form.size, form.class));
  };
  const doomed = sure && usersFor(sure);
  return html`<${Notices} of=${[list]} />${error && html`<p class="notice" role="alert">${plain(error)}</p>`}
    <div class="tools"><button type="button" class="primary" onClick=${() => setCreating(true)}>${t('Create volume')}</button></div>
    <${Table} label=${t('Volumes')} columns=${columns} rows=${rows} empty=${emptyText(list, t('No volume yet: create one, and choose it in the forms of notebooks.'))} />
    ${creating && html`<${FormDialog} title=${t('Create volume')} fields=${fields} first=${{ name: '', ns, size: '10Gi', class: '' }} send=${send} onClose=${() => setCreating(false)} />`}
    ${sure && html`<${Sure} title=${`${t('Delete')}: ${sure.metadata.name}`} text=${`${t('What is in it is lost.')} ${doomed.length ? `${t('Pods use it:')} ${plain(doomed.join(', '))}` : ''}`} act=${() => remove(`/api/v1/namespaces/${encodeURIComponent(sure.metadata.namespace)}/persistentvolumeclaims/${encodeURIComponent(sure.metadata.name)}`)} onClose=${() => setSure(null)} />`}`;
}

export function People() {
  const list = useCollection('/apis/kubeflow.org/v1/profiles');
  const quotas = useCollection(scoped('/api/v1', 'resourcequotas'));
  const bindings = useCollection(scoped('/apis/rbac.authorization.k8s.io/v1', 'rolebindings'));
  const [creating, setCreating] = useState(false);
  const [sure, setSure] = useState(null);
  const rows = [...list.rows.values()].sort(byName).map((object) => {
    const failed = (object.status?.conditions || []).find((one) => one.type === 'Failed');
    return { object, key: object.metadata.uid, name: object.metadata.name, state: failed ? 'failed' : 'running', word: failed ? 'Failed' : 'Ready', reason: failed?.message || '' };
  });
  const quotaOf = (name) => {
    const { status } = quotas.rows.get(`${name}/kf-resource-quota`) || {};
    return Object.entries(status?.hard || {}).map(([key, hard]) => `${key} ${status.used?.[key] || 0}/${hard}`).join(', ');
  };
  const rightsIn = (name) => [...bindings.rows.values()].filter((one) => one.metadata.namespace === name).sort(byName).flatMap((one) => (one.subjects || []).map((subject) => `${subject.name}: ${one.roleRef.name.replace(/^kubeflow-/, '')}`)).join(', ');
  const columns = [
    { id: 'name', title: t('Name'), width: 'minmax(8rem,1.5fr)', cell: (row) => plain(row.name) },
    { id: 'owner', title: t('Owner'), width: 'minmax(8rem,1.5fr)', cell: ({ object }) => plain(object.spec?.owner?.name) },
    stateColumn(),
    { id: 'quota', title: `${t('Quota')} (${t('Used')})`, width: 'minmax(8rem,2fr)', cell: ({ name }) => html`<span title=${plain(quotaOf(name))}>${plain(quotaOf(name))}</span>` },
    { id: 'rights', title: t('Who may what'), width: 'minmax(8rem,3fr)', minor: true, cell: ({ name }) => html`<span title=${plain(rightsIn(name))}>${plain(rightsIn(name))}</span>` },
    reasonColumn(),
    { id: 'act', title: t('Actions'), width: '7rem', cell: ({ object }) => html`<button type="button" class="danger" onClick=${() => setSure(object)}>${t('Delete')}<span class="hidden"> ${plain(object.metadata.name)}</span></button>` },
  ];
  const fields = [{ key: 'name', title: t('Name') }, { key: 'owner', title: t('Owner'), hint: 'ann' }, { key: 'quota', title: t('Quota'), hint: 'cpu=8, memory=32Gi' }];
  return html`<${Notices} of=${[list]} />
    <div class="tools"><button type="button" class="primary" onClick=${() => setCreating(true)}>${t('Create profile')}</button></div>
    <${Table} label=${t('People')} columns=${columns} rows=${rows} empty=${emptyText(list, t('No profile yet: create one for each person or team.'))} />
    ${creating && html`<${FormDialog} title=${t('Create profile')} fields=${fields} first=${{ name: '', owner: '', quota: '' }} send=${async (form) => post('/apis/kubeflow.org/v1/profiles', profileOf(form))} onClose=${() => setCreating(false)} />`}
    ${sure && html`<${Sure} title=${`${t('Delete')}: ${sure.metadata.name}`} text=${t('Its namespace goes with everything in it.')} act=${() => remove(`/apis/kubeflow.org/v1/profiles/${encodeURIComponent(sure.metadata.name)}`)} onClose=${() => setSure(null)} />`}`;
}
