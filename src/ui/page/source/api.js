// Requests to the API server with the session of this page: errors are sentences, lists come in pages, watches in lines.

export class ApiError extends Error {
  constructor(status, message, causes = []) {
    super(message);
    this.status = status;
    this.causes = causes; // [{field, message}]
  }
}

let session = null; // {user, groups, proof, until}; the proof goes with whatever changes something

export const currentSession = () => session;

export async function loadSession() {
  const response = await fetch('session', { cache: 'no-store' });
  session = response.ok ? await response.json() : null;
  return session;
}

async function errorOf(response) {
  const text = await response.text().catch(() => '');
  try {
    const status = JSON.parse(text);
    return new ApiError(response.status, status.message || response.statusText, status.details?.causes || []);
  } catch {
    return new ApiError(response.status, text.slice(0, 300) || response.statusText || `status ${response.status}`);
  }
}

const listeners = new Set();
export function onSignedOut(listener) {
  listeners.add(listener);
}

export async function request(path, { method = 'GET', body, signal, accept = 'application/json', type } = {}) {
  const headers = { Accept: accept };
  if (method !== 'GET') headers['X-Volcano-Proof'] = session?.proof || '';
  if (body !== undefined) headers['Content-Type'] = type || 'application/json';
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      signal,
      cache: 'no-store',
      body: body === undefined ? undefined : typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The server cannot be reached.');
  }
  if (response.status === 401) for (const listener of listeners) listener();
  if (!response.ok) throw await errorOf(response);
  return response;
}

export const json = async (path, options) => (await request(path, options)).json();

export const kTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export const withQuery = (path, pairs) => {
  const query = Object.entries(pairs)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&');
  return query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path;
};

async function* bytesOf(response) {
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Over plain HTTP a browser opens six connections to a server; WebSockets are not among them.
async function* bytesOfSocket(path, accept, signal) {
  const socket = new WebSocket(withQuery(`${location.origin.replace(/^http/, 'ws')}/ui/stream`, { path, accept }));
  socket.binaryType = 'arraybuffer';
  const queue = [];
  let wake = null, ended = false, broken = true;
  const put = (item) => (queue.push(item), wake?.());
  socket.onmessage = ({ data }) => put(new Uint8Array(data));
  socket.onclose = (event) => ((ended = true), (broken = event.code !== 1000 && event.code !== 1005), wake?.());
  const stop = () => socket.close();
  signal?.addEventListener('abort', stop);
  try {
    let status = 0;
    for (;;) {
      while (queue.length) {
        let piece = queue.shift();
        if (!status) {
          const end = piece.indexOf(10);
          status = JSON.parse(new TextDecoder().decode(piece.subarray(0, end))).status;
          piece = piece.subarray(end + 1);
        }
        if (status >= 400) {
          while (!ended && !queue.length) await new Promise((done) => (wake = done));
          const rest = [piece, ...queue].map((part) => new TextDecoder().decode(part)).join('');
          if (status === 401) for (const listener of listeners) listener();
          throw await errorOf(new Response(rest, { status }));
        }
        if (piece.length) yield piece;
      }
      if (ended) break;
      await new Promise((done) => (wake = done));
    }
    if (broken && !signal?.aborted) throw new ApiError(0, 'The server cannot be reached.');
  } finally {
    signal?.removeEventListener('abort', stop);
    socket.close();
  }
}

// The lines of a GET that goes on, as they come.
export async function* lines(path, { accept = 'application/json', signal } = {}) {
  const decoder = new TextDecoder();
  const pieces = location.protocol === 'http:' ? bytesOfSocket(path, accept, signal) : bytesOf(await request(path, { accept, signal }));
  let rest = '';
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    let from = 0;
    for (let end; (end = rest.indexOf('\n', from)) >= 0; from = end + 1) yield rest.slice(from, end);
    rest = rest.slice(from);
  }
  if (rest) yield rest;
}
