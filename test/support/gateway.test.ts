import { existsSync } from 'node:fs';

import { expect, test } from 'vitest';

import { fixtureCommand } from './fixture.ts';
import { gatewayCommand, startGateway } from './gateway.ts';
import { checkLeaks } from './leak-check.ts';
import { sdkV1Client, sdkV2Client } from './sdk-clients.ts';

checkLeaks();

// A fixture takes the place of the gateway, because only the builder is tested.
const program = fixtureCommand('plain', ['--era', 'both']);

test('startGateway: gives one stdio client and stops with exit code 0', async () => {
  await using gateway = await startGateway({ mcpServers: {}, program });
  const client = await gateway.client();
  expect(await client.callTool('echo', { text: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
  expect(existsSync(gateway.configFile)).toBe(true);
  await gateway.stop();
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
});

test('startGateway: serves clients of both eras over HTTP', async () => {
  await using gateway = await startGateway({ mcpServers: {}, program, listen: 'http' });
  await using legacy = await gateway.client();
  await using modern = await gateway.client({ era: 'modern' });
  for (const client of [legacy, modern]) {
    expect(await client.callTool('add', { a: 2, b: 3 })).toMatchObject({ content: [{ text: '5' }] });
  }
});

test('startGateway: rejects stop() when the gateway does not exit in time', async () => {
  const gateway = await startGateway({ mcpServers: {}, program: fixtureCommand('ignores-signals') });
  const client = await gateway.client();
  await expect(gateway.stop({ withinMs: 200 })).rejects.toThrow('did not end within 200 ms');
  await client.close();
});

test('gatewayCommand: can be started by clients of the SDK', async () => {
  const target = gatewayCommand({ mcpServers: {}, program });
  for (const client of [await sdkV1Client(target), await sdkV2Client(target, { era: 'modern' })]) {
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
    await client.close();
  }
});
