import { writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { formatCrashLine, isGuardError } from './cli/print/crash-line.ts';
import { createOutput } from './cli/output.ts';
import { runCli } from './cli/program.ts';

declare const __TRUNKLINE_VERSION__: string;
declare const __TRUNKLINE_BUILD__: string;

/** The time in which an MCP client must read the last responses of a gateway that stops. */
const MAX_FLUSH_MS = 2000;

/** Runs the command line and exits with its code. `importModule` is Node's `import`, which code from the code cache does not have. */
export function main(importModule: (url: string) => Promise<unknown>): void {
  const { stdin, stdout, stderr, env, platform, pid } = process;
  let stop: (() => void) | undefined;
  let signals = 0;
  let isFlushLimited = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      signals++;
      // Exit at once if nothing has to be cleaned up, or if the user pressed Ctrl-C again.
      if (stop === undefined || signals > 1) process.exit(signal === 'SIGINT' ? 130 : 143);
      stop();
    });
  }
  // Node would print all properties of the error, including arguments and headers.
  process.on('uncaughtException', (error) => {
    try {
      writeSync(2, formatCrashLine(error, { env, now: new Date() }));
    } finally {
      // A guard that fails outside of its call does not affect the gateway.
      if (!isGuardError(error)) process.exit(1);
    }
  });
  // The reader of a pipe may close it early, as `head` does. That is not an error.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});

  void runCli(process.argv.slice(2), {
    out: createOutput({ stdout, stderr }),
    env,
    cwd: process.cwd(),
    home: homedir(),
    platform,
    pid,
    version: __TRUNKLINE_VERSION__,
    build: __TRUNKLINE_BUILD__,
    program: [process.execPath, ...process.execArgv, fileURLToPath(new URL('main.js', import.meta.url))],
    vectors: new URL('word-vectors.bin', import.meta.url),
    codeWorker: new URL('code-worker.js', import.meta.url),
    auditWorker: new URL('audit-worker.js', import.meta.url),
    dashboardDir: new URL('web/', import.meta.url),
    openapi: new URL('../schema/openapi.json', import.meta.url),
    stdin,
    stdout,
    stderr,
    importModule,
    onStopSignal: (listener) => (stop = listener),
    limitFlush: () => (isFlushLimited = true),
  }).then((code) => {
    // Standard output may be a pipe with buffered data, which process.exit would discard.
    stdout.write('', () => process.exit(code));
    if (isFlushLimited) setTimeout(() => process.exit(code), MAX_FLUSH_MS);
  });
}
