import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import type { MessageFromWorker, MessageToWorker } from '../worker-messages.ts';
import { ScriptInterpreter } from './interpreter.ts';
import { Script } from './script.ts';
import { getWebAssembly } from './wasm.ts';

/** A thread whose interpreter grew larger than this is not reused: ending the thread frees the memory of both at once. */
const MAX_REUSED_BYTES = 32 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

/** The entry point of a script thread. It runs one script at a time, each in a new interpreter. */
async function main(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('This file must run as a worker thread.');
  const { interpreterUrl, memoryMb } = workerData as {
    readonly interpreterUrl: string;
    readonly memoryMb: number;
  }; // `Sandbox` sets this data.
  const compiled = await getWebAssembly().compile(await readFile(fileURLToPath(interpreterUrl)));
  const create = (): Promise<ScriptInterpreter> => ScriptInterpreter.create(compiled, memoryMb * MEGABYTE);
  // The next interpreter is created in advance, so that a script does not wait for it.
  let nextInterpreter = create();
  let script: Script | undefined;
  const post = (message: MessageFromWorker): void => port.postMessage(message);
  port.on('message', (message: MessageToWorker) => {
    if (message.kind === 'answer') return script?.answer(message.id, message.answer);
    void nextInterpreter.then((interpreter) => {
      script = new Script(interpreter, message, {
        post,
        done: (isClean) => {
          script = undefined;
          const isReusable = isClean && interpreter.bytes <= MAX_REUSED_BYTES;
          if (isReusable) nextInterpreter = create();
          post({ kind: 'done', isReusable });
        },
      });
      return script.start();
    });
  });
}

void main();
