#!/usr/bin/env node
// Starts the real server (`--real`, `plain` unless said) as its grandchild, a shell in between, all on the same standard streams,
// as `npx` does. The launcher ignores signals and ends only when the real server has ended.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { note } from './engine/note.mjs';
import { readOptions } from './engine/options.mjs';

const args = process.argv.slice(2);
const real = fileURLToPath(new URL(`./${readOptions(args).text('real', 'plain')}.mjs`, import.meta.url));
note('started', { ppid: process.ppid, real });
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.on(signal, () => note('end-ignored', { of: signal }));
}
// A command after the server keeps the shell from becoming it.
const shell = spawn('sh', ['-c', '"$@"; exit $?', 'sh', process.execPath, real, ...args], {
  stdio: 'inherit',
});
shell.on('exit', (code) => process.exit(code ?? 1));
