// npm start: runs the gateway over HTTP with three public demo servers.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { build } from './build.mjs';
import { ensure } from './ensure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const demo = join(root, 'demo');
const main = join(root, 'dist', 'main.js');

ensure();
await build();
prepareDemo();
takeEachSignalOnce();
endWithNpm();

const given = process.argv.slice(2);
const http = given.some((arg) => arg === '--http' || arg.startsWith('--http=')) ? [] : ['--http'];
process.env.TRUNKLINE_HOME ??= join(demo, 'state');
process.argv = [
  process.execPath,
  main,
  'serve',
  '--config',
  join(demo, 'trunkline.jsonc'),
  ...http,
  ...given,
];
// The gateway runs in this process rather than in a child, so signals and the exit code are its own, and neither process
// can outlive the other.
await import(pathToFileURL(main).href);

function prepareDemo() {
  mkdirSync(join(demo, 'state'), { recursive: true, mode: 0o700 });
  mkdirSync(join(demo, 'sandbox'), { recursive: true });
  const welcome = join(demo, 'sandbox', 'welcome.txt');
  if (!existsSync(welcome)) {
    writeFileSync(welcome, 'The demo file server can access only this folder.\n');
  }
}

/**
 * Ignores a repeated signal within half a second. A terminal signals the whole process group, and npm forwards the signal once
 * more, so one Ctrl-C arrives twice, and the second signal would force an immediate exit.
 */
function takeEachSignalOnce() {
  const emit = process.emit.bind(process);
  let last = -Infinity;
  process.emit = (event, ...rest) => {
    if (event === 'SIGINT' || event === 'SIGTERM') {
      const now = performance.now();
      if (now - last < 500) return true;
      last = now;
    }
    return emit(event, ...rest);
  };
}

/** Stops the gateway when npm is gone: a killed npm forwards no signal, and the gateway would keep its port. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
}
