// Collections that follow the server: a list in pages, then a watch that is taken up again from where it was. A
// collection that no page looks at is not watched.
import { useEffect, useState } from 'preact/hooks';
import { ApiError, json, kTable, lines, withQuery } from './api.js';

const kPage = 500;
const kLinger = 3000; // ms for which a collection is kept after its last reader, so that a change of pages is cheap

// When the status was written last: for a job that has ended, its end.
const statusTime = (metadata) => Math.max(0, ...(metadata.managedFields || []).map((one) => (one.subresource === 'status' ? Date.parse(one.time) : 0)));

// An object or a table row, without the parts that pages never show.
function rowOf(item, columns) {
  if (!columns) {
    if (item.metadata) delete item.metadata.managedFields;
    return item;
  }
  const metadata = item.object?.metadata || {};
  metadata.statusAt = statusTime(metadata);
  delete metadata.managedFields;
  const cells = {};
  columns.forEach((name, at) => (cells[name] = item.cells[at]));
  return { metadata, cells };
}

const keyOf = (metadata) => `${metadata.namespace || ''}/${metadata.name}`;

class Collection {
  constructor(path, options) {
    this.path = path;
    this.table = options.table;
    this.query = options.query || {};
    this.rows = new Map();
    this.state = 'loading'; // loading, live, broken, denied, absent
    this.error = null;
    this.version = 0;
    this.readers = new Set();
    this.columns = null;
    this.resume = '';
  }

  join(reader) {
    this.readers.add(reader);
    clearTimeout(this.lingering);
    if (!this.abort) this.run();
  }

  leave(reader) {
    this.readers.delete(reader);
    if (this.readers.size === 0)
      this.lingering = setTimeout(() => {
        this.abort?.abort();
        this.abort = null;
      }, kLinger);
  }

  tell() {
    this.version++;
    if (this.told) return;
    this.told = setTimeout(() => {
      this.told = null;
      for (const reader of this.readers) reader(this.version);
    }, 50);
  }

  set(state, error = null) {
    this.state = state;
    this.error = error;
    this.tell();
  }

  async run() {
    const abort = (this.abort = new AbortController());
    let pause = 500;
    while (!abort.signal.aborted) {
      try {
        if (!this.resume) await this.list(abort.signal);
        this.set('live');
        pause = 500;
        await this.watch(abort.signal);
      } catch (error) {
        if (abort.signal.aborted || error.name === 'AbortError') return;
        if (error.status === 403) this.set('denied', error);
        else if (error.status === 404) this.set('absent', error);
        else if (error.status === 410) this.resume = '';
        else this.set('broken', error);
        if (error.status === 401) return;
        await new Promise((done) => setTimeout(done, pause));
        pause = Math.min(pause * 2, error.status === 403 || error.status === 404 ? 60000 : 10000);
      }
    }
  }

  take(list, into) {
    if (list.kind === 'Table') {
      if (list.columnDefinitions?.length) this.columns = list.columnDefinitions.map((column) => column.name);
      for (const row of list.rows || []) into.set(keyOf(row.object.metadata), rowOf(row, this.columns));
    } else {
      for (const item of list.items || []) into.set(keyOf(item.metadata), rowOf(item));
    }
  }

  async list(signal) {
    const fresh = new Map();
    let next = '';
    do {
      const path = withQuery(this.path, { ...this.query, limit: kPage, continue: next });
      const list = await json(path, { signal, accept: this.table ? kTable : 'application/json' });
      this.take(list, fresh);
      next = list.metadata?.continue || '';
      this.resume = list.metadata?.resourceVersion || '';
      if (next && this.rows.size === 0) this.show(fresh); // the first page is shown while others come
    } while (next);
    this.rows = fresh;
  }

  show(rows) {
    this.rows = new Map(rows);
    this.tell();
  }

  async watch(signal) {
    const path = withQuery(this.path, {
      ...this.query,
      watch: 1,
      allowWatchBookmarks: true,
      resourceVersion: this.resume,
      timeoutSeconds: 300 + Math.floor(Math.random() * 300),
    });
    for await (const line of lines(path, { signal, accept: this.table ? kTable : 'application/json' })) this.event(JSON.parse(line));
  }

  event({ type, object }) {
    if (type === 'ERROR') {
      throw new ApiError(object.code || 500, object.message || 'The watch ended.');
    }
    let item = object;
    let row;
    if (object.kind === 'Table') {
      if (object.columnDefinitions?.length) this.columns = object.columnDefinitions.map((column) => column.name);
      item = object.rows?.[0]?.object || object;
      row = object.rows?.[0] && rowOf(object.rows[0], this.columns);
    } else {
      row = rowOf(object);
    }
    this.resume = item.metadata?.resourceVersion || this.resume;
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') this.rows.delete(keyOf(item.metadata));
    else if (row) this.rows.set(keyOf(item.metadata), row);
    this.tell();
  }
}

const collections = new Map();

export function collection(path, options = {}) {
  const key = `${options.table ? 'table ' : ''}${withQuery(path, options.query || {})}`;
  let found = collections.get(key);
  if (!found) collections.set(key, (found = new Collection(path, options)));
  return found;
}

// The collections as of now; the page is drawn anew when one changes. `wanted`: [{path, table, query}].
export function useCollections(wanted) {
  const [, redraw] = useState(0);
  const keys = JSON.stringify(wanted);
  useEffect(() => {
    const joined = wanted.map((one) => collection(one.path, one));
    const reader = () => redraw((count) => count + 1);
    for (const one of joined) one.join(reader);
    reader();
    return () => joined.forEach((one) => one.leave(reader));
  }, [keys]);
  return wanted.map((one) => collection(one.path, one));
}

export const useCollection = (path, options = {}) => useCollections([{ path, ...options }])[0];

// A value that is asked for again every `period` ms while the page is shown.
export function usePolled(path, period = 5000, options = {}) {
  const [state, set] = useState({ value: null, error: null });
  useEffect(() => {
    if (!path) return;
    const abort = new AbortController();
    let timer;
    const ask = async () => {
      try {
        if (document.visibilityState !== 'hidden') {
          const value = await json(path, { signal: abort.signal, ...options });
          set({ value, error: null });
        }
      } catch (error) {
        if (abort.signal.aborted) return;
        set((old) => ({ ...old, error }));
        if (error.status === 403 || error.status === 404 || error.status === 401) return;
      }
      timer = setTimeout(ask, period);
    };
    ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, period]);
  return state;
}
