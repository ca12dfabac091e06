import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { type GatewayOptions, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const built = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const onPosix = process.platform !== 'win32';
const isRoot = process.getuid?.() === 0;
const setpriv = '/usr/bin/setpriv';
/** Simulates a full disk: the gateway and its children cannot write a byte to any file. */
const withoutDisk = ['/bin/sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, built] as const;

test('state folder: may be unusable without stopping the gateway', async () => {
  const home = temporaryFolder('trunkline-home');
  writeFileSync(join(home, 'state'), 'not a folder');
  await serves({ home });
  expect(readFileSync(join(home, 'state'), 'utf8')).toBe('not a folder');
});

test.runIf(onPosix)('full disk: does not stop the gateway when every write fails', async () => {
  const home = temporaryFolder('trunkline-home');
  await serves({ home, program: withoutDisk });
  expect(existsSync(join(home, 'state', 'catalog.json'))).toBe(false);
});

test.runIf(onPosix)('full disk: leaves the stored catalog intact for the next start', async () => {
  const home = temporaryFolder('trunkline-home');
  await serves({ home }, { complains: false });
  const before = readFileSync(join(home, 'state', 'catalog.json'), 'utf8');
  await serves({ home, program: withoutDisk }, { complains: false });
  expect(readFileSync(join(home, 'state', 'catalog.json'), 'utf8')).toBe(before);
  await serves({ home }, { complains: false });
});

test.runIf(onPosix && (!isRoot || existsSync(setpriv)))(
  'state folder: may be read-only without stopping the gateway',
  async () => {
    const home = temporaryFolder('trunkline-home');
    const state = join(home, 'state');
    const children = join(state, 'run', 'children-999999999.json');
    mkdirSync(dirname(children), { recursive: true });
    writeFileSync(children, JSON.stringify({ by: 'somebody', groups: [] }));
    for (const folder of [dirname(children), state]) chmodSync(folder, 0o500);
    // Root can write everywhere unless the capability is dropped.
    const less = [setpriv, '--bounding-set', '-dac_override', process.execPath, built] as const;
    await serves({ home, ...(isRoot && { program: less }) });
    expect(readdirSync(state)).toEqual(['run']);
    for (const folder of [state, dirname(children)]) chmodSync(folder, 0o700);
    rmSync(children);
  },
);

/** Checks that a gateway lists, calls, survives a crash of its server and exits normally, and that it reports the problem a limited number of times. */
async function serves(
  options: Pick<GatewayOptions, 'home' | 'program'>,
  { complains = true } = {},
): Promise<void> {
  // Without a log, because children of the gateway cannot write either.
  const { command, args } = fixture('plain');
  await using gateway = await startGateway({ mcpServers: { one: { command, args } }, ...options });
  const client = await gateway.client();
  await waitForTool(client, 'one__echo');
  for (let round = 0; round < 3; round += 1) {
    expect(textOfResult(await client.callTool('one__echo', { text: 'a' }))).toBe('a');
    expect(gatewayErrorCode(await client.callTool('one__crash'))).toBe('UPSTREAM_CLOSED');
    await client.callTool('one__change-list');
  }
  if (complains) await eventually(() => expect(gateway.stderr()).toMatch(/cannot be (?:stored|written)/));
  await client.close();
  await gateway.stop();
  expect(gateway.stderr().split('\n').filter(isAboutDisk).length).toBeLessThanOrEqual(complains ? 4 : 2);
}

function isAboutDisk(line: string): boolean {
  return /cannot be (?:stored|written)/.test(line);
}
