import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';

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

describe('running gateway with a broken config file', () => {
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
  ])('broken config: the running gateway still answers $args', async ({ args }) => {
    expect(await home.run(args)).toMatchObject({ code: 0 });
  });
});

test('paused gateway: why and doctor report it and suggest trunkline resume', async () => {
  await home.json(['pause']);
  const { stdout } = await home.run(['why', 'plain__echo', '--text']);
  expect(stdout).toMatch(/^plain__echo {2}paused\n {2}The gateway has been paused since /);
  expect(stdout).toContain('To fix this: trunkline resume\n');
  expect((await home.run(['doctor', '--text'])).stdout).toMatch(/paused since .*\n.*→ trunkline resume/);
  await home.json(['resume']);
  expect((await home.run(['why', 'plain__echo', '--text'])).stdout).toMatch(/^plain__echo {2}usable\n/);
});

test('paused gateway: rejects calls until it is resumed', async () => {
  await home.json(['pause']);
  const { code, stderr } = await home.run(['call', 'plain__echo', 'text=x']);
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('PAUSED') as string });
  await home.json(['resume']);
  expect((await home.run(['call', 'plain__echo', 'text=x', '--text'])).stdout).toBe('x\n');
});

test('pause: reaches a gateway that was started with another environment', async () => {
  const env = { TRUNKLINE_TOKENS_ANOTHER: 'x' };
  await home.json(['pause'], { env });
  expect(await home.json(['status'])).toHaveProperty('pausedSince');
  await home.json(['resume'], { env });
  expect(await home.json(['status'])).not.toHaveProperty('pausedSince');
});

test('why: names the setting that fixes a missing program, and suggests no refresh for unknown names', async () => {
  await home.run(['refresh', 'gone']);
  expect(await home.json(['why', 'gone'])).toMatchObject({
    verdict: 'unreachable',
    fixes: [expect.stringMatching(/^Install it .*: trunkline edit gone$/)],
  });
  const { stdout } = await home.run(['why', 'nobody__knows', '--text']);
  expect(stdout).toContain('There is no server with this name');
  expect(stdout).not.toContain('refresh');
});

test('invalid entry: doctor warns with a fix, and the log names its position', async () => {
  writeFileSync(home.configFile, JSON.stringify({ mcpServers: { ...servers, odd: { comand: 'x' } } }));
  await eventually(() => /config\.jsonc:\d+:\d+/.test(gateway.stderr()), { what: 'The place in the log' });
  const odd = commandHome({ odd: { comand: 'x' } }, { http: { address: '127.0.0.1:0' } });
  const { code, stdout } = await odd.run(['doctor', '--text']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/→ Correct it with: trunkline edit\n[^]*\n1 warning\.\n$/);
  writeFileSync(home.configFile, whole);
});

test(
  'project config: commands still reach its gateway after an untrusted change',
  { tags: ['slow'] },
  async () => {
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
  },
);
