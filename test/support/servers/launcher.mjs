#!/usr/bin/env node
// Starts the real server (`--real`, default `plain`) as its grandchild, through a shell, all on the same standard streams,
// as `npx` does. The launcher ignores signals and exits only when the real server has exited.
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
// A command after the server prevents the shell from replacing itself with the server.
const shell = spawn('sh', ['-c', '"$@"; exit $?', 'sh', process.execPath, real, ...args], {
  stdio: 'inherit',
});
shell.on('exit', (code) => process.exit(code ?? 1));
