import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import type { FromWorker, ToWorker } from '../messages.ts';
import { Guest } from './guest.ts';
import { Script } from './script.ts';
import { wasm } from './wasm.ts';

/** Interpreters larger than this are left to the collector together with their thread. */
const MAX_REUSED_BYTES = 32 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

/** The entry of the thread that scripts run in: one at a time, each in an interpreter that no other script has seen. */
async function main(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('This file is the entry of a thread.');
  const { interpreter, memoryMb } = workerData as { readonly interpreter: string; readonly memoryMb: number }; // Whoever starts the thread gives it.
  const compiled = await wasm().compile(await readFile(fileURLToPath(interpreter)));
  const create = (): Promise<Guest> => Guest.create(compiled, memoryMb * MEGABYTE);
  let next = create();
  let script: Script | undefined;
  const post = (message: FromWorker): void => port.postMessage(message);
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'answer') return script?.answer(message.id, message.answer);
    void next.then((guest) => {
      script = new Script(guest, message, {
        post,
        done: (isClean) => {
          script = undefined;
          const isReusable = isClean && guest.bytes <= MAX_REUSED_BYTES;
          if (isReusable) next = create();
          post({ kind: 'done', isReusable });
        },
      });
      return script.start();
    });
  });
}

void main();
