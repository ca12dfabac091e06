import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { openTestSetup } from '../../support/cell.ts';
import { commandHome } from '../../support/command.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { waitForAuditRows } from '../../support/audit-rows.ts';

checkLeaks();

const secrets = {
  key: 'sk-ant-api03-PlantedKeyPlantedKey0123456789',
  github: `ghp_${'Planted'.repeat(6)}`,
  password: 'planted-password-in-arguments',
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJwbGFudGVkIjoidGhlcmUifQ.c2lnbmF0dXJlcGxhbnRlZA',
  url: 'planted-user:planted-in-url',
  query: 'planted-in-the-query',
  env: 'planted-in-environment-value',
  callerKey: `tl_${'Planted'.repeat(8).slice(0, 55)}`,
  accessToken: `tla_${'Planted'.repeat(8).slice(0, 55)}`,
  refreshToken: `tlr_${'Planted'.repeat(8).slice(0, 55)}`,
  adminKey: `tladmin_${'Planted'.repeat(8).slice(0, 43)}`,
  cookie: `trunkline_7333=${'Planted'.repeat(8).slice(0, 43)}`,
  client: 'sk-proj-plantedInTheClientName0123456789',
} as const;

test('audit redaction: keeps secrets out of records, logs and exports, even with payloads recorded', async () => {
  const line = await openTestSetup(
    { downstream: 'stdio/legacy', upstream: 'stdio/legacy' },
    { plain: ['plain'] },
    {
      config: { audit: { arguments: true, results: true }, log: { level: 'debug' } },
      entries: { plain: (entry) => ({ env: { ...(entry['env'] as object), MY_TOKEN: '${env:PLANTED}' } }) },
      env: { PLANTED: secrets.env },
      clientInfo: { name: secrets.client, version: '1' },
    },
  );
  const { client, gateway } = line;
  await client.listTools();
  const text = `use ${secrets.key} and ${secrets.github}, Authorization: Bearer ${secrets.jwt}, https://${secrets.url}@example.com/`;
  await client.callTool('plain__echo', { text, password: secrets.password });
  const { callerKey, accessToken, refreshToken, adminKey, cookie } = secrets;
  await client.callTool('plain__echo', {
    text: `${callerKey} ${accessToken} ${refreshToken} ${adminKey} ${cookie}`,
  });
  await client.callTool('plain__env', { names: ['MY_TOKEN'] });
  await client.callTool(`plain__${secrets.github}`, {}).catch(String);
  await client
    .request('resources/read', { uri: `db://${secrets.url}@host/x?key=${secrets.query}` })
    .catch(String);
  await waitForAuditRows(gateway.home, 5);
  await line[Symbol.asyncDispose]();
  const { run } = commandHome();
  const asked = ['--config', gateway.configFile];
  const env = { env: { TRUNKLINE_HOME: gateway.home } };
  const outputs = await Promise.all(
    [['logs', '--export', 'jsonl'], ['logs', '--export', 'csv'], ['logs'], ['stats']].map((words) =>
      run([...asked, ...words], env),
    ),
  );
  expect(outputs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(outputs[0]?.stdout.trim().split('\n')).toHaveLength(5);
  expect(outputs[0]?.stdout).toContain('[redacted]');
  const state = join(gateway.home, 'state');
  const files = readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name.includes('trunkline.db'))
    .map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'));
  const everything = [
    gateway.stderr(),
    ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    ...files,
  ];
  for (const [where, secret] of Object.entries(secrets))
    expect({ where, isFound: everything.some((each) => each.includes(secret)) }).toEqual({
      where,
      isFound: false,
    });
});
