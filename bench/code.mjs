// node bench/code.mjs: measures the cost of a script, cold and warm, and of a call inside a script compared with a direct call.
// docs/decisions/code-sandbox.md has the numbers of one run.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { build } from '../scripts/build.mjs';

const ROUNDS = 30;
const CALLS = 200;
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const server = fileURLToPath(new URL('../test/support/servers/plain.mjs', import.meta.url));

await build();
const home = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
const timings = {
  cold: [],
  coldTypes: [],
  warm: [],
  warmTypes: [],
  sequential: [],
  parallel: [],
  direct: [],
};
for (let round = 0; round < 5; round += 1) await measure(timings);
rmSync(home, { recursive: true });
for (const [name, values] of Object.entries(timings)) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor((sorted.length - 1) * share)].toFixed(2);
  console.log(`${name.padEnd(10)} median ${at(0.5)} ms, worst ${at(1)} ms, of ${sorted.length}`);
}

async function measure(all) {
  const client = await connect();
  const run = (code) => timed(() => client.call('run_code', { code }));
  const types = 'const a: number = 1; a';
  all.cold.push(await run('1'));
  all.coldTypes.push(await run(types));
  await client.call('run_code', { code: 'await tools.one.echo({ text: "warm" })' });
  for (let at = 0; at < ROUNDS; at += 1) {
    all.warm.push(await run('1'));
    all.warmTypes.push(await run(types));
  }
  const emptyScript = all.warm.slice(-ROUNDS).toSorted((a, b) => a - b)[ROUNDS / 2];
  const sequential = `for (let at = 0; at < ${CALLS}; at++) await tools.one.echo({ text: 'x' })`;
  const parallel = `await Promise.all(Array.from({ length: ${CALLS} }, () => tools.one.echo({ text: 'x' })))`;
  for (let at = 0; at < 3; at += 1) {
    all.sequential.push(((await run(sequential)) - emptyScript) / CALLS);
    all.parallel.push(((await run(`${parallel}; 1`)) - emptyScript) / CALLS);
    const direct = await timed(async () => {
      for (let each = 0; each < CALLS; each += 1) await client.call('one__echo', { text: 'x' });
    });
    all.direct.push(direct / CALLS);
  }
  client.end();
}

async function timed(work) {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

async function connect() {
  const config = join(home, 'config.jsonc');
  const mcpServers = { one: { command: process.execPath, args: [server] } };
  writeFileSync(config, JSON.stringify({ mcpServers, startup: { listWait: '10s' } }));
  const args = [main, 'serve', '--standalone', '--expose', 'code', '--config', config];
  const env = { ...process.env, TRUNKLINE_HOME: home };
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const pending = new Map();
  createInterface(child.stdout).on('line', (line) => {
    const { id, result } = JSON.parse(line);
    pending.get(id)?.(result);
  });
  let last = 0;
  const request = (method, params) =>
    new Promise((resolve) => {
      pending.set((last += 1), resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
    });
  const clientInfo = { name: 'bench', version: '1' };
  await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  await request('tools/call', { name: 'search_tools', arguments: { query: 'echo' } });
  const call = async (name, args) => {
    const result = await request('tools/call', { name, arguments: args });
    if (result?.isError !== false && result?.isError !== undefined) throw new Error(JSON.stringify(result));
    return result;
  };
  return { call, end: () => child.stdin.end() };
}
