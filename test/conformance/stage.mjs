import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const fixture = fileURLToPath(new URL('../support/servers/conformance.mjs', import.meta.url));
const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Starts the fixture server over HTTP, and a gateway with four entries for it: over stdio and HTTP, each pinned to one era. */
export async function startStage() {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-conformance-'));
  const server = await start([fixture, '--era', 'both', '--http', '0'], {});
  const mcpServers = {};
  for (const era of ['legacy', 'modern']) {
    mcpServers[`stdio-${era}`] = { command: process.execPath, args: [fixture, '--era', 'both'], era };
    mcpServers[`http-${era}`] = { url: server.url, era };
  }
  const gateway = await startGateway(home, { mcpServers, startup: { listWait: '10s' } });
  return {
    fixtureUrl: server.url,
    gatewayUrl: (leg, era) => `${gateway.url}/s/${leg}-${era}`,
    async stop() {
      await gateway.stop();
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export async function startGateway(home, config) {
  const file = join(home, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  const gateway = await start([program, 'serve', '--config', file, '--http', '127.0.0.1:0'], {
    TRUNKLINE_HOME: home,
  });
  return { ...gateway, config: file };
}

/** Runs a program that prints its URL to standard error. */
async function start(args, env) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  let said = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\w+/.exec(said)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.on('close', () => reject(new Error(`The program exited before it printed its URL: ${said}`)));
  });
  return {
    url,
    timesSaid: (text) => said.split(text).length - 1,
    /** Waits until the text appears on standard error. */
    async says(text, withinMs = 15_000) {
      for (const end = Date.now() + withinMs; !said.includes(text);) {
        if (Date.now() > end) throw new Error(`Standard error does not contain "${text}": ${said}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
