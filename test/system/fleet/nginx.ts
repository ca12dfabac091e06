import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { eventually } from '../../support/eventually.ts';
import { sendRequest } from '../../support/http-requests.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { unusedPort } from '../../support/unused-port.mjs';

export interface RunningNginx extends AsyncDisposable {
  readonly url: string;
}

const CONFIG = new URL('../../../deploy/nginx.conf', import.meta.url);
const ATTEMPTS = 5;

/** Returns the configuration from `deploy`, with the given gateways instead of those of the compose file. */
export function nginxConfig(targets: readonly string[], listen: string): string {
  const text = readFileSync(CONFIG, 'utf8');
  const [first] = /server [\d.]+:7332([^;]*);/.exec(text) ?? [''];
  const options = first.replace(/^server \S+/, '');
  const servers = targets.map((target) => `server ${target}${options}`).join('\n        ');
  return text
    .replace(/(?:server [\d.]+:7332[^;]*;\s*)+/, `${servers}\n    `)
    .replace('listen 8080;', `listen ${listen};`);
}

/** Starts nginx. It cannot choose a free port itself, so another port is tried if a different program was faster. */
export async function startNginx(targets: readonly string[]): Promise<RunningNginx> {
  for (let attempt = 1; ; attempt++) {
    const started = await tryToStart(targets, `127.0.0.1:${await unusedPort()}`);
    if (typeof started !== 'string') return started;
    if (attempt === ATTEMPTS) throw new Error(`nginx does not start: ${started}`);
  }
}

async function tryToStart(targets: readonly string[], listen: string): Promise<RunningNginx | string> {
  const folder = temporaryFolder('nginx');
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, nginxConfig(targets, listen));
  const directives = `daemon off; pid ${join(folder, 'pid')};`;
  const child = spawn('nginx', ['-e', 'stderr', '-c', file, '-g', directives], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit');
  const url = `http://${listen}/mcp`;
  const isUp = eventually(async () => (await sendRequest(new URL('/healthz', url))).status === 200, {
    withinMs: 15_000,
    what: 'nginx',
  }).catch(() => false);
  if (!(await Promise.race([isUp, exited.then(() => false)]))) {
    child.kill('SIGKILL');
    return stderr;
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
