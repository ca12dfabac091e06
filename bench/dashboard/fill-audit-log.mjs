// Writes many audit records into the database of a stopped gateway, with the gateway's own writer thread.

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { writeMessage } from '../audit/write-message.mjs';

const worker = fileURLToPath(new URL('../../dist/audit-worker.js', import.meta.url));
const BATCH = 1000;
const HOUR_MS = 3_600_000;

/** Writes records spread evenly over the last hour; `recordOf` returns the record for an index and a time. */
export async function fillAuditLog({ stateDir, count, recordOf }) {
  const settings = { arguments: false, results: false, chain: false };
  const thread = new Worker(worker, {
    workerData: { place: { stateDir }, keepMs: 1e12, maxBytes: 1e12, ...settings },
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
      recordOf(from + index, Math.round(begin + ((from + index) / count) * HOUR_MS)),
    );
    thread.postMessage(writeMessage(records, 'bench', from + 1));
  }
  await done;
  const closed = new Promise((resolve) => thread.once('exit', resolve));
  thread.postMessage({ type: 'close' });
  await closed;
}

/** Finds the folder of a gateway's database below `home`. The folder depends on the path of the configuration file. */
export function findStateFolder(home) {
  const found = readdirSync(home, { recursive: true, withFileTypes: true });
  const database = found.find(({ name }) => name === 'trunkline.db');
  if (database === undefined)
    throw new Error(`There is no trunkline.db below ${home}: the gateway has not created its database.`);
  return database.parentPath;
}
