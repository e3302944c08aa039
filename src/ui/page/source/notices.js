// What a reader of collections has to be told: a lost connection, a list that may not be seen. Pure.
import { t } from './words.js';

// "pods", "jobs.batch": the name that kubectl has for the list at `path`.
export function listName(path) {
  const parts = path.split('/').slice(1);
  const group = parts[0] === 'apis' ? parts[1] : '';
  const rest = parts.slice(group ? 3 : 2);
  const plural = rest[0] === 'namespaces' && rest.length > 2 ? rest[2] : rest[0];
  return group ? `${plural}.${group}` : plural;
}

// Sentences, one for all lists that are refused: a refusal of each would hide the page. `scope`: the chosen namespace.
export function noticesOf(collections, scope) {
  const broken = collections.filter((one) => one.state === 'broken');
  const denied = [...new Map(collections.filter((one) => one.state === 'denied').map((one) => [one.path, one])).values()];
  const told = [];
  if (broken.length > 0) told.push({ key: 'broken', text: `${t('The connection is lost; trying again.')} ${broken.at(-1).error?.message || ''}` });
  if (denied.length > 0) {
    const why = denied.length === 1 ? denied[0].error?.message || '' : t('These lists are refused: {names}.', { names: denied.map((one) => listName(one.path)).join(', ') });
    told.push({ key: 'denied', text: [t('You may not see this.'), scope ? '' : t('Choose a namespace above.'), why].filter(Boolean).join(' ') });
  }
  return told;
}
