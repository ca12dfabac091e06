// Whether many real servers that `npx` starts at once become ready with an empty package cache, and whether the cache works afterwards.

import { homedir } from 'node:os';
import { join } from 'node:path';

import { httpClient } from '../../../bench/client/http-client.mjs';
import { runCheck } from '../client-checks.mjs';
import { verifyNothingRuns, withHttpGateway, writeGatewayConfig } from '../gateway-loop.mjs';
import { askDirectly, formatSeconds, inHome } from './server-checks.mjs';
import { servers } from './servers.mjs';

/** Columns of the table, in order. */
export const launcherChecks = {
  directly: 'directly',
  gateway: 'through Trunkline',
  cache: 'cache works',
  end: 'end',
};

export const launchers = [
  { id: 'npx', title: `npx, ${servers.length} servers at once`, version: process.version },
];

/** The time limit of one of the three runs below. */
const LIMIT_MS = 600_000;
const POLL_MS = 500;
/** Starts from the cache at a time. Unlike the cold starts, they are no measurement. */
const CACHED_STARTS = 3;

/** Calls `report(check, outcome, note)` after each check. Resolves with the time that each server took, by its id. */
export async function checkLaunchers(_subject, { workspace, report }) {
  const times = Object.fromEntries(servers.map(({ id }) => [id, {}]));
  const check = (name, work) => runCheck(name, work, report);
  await check('directly', async () => {
    const start = launchesWith(workspace, 'directly');
    await Promise.all(start.map((launch) => startAlone(workspace, launch, times[launch.id], 'directly')));
    return summarize(times, 'directly');
  });
  const launches = launchesWith(workspace, 'gateway');
  await check('gateway', async () => {
    await startBehindGateway(workspace, launches, times);
    const lost = servers.filter(
      ({ id }) => times[id].directly !== undefined && times[id].gateway === undefined,
    );
    if (lost.length > 0) throw new Error(`not ready: ${lost.map(({ title }) => title).join(', ')}`);
    return summarize(times, 'gateway');
  });
  await check('cache', async () => {
    const waiting = launches.filter(({ id }) => times[id].gateway !== undefined);
    const count = waiting.length;
    const worker = async () => {
      for (let launch = waiting.shift(); launch !== undefined; launch = waiting.shift())
        await startAlone(
          workspace,
          { ...launch, env: { ...launch.env, npm_config_offline: 'true' } },
          times[launch.id],
          'cached',
        );
    };
    await Promise.all(Array.from({ length: CACHED_STARTS }, worker));
    const broken = servers.filter(
      ({ id }) => times[id].gateway !== undefined && times[id].cached === undefined,
    );
    if (broken.length > 0) throw new Error(`npx cannot start ${broken.map(({ title }) => title).join(', ')}`);
    return `${count} of ${count}`;
  });
  await check('end', () =>
    verifyNothingRuns(
      workspace,
      servers.map(({ package: name }) => `/node_modules/${name}/`),
    ),
  );
  return { times };
}

/** Returns how each server starts with a package cache of its own name. */
function launchesWith(workspace, name) {
  const settings = {
    npm_config_cache: join(workspace.home, `npm-${name}`),
    npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), '.npmrc'),
    PUPPETEER_SKIP_DOWNLOAD: '1',
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1',
  };
  return servers.map((server) => {
    const { args, env } = inHome(workspace, { args: server.args, env: server.env });
    const command = ['npx', '-y', `${server.package}@${server.version}`, ...args];
    return { id: server.id, command, env: { ...env, ...settings } };
  });
}

/** Records the time until a server is ready; records nothing if it does not become ready. */
async function startAlone(workspace, launch, times, way) {
  try {
    const { readyMs } = await askDirectly(workspace, launch, LIMIT_MS);
    times[way] = readyMs;
  } catch (error) {
    console.log(`${way}: ${launch.id}: ${workspace.anonymize(error.message)}`);
  }
}

async function startBehindGateway(workspace, launches, times) {
  const keyOf = (at) => `s${at}`;
  const entries = launches.map(({ command: [command, ...args], env }, at) => [
    keyOf(at),
    { command, args, env },
  ]);
  writeGatewayConfig(workspace, Object.fromEntries(entries), { kind: 'direct' });
  const start = performance.now();
  const work = async (address) => {
    const client = httpClient(address, () => {}); // A request that fails rejects.
    try {
      await client.open();
      while (performance.now() - start < LIMIT_MS) {
        const { tools } = await client.request('tools/list');
        const ready = new Set(tools.map(({ name }) => name.split('__')[0]));
        launches.forEach(({ id }, at) => {
          if (ready.has(keyOf(at))) times[id].gateway ??= performance.now() - start;
        });
        if (ready.size >= launches.length) return;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    } finally {
      client.close();
    }
  };
  await withHttpGateway(workspace, work);
}

function summarize(times, way) {
  const taken = Object.values(times)
    .flatMap((each) => each[way] ?? [])
    .toSorted((a, b) => a - b);
  if (taken.length === 0) throw new Error('no server became ready');
  const median = taken[Math.floor(taken.length / 2)];
  return `${taken.length} of ${servers.length} ready; half after ${formatSeconds(median)}, the last after ${formatSeconds(taken.at(-1))}`;
}
