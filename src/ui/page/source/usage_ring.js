// Samples of the use of the cluster: those of the server, then those of this page. Bounded.
const kRing = 1440; // what the server keeps, and an hour of this page's at one every five seconds

// `times` in seconds since 1970, `cpu` in cores, `memory` in bytes, `gpus` in devices and shares of them.
export const ring = { times: [], cpu: [], memory: [], gpus: [], sinceStart: false };

export function sample(at, cpu, memory, gpus) {
  if (ring.times.length && at - ring.times[ring.times.length - 1] < 4) return;
  ring.times.push(at);
  ring.cpu.push(cpu);
  ring.memory.push(memory);
  ring.gpus.push(gpus);
  for (const list of [ring.times, ring.cpu, ring.memory, ring.gpus]) if (list.length > kRing) list.shift();
}

// Points [time, cores, bytes, devices] that the server measured before this page was opened.
export function putBefore(points) {
  const first = ring.times[0] ?? Infinity;
  const older = points.filter(([at]) => at < first - 4).slice(-kRing / 2);
  ring.times.unshift(...older.map(([at]) => at));
  ring.cpu.unshift(...older.map(([, cores]) => cores));
  ring.memory.unshift(...older.map(([, , bytes]) => bytes));
  ring.gpus.unshift(...older.map(([, , , devices]) => devices ?? 0));
  ring.sinceStart = true;
}
