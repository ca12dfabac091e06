import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { ownCode, said, untilListed } from '../support/asking.ts';
import { eventually } from '../support/eventually.ts';
import { fixture } from '../support/fixture.ts';
import { type GatewayOptions, startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { temporaryFolder } from '../support/test-run.ts';

checkLeaks();

const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const onPosix = process.platform !== 'win32';

test('a gateway serves although there is something else where its state belongs', async () => {
  const home = temporaryFolder('trunkline-home');
  writeFileSync(join(home, 'state'), 'not a folder');
  await serves({ home });
});

test.runIf(onPosix)('a gateway serves although every write to the disk fails', async () => {
  // Stands for a full disk: no file of the gateway, or of what it starts, may have a single byte.
  const program = ['/bin/sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, built] as const;
  const home = temporaryFolder('trunkline-home');
  await serves({ home, program });
  expect(existsSync(join(home, 'state', 'catalog.json'))).toBe(false);
});

test.runIf(onPosix)('a gateway whose disk is full after a good start serves what it knows at the next one', async () => {
  const home = temporaryFolder('trunkline-home');
  await serves({ home }, { complains: false });
  const program = ['/bin/sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, built] as const;
  await serves({ home, program }, { complains: false });
  await serves({ home }, { complains: false });
});

// Who is root may write everywhere.
test.runIf(onPosix && process.getuid?.() !== 0)('a gateway serves from a folder that it may only read', async () => {
  const home = temporaryFolder('trunkline-home');
  mkdirSync(join(home, 'state'));
  chmodSync(join(home, 'state'), 0o500);
  await serves({ home });
  expect(readdirSync(join(home, 'state'))).toEqual([]);
});

/** Lists, calls, survives a crash of its server and ends well; says what is wrong, and not without end. */
async function serves(
  options: Pick<GatewayOptions, 'home' | 'program'>,
  { complains = true } = {},
): Promise<void> {
  // Without a log of its own: what the gateway starts cannot write either.
  const { command, args } = fixture('plain');
  await using gateway = await startGateway({ mcpServers: { one: { command, args } }, ...options });
  const client = await gateway.client();
  await untilListed(client, 'one__echo');
  for (let round = 0; round < 3; round += 1) {
    expect(said(await client.callTool('one__echo', { text: 'a' }))).toBe('a');
    expect(ownCode(await client.callTool('one__crash'))).toBe('UPSTREAM_CLOSED');
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
