import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { commandHome } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { fixture } from '../support/fixture.ts';
import { type RunningGateway, startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

const servers = { plain: fixture('plain'), gone: { command: 'node', args: ['no-such-file-of-ours.mjs'] } };
const home = commandHome(servers);
const whole = JSON.stringify({ mcpServers: servers });
let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ mcpServers: servers, home: home.home, listen: 'http' });
  await home.json(['refresh', 'plain']);
});

afterAll(() => gateway[Symbol.asyncDispose]());

describe('while the file cannot be used, the gateway that runs', () => {
  beforeAll(async () => {
    writeFileSync(home.configFile, '{ oops');
    await eventually(
      async () => 'configProblem' in ((await home.json(['status'])) as Readonly<Record<string, unknown>>),
      { what: 'The problem of the file' },
    );
  });
  afterAll(async () => {
    writeFileSync(home.configFile, whole);
    await eventually(
      async () => !('configProblem' in ((await home.json(['status'])) as Readonly<Record<string, unknown>>)),
      { what: 'The file without a problem' },
    );
  });

  test.each([
    { args: ['servers'] },
    { args: ['logs'] },
    { args: ['stats'] },
    { args: ['pause'] },
    { args: ['resume'] },
    { args: ['why', 'plain__echo'] },
    { args: ['call', 'plain__echo', 'text=still'] },
    { args: ['dashboard', '--print'] },
  ])('answers $args', async ({ args }) => {
    expect(await home.run(args)).toMatchObject({ code: 0 });
  });
});

test('a gateway that is paused is so for why and doctor', async () => {
  await home.json(['pause']);
  const { stdout } = await home.run(['why', 'plain__echo', '--text']);
  expect(stdout).toMatch(/^plain__echo {2}paused\n {2}The gateway is paused since /);
  expect(stdout).toContain('To mend it: trunkline resume\n');
  expect((await home.run(['doctor', '--text'])).stdout).toMatch(/paused since .*\n.*→ trunkline resume/);
  await home.json(['resume']);
  expect((await home.run(['why', 'plain__echo', '--text'])).stdout).toMatch(/^plain__echo {2}usable\n/);
});

test('a gateway with another environment is paused all the same', async () => {
  const env = { TRUNKLINE_TOKENS_ANOTHER: 'x' };
  await home.json(['pause'], { env });
  expect(await home.json(['status'])).toHaveProperty('pausedSince');
  await home.json(['resume'], { env });
  expect(await home.json(['status'])).not.toHaveProperty('pausedSince');
});

test('what is missing is named as what mends it, and unknown names have no remedy', async () => {
  await home.run(['refresh', 'gone']);
  expect(await home.json(['why', 'gone'])).toMatchObject({
    verdict: 'unreachable',
    fixes: [expect.stringMatching(/"command" and "args" of mcpServers\.gone: trunkline edit gone$/)],
  });
  const { stdout } = await home.run(['why', 'nobody__knows', '--text']);
  expect(stdout).toContain('There is no server of this name');
  expect(stdout).not.toContain('refresh');
});

test('an entry with a mistake is a warning of doctor with its remedy, and of the log with its place', async () => {
  writeFileSync(home.configFile, JSON.stringify({ mcpServers: { ...servers, odd: { comand: 'x' } } }));
  await eventually(() => /config\.jsonc:\d+:\d+/.test(gateway.stderr()), { what: 'The place in the log' });
  const odd = commandHome({ odd: { comand: 'x' } }, { http: { address: '127.0.0.1:0' } });
  const { code, stdout } = await odd.run(['doctor', '--text']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/→ Mend it: trunkline edit\n[^]*\n1 warning\.\n$/);
  writeFileSync(home.configFile, whole);
});

test("a project's file that was changed keeps nobody from the gateway that serves it", async () => {
  const folder = join(home.home, 'project');
  mkdirSync(folder);
  const file = join(folder, 'trunkline.jsonc');
  writeFileSync(file, JSON.stringify({ mcpServers: {} }));
  const here = { cwd: folder };
  expect(await home.run(['status'], here)).toMatchObject({ code: 3 });
  expect(await home.run(['trust', file])).toMatchObject({ code: 0 });
  expect(await home.run(['dashboard', '--print'], here)).toMatchObject({ code: 0 });
  try {
    writeFileSync(file, JSON.stringify({ mcpServers: {}, names: { separator: '.' } }));
    for (const args of [['status'], ['servers'], ['pause'], ['resume'], ['dashboard', '--print']])
      expect({ args, ...(await home.run(args, here)) }).toMatchObject({ args, code: 0 });
  } finally {
    expect(await home.json(['stop'], here)).toMatchObject({ stopped: true });
  }
  expect(await home.run(['servers'], here)).toMatchObject({ code: 3 });
});
