import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { gatewayErrorCode, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

test('lockfile: holds entries that differ from it and fails lock --check', { tags: ['slow'] }, async () => {
  const file = join(temporaryFolder(), 'revision');
  const mcpServers = { one: { ...fixture('changes-a-definition', '--revision-file', file), trust: 'scan' } };
  await using home = new SharedHome({ mcpServers, config: { startup: { listWait: '60s' } } });
  const where = ['--config', join(home.home, 'config.jsonc')];
  const lock = join(home.home, 'trunkline.lock.json');
  const client = await (await home.pipe()).client();
  await waitForTool(client, 'one__changing');
  expect((await home.command('lock', '--check', ...where)).code).toBe(6);
  expect((await home.command('lock', ...where)).code).toBe(0);
  const text = readFileSync(lock, 'utf8');
  expect(text).toContain('Returns the given text.');
  expect((await home.command('lock', '--check', ...where)).code).toBe(0);
  const names = async () => (await client.listTools()).map(({ name }) => name);
  // The running gateway notices the file shortly; until then, the scanner accepts a clean change.
  await eventually(async () => {
    const { stdout } = await home.command('approvals', '--json', ...where);
    expect(JSON.parse(stdout)).toMatchObject({ lock });
  });
  await client.callTool('one__change');
  await eventually(async () => expect(await names()).toEqual(['one__change']));
  expect(gatewayErrorCode(await client.callTool('one__changing', { text: 'a' }))).toBe('QUARANTINED');
  const differs = await home.command('lock', '--check', '--text', ...where);
  expect(differs.code).toBe(6);
  expect(differs.stdout).toContain('- Returns the given text.');
  expect((await home.command('approvals', 'accept', 'one__changing', ...where)).code).toBe(2);
  expect((await home.command('lock', ...where)).code).toBe(0);
  await eventually(async () => expect(await names()).toContain('one__changing'), { withinMs: 10_000 });
  writeFileSync(lock, text.replace('Returns the', 'Sends the'));
  const broken = await home.command('lock', '--check', ...where);
  expect(broken.code).toBe(3);
  expect(broken.stderr).toContain('does not match its definition');
});
