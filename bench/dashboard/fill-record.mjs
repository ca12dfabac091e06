// Writes many records into the database of a gateway that does not run, through the thread that writes them there.

import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const worker = fileURLToPath(new URL('../../dist/audit-worker.js', import.meta.url));
const BATCH = 1000;
const HOUR_MS = 3_600_000;

/** Spread evenly over the hour before now, over all servers and their tools; one of ten did not end well. */
export async function fillRecord({ stateDir, count, tools }) {
  const settings = { arguments: false, results: false, chain: false };
  const thread = new Worker(worker, {
    workerData: { stateDir, keepMs: 1e12, maxBytes: 1e12, ...settings },
    env: {},
  });
  let written = 0;
  const done = new Promise((resolve, reject) => {
    thread.on('error', reject);
    thread.on('message', (message) => {
      if (message.type === 'lost') reject(new Error(message.problem));
      written += message.count ?? 0;
      if (written >= count) resolve();
    });
  });
  const begin = Date.now() - HOUR_MS;
  for (let from = 0; from < count; from += BATCH) {
    const records = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) =>
      record(from + index, begin + ((from + index) / count) * HOUR_MS, tools),
    );
    thread.postMessage({ type: 'write', records });
  }
  await done;
  const closed = new Promise((resolve) => thread.once('exit', resolve));
  thread.postMessage({ type: 'close' });
  await closed;
}

function record(n, at, tools) {
  const { server, original } = tools[(n * 7919) % tools.length];
  return {
    ...{ at: Math.round(at), request: `bench-${n}`, group: `bench-${n}`, kind: 'tool' },
    ...{
      caller: `key:caller-${n % 20}`,
      via: 'http',
      client: 'bench',
      clientVersion: '1',
      profile: 'default',
    },
    ...{
      server,
      entry: original,
      tier: 'write',
      outcome: n % 10 === 0 ? 'tool-error' : 'ok',
      rule: 'default',
    },
    ...{ ms: 1 + ((n * 31) % 500), bytesIn: 120, bytesOut: 400 + (n % 9000) },
    ...{ argumentText: '{}', resultText: '{}', resultChars: 2, fingerprint: `bench-${n % 7}` },
  };
}
