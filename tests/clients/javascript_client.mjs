// The JavaScript client as it is, unchanged, against the cluster of $KUBECONFIG: a command in a pod, and one of its ports.
import http from 'node:http';
import net from 'node:net';
import { Writable } from 'node:stream';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const packages = createRequire(process.env.CLIENTS + '/package.json');
const k8s = await import(pathToFileURL(packages.resolve('@kubernetes/client-node')).href);

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const namespace = 'default';
const name = 'javascript';

function check(what, ok, more) {
  console.log(ok ? `ok clients: JavaScript: ${what}` : `FAIL clients: JavaScript: ${what}: ${JSON.stringify(more)}`);
}

async function until(seconds, task) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    const answer = await task().catch(() => null);
    if (answer) return answer;
    await new Promise((again) => setTimeout(again, 300));
  }
  return null;
}

function page(port) {
  return new Promise((told, failed) => {
    http.get({ host: '127.0.0.1', port, path: '/', timeout: 5000 }, (answer) => {
      answer.resume();
      told(answer.statusCode);
    }).on('error', failed).on('timeout', () => failed(new Error('no answer')));
  });
}

await core.createNamespacedPod({ namespace, body: { metadata: { name }, spec: { terminationGracePeriodSeconds: 1, containers: [
  { name: 'c', image: 'nginx:latest', command: ['python3', '-m', 'http.server', '--bind', '127.0.0.1', '8000'] }] } } });
const running = await until(30, async () => (await core.readNamespacedPod({ name, namespace })).status.phase === 'Running');
check('a pod runs', running);

let said = '';
const words = new Writable({ write(bytes, _, next) { said += bytes; next(); } });
await new Promise((done) => new k8s.Exec(config).exec(namespace, name, 'c', ['echo', 'reached'], words, words, null, false, done));
check('exec runs a command in a pod', said.includes('reached'), said);

const forward = new k8s.PortForward(config);
const server = net.createServer((socket) => forward.portForward(namespace, name, [8000], socket, null, socket));
await new Promise((listens) => server.listen(0, '127.0.0.1', listens));
const status = await until(20, () => page(server.address().port));
check('portForward reaches a port of a pod', status === 200, status);
await core.deleteNamespacedPod({ name, namespace });
process.exit(0);
