import { writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { crashLine, isOfGuard } from './cli/print/crash-line.ts';
import { output } from './cli/output.ts';
import { runCli } from './cli/program.ts';

declare const __TRUNKLINE_VERSION__: string;
declare const __TRUNKLINE_BUILD__: string;

/** Argv in, exit code out. `importModule` is Node's own `import`, which only files have that Node has loaded itself. */
export function main(importModule: (url: string) => Promise<unknown>): void {
  const { stdin, stdout, stderr, env, platform, pid } = process;
  let stop: (() => void) | undefined;
  let signals = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      signals++;
      // Nobody waits for us, or somebody lost patience.
      if (stop === undefined || signals > 1) process.exit(signal === 'SIGINT' ? 130 : 143);
      stop();
    });
  }
  // Node would print the error with everything that hangs on it, arguments and headers among that.
  process.on('uncaughtException', (error) => {
    try {
      writeSync(2, crashLine(error, { env, now: new Date() }));
    } finally {
      // Nothing of ours was interrupted by what a guard does beside its call.
      if (!isOfGuard(error)) process.exit(1);
    }
  });
  // Whoever reads us may stop reading, as `head` does; that is no trouble of ours.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});

  void runCli(process.argv.slice(2), {
    out: output({ stdout, stderr }),
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
    web: new URL('web/', import.meta.url),
    openapi: new URL('../schema/openapi.json', import.meta.url),
    stdin,
    stdout,
    stderr,
    importModule,
    onStopSignal: (listener) => (stop = listener),
  }).then((code) => {
    // Standard output may be a pipe that still has to be read; what was written must not be lost.
    stdout.write('', () => process.exit(code));
  });
}
