// Writes many records into the database of a stopped gateway, through its writer thread.

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { writeMessage } from '../audit/write-message.mjs';

const worker = fileURLToPath(new URL('../../dist/audit-worker.js', import.meta.url));
const BATCH = 1000;
const HOUR_MS = 3_600_000;

/** Writes records spread evenly over the last hour; `recordOf` returns the record of a number and a time. */
export async function fillRecord({ stateDir, count, recordOf }) {
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

/** The folder of a gateway's database below its home; a configuration outside of the user's home has its own. */
export function stateFolder(home) {
  const found = readdirSync(home, { recursive: true, withFileTypes: true });
  const database = found.find(({ name }) => name === 'trunkline.db');
  if (database === undefined) throw new Error('the gateway has made no database');
  return database.parentPath;
}
