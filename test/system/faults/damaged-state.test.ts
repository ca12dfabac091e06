import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const noise = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919 + (index >> 3)) & 0xff));

/** Kinds of damage, each as a function of the intact file. */
const damages: Readonly<Record<string, (good: Buffer) => Buffer>> = {
  'is empty': () => Buffer.alloc(0),
  'is noise': () => noise,
  'is cut off': (good) => good.subarray(0, Math.floor(good.length / 2)),
  'has noise in the middle': (good) =>
    Buffer.concat([
      good.subarray(0, good.length >> 1),
      noise,
      good.subarray((good.length >> 1) + noise.length),
    ]),
  'has zeros in the middle': (good) => {
    const copy = Buffer.from(good);
    copy.fill(0, good.length >> 2, good.length >> 1);
    return copy;
  },
};

test.each(Object.entries(damages))('damaged catalog: is repaired when it %s', async (_, damage) => {
  const { home, servers } = await afterGoodRun();
  const file = join(home, 'state', 'catalog.json');
  writeFileSync(file, damage(readFileSync(file)));
  await serves(home, servers, 'The catalog of the last run is damaged');
  await serves(home, servers);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('listings');
});

test('damaged catalog: is ignored when it is well-formed but has wrong values', async () => {
  const { home, servers } = await afterGoodRun();
  const file = join(home, 'state', 'catalog.json');
  const good = readFileSync(file, 'utf8');
  const bad = [
    good.replace('"echo"', '"ecko"'),
    good.replace(/"command":"[^"]*"/, '"command":"/bin/false"'),
    good.replace(/"upstreams":\[.*?\}\]/s, '"upstreams":null'),
    '{}',
    'null',
    '[]',
  ];
  for (const text of bad) {
    expect(text).not.toBe(good);
    writeFileSync(file, text);
    await serves(home, servers, 'The catalog of the last run is damaged');
  }
});

test.each(Object.entries(damages))(
  'damaged database: does not stop the gateway when it %s',
  async (how, damage) => {
    const { home, servers } = await afterGoodRun();
    const state = join(home, 'state');
    const file = join(state, 'trunkline.db');
    // Otherwise a warm start would read this file instead and hide the damage.
    rmSync(join(state, 'catalog.json'));
    writeFileSync(file, damage(readFileSync(file)));
    // SQLite treats an empty file as an empty database.
    await serves(
      home,
      servers,
      how === 'is empty' ? undefined : 'The database was damaged and has been moved aside.',
    );
    const aside = readdirSync(state).filter((name) => /^trunkline\.db\.damaged-[^.]*Z$/.test(name));
    expect(aside).toHaveLength(how === 'is empty' ? 0 : 1);
    await serves(home, servers);
  },
);

test('child records: are ignored when invalid, and no other process is killed', async () => {
  const home = temporaryFolder('trunkline-home');
  const run = join(home, 'state', 'run');
  mkdirSync(run, { recursive: true });
  const stranger = await startStranger();
  try {
    const pid = stranger.pid!;
    // If the gateway believed one of these, it would kill only the unrelated process.
    const claims = [[pid, 'another time'], [pid], [pid, null], [-pid, 'x'], [1.5, 'x'], ['x', 'y'], 7, null];
    const records: Readonly<Record<string, string | Buffer>> = {
      'children-999999991.json': noise,
      'children-999999992.json': '',
      'children-999999993.json': 'null',
      'children-999999994.json': JSON.stringify({ by: 'somebody', groups: claims }),
      'children-999999995.json': JSON.stringify({ groups: claims }),
      'children-999999996.json': JSON.stringify({ by: 'somebody', groups: { 0: [pid, 'x'] } }),
      'children-0.json': JSON.stringify({ by: 'somebody', groups: [] }),
    };
    for (const [name, text] of Object.entries(records)) writeFileSync(join(run, name), text);
    mkdirSync(join(run, 'children-999999997.json'));
    await serves(home, { one: fixture('plain') });
    expect(isRunning(pid)).toBe(true);
    // Files without a valid owner are removed, so that no later start reads them again.
    expect(readdirSync(run).filter((name) => name !== 'children-999999997.json')).toEqual([]);
  } finally {
    if (stranger.kill('SIGKILL')) await once(stranger, 'close');
  }
});

type Servers = Readonly<Record<string, ReturnType<typeof fixture>>>;

async function afterGoodRun(): Promise<{ readonly home: string; readonly servers: Servers }> {
  const home = temporaryFolder('trunkline-home');
  const servers = { one: fixture('plain'), many: fixture('many-tools', '--count', '100') };
  await serves(home, servers);
  expect(readdirSync(join(home, 'state'))).toEqual(expect.arrayContaining(['catalog.json', 'trunkline.db']));
  return { home, servers };
}

/** Checks that a gateway lists and calls every server and exits normally, and that it reports the complaint, if one is given. */
async function serves(home: string, servers: Servers, complaint?: string): Promise<void> {
  await using gateway = await startGateway({ mcpServers: servers, home });
  const client = await gateway.client();
  for (const name of Object.keys(servers)) {
    const tool = name === 'many' ? 'many__tool-99' : `${name}__echo`;
    const tools = await waitForTool(client, tool);
    expect(new Set(tools.map((one) => one.name)).size).toBe(tools.length);
    expect(textOfResult(await client.callTool(tool, { text: 'a' }))).toMatch(/^(?:99: )?a$/);
  }
  if (complaint !== undefined) await eventually(() => expect(gateway.stderr()).toContain(complaint));
  await client.close();
  await gateway.stop();
  if (complaint === undefined) expect(gateway.stderr()).not.toContain('damaged');
}

/** Starts an unrelated process in its own process group. */
async function startStranger(): Promise<ChildProcess> {
  const stranger = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], {
    stdio: 'ignore',
    detached: true,
  });
  await once(stranger, 'spawn');
  return stranger;
}
