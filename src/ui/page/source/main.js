// The frame: session, address bar, navigation, language and theme. Further tabs are rows of kPages.
import { html, render } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { currentSession, loadSession, onSignedOut, request } from './api.js';
import { plain } from './format.js';
import { Job } from './job.js';
import { Jobs } from './jobs.js';
import { Machines } from './machines.js';
import { EventList, ObjectPage, Objects } from './objects.js';
import { Overview } from './overview.js';
import { Queues } from './queues.js';
import { currentScope, setScope } from './scope.js';
import { currentLanguage, setLanguage, t } from './words.js';

// A page: its first path segment, its title in the navigation (none: reached by links), and what draws it.
const kPages = [
  { id: '', title: 'Overview', draw: () => html`<${Overview} />` },
  { id: 'jobs', title: 'Jobs', draw: (place) => html`<${Jobs} ...${place} />` },
  { id: 'job', of: 'jobs', draw: (place) => html`<${Job} key=${place.rest.join('/')} group=${place.rest[0]} plural=${place.rest[1]} ns=${place.rest[2]} name=${place.rest[3]} ...${place} />` },
  { id: 'queues', title: 'Queues', draw: (place) => html`<${Queues} key=${place.rest[0]} name=${place.rest[0]} ...${place} />` },
  { id: 'machines', title: 'Machines', draw: (place) => html`<${Machines} key=${place.rest[0]} name=${place.rest[0]} ...${place} />` },
  { id: 'notebooks', title: 'Notebooks', draw: (place) => html`<${Later} page=${place.rest.length >= 2 ? 'Notebook' : 'Notebooks'} key=${place.rest.join('/')} ns=${place.rest[0]} name=${place.rest[1]} ...${place} />` },
  { id: 'pipelines', title: 'Pipelines', draw: (place) => html`<${Later} page=${{ run: 'PipelineRun', version: 'PipelineVersion' }[place.rest[0]] || 'Pipelines'} key=${place.rest.join('/')} ns=${place.rest[1]} name=${place.rest[2]} ...${place} />` },
  { id: 'tensorboards', title: 'TensorBoards', draw: (place) => html`<${Later} page="Tensorboards" key="tensorboards" ...${place} />` },
  { id: 'volumes', title: 'Volumes', draw: (place) => html`<${Later} page="Volumes" key="volumes" ...${place} />` },
  { id: 'people', title: 'People', draw: (place) => html`<${Later} page="People" key="people" ...${place} />` },
  { id: 'submit', title: 'Submit', draw: () => html`<${Later} page="Submit" key="submit" />` },
  { id: 'events', title: 'Events', draw: () => html`<${EventList} />` },
  { id: 'objects', title: 'Objects', draw: (place) => (place.rest.length >= 4 ? html`<${ObjectPage} key=${place.rest.join('/')} group=${place.rest[0]} plural=${place.rest[1]} ns=${place.rest[2]} name=${place.rest[3]} ...${place} />` : html`<${Objects} group=${place.rest[0]} plural=${place.rest[1]} ...${place} />`) },
];

// A page whose code is loaded when it is opened.
function Later({ page, ...place }) {
  const [pages, setPages] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => void import('./later.js').then(setPages, setError), []);
  if (error) return html`<p class="notice" role="alert">${plain(error.message)}</p>`;
  return pages ? html`<${pages[page]} ...${place} />` : html`<p class="empty">${t('Loading…')}</p>`;
}

function read(hash) {
  const [path, query = ''] = hash.replace(/^#/, '').split('?');
  const parts = path.split('/').slice(1).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { id: parts[0] || '', rest: parts.slice(1), query: Object.fromEntries(new URLSearchParams(query)) };
}

function usePlace() {
  const [place, setPlace] = useState(read(location.hash));
  useEffect(() => {
    const changed = () => setPlace(read(location.hash));
    window.addEventListener('hashchange', changed);
    return () => window.removeEventListener('hashchange', changed);
  }, []);
  const go = (to) => (location.hash = to);
  const setQuery = (values) => {
    const next = new URLSearchParams(Object.entries({ ...read(location.hash).query, ...values }).filter(([, value]) => value));
    const path = location.hash.replace(/^#/, '').split('?')[0] || '/';
    history.replaceState(null, '', `#${path}${next.size ? `?${next}` : ''}`);
    setPlace(read(location.hash));
  };
  return { ...place, go, setQuery };
}

const kTheme = 'volcano-theme';
function setTheme(theme) {
  try {
    localStorage.setItem(kTheme, theme);
  } catch {
    // a browser without storage forgets the choice
  }
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}
const storedTheme = () => {
  try {
    return localStorage.getItem(kTheme) || '';
  } catch {
    return '';
  }
};

const kLinkCommand = 'volcano ui link';
const SignedOut = () => html`<main class="signed-out"><h1>volcano</h1><p>${t('Your session has ended.')}</p><p>${t('Run this for a new link:')} <code>${kLinkCommand}</code></p></main>`;

function App() {
  const place = usePlace();
  const [session, setSession] = useState(currentSession());
  const [, redraw] = useState(0);
  useEffect(() => onSignedOut(() => setSession(null)), []);
  const page = kPages.find((one) => one.id === place.id) || kPages[0];
  const title = t(page.title || kPages.find((one) => one.id === page.of).title);
  useEffect(() => {
    document.title = `${[title, ...place.rest.slice(-1)].join(' · ')} – volcano`;
  });
  useEffect(() => {
    document.getElementById('content')?.focus({ preventScroll: true });
  }, [place.id, place.rest.join('/')]);
  if (!session) return html`<${SignedOut} />`;
  const signOut = async () => {
    await request('logout', { method: 'POST' }).catch(() => {});
    setSession(null);
  };
  return html`<a class="skip" href="#content" onClick=${(event) => (event.preventDefault(), document.getElementById('content').focus())}>${t('Skip to content')}</a>
    <header class="top"><h1><a href="#/">volcano</a></h1>
      <nav aria-label=${t('Navigation')}><ul>${kPages.filter((one) => one.title).map((one) => html`<li key=${one.id}><a href=${`#/${one.id}`} aria-current=${(page.of || page.id) === one.id ? 'page' : undefined}>${t(one.title)}</a></li>`)}</ul></nav>
      <div class="who"><label>${t('Namespace')} <input size="12" value=${currentScope()} placeholder=${t('all')} onChange=${(event) => (setScope(event.currentTarget.value), redraw((count) => count + 1))} /></label>
        <label>${t('Language')} <select value=${currentLanguage()} onChange=${(event) => (setLanguage(event.currentTarget.value), redraw((count) => count + 1))}><option value="en">English</option><option value="zh">中文</option></select></label>
        <label>${t('Theme')} <select value=${storedTheme()} onChange=${(event) => (setTheme(event.currentTarget.value), redraw((count) => count + 1))}><option value="">${t('system')}</option><option value="light">${t('light')}</option><option value="dark">${t('dark')}</option></select></label>
        <span class="soft">${t('Signed in as')} ${plain(session.user)}</span> <button type="button" onClick=${signOut}>${t('Sign out')}</button></div>
    </header>
    <main id="content" tabindex="-1"><h1 class="hidden">${title}</h1>${page.draw(place)}</main>`;
}

setTheme(storedTheme());
setLanguage(currentLanguage());
loadSession()
  .catch(() => null)
  .then(() => render(html`<${App} />`, document.getElementById('page')));
