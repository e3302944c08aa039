// The namespace that lists are about: one, or all of them (empty). A user with rights in one namespace chooses it.
const kScope = 'volcano-namespace';
let scope = '';
try {
  scope = localStorage.getItem(kScope) || '';
} catch {
  // a browser without storage begins with all namespaces
}
export const currentScope = () => scope;
export function setScope(namespace) {
  scope = namespace.trim();
  try {
    localStorage.setItem(kScope, scope);
  } catch {
    // and forgets the choice
  }
}
// The path of a namespaced kind's list in that scope.
export const scoped = (base, plural) => `${base}/${scope ? `namespaces/${encodeURIComponent(scope)}/` : ''}${plural}`;
