import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type CommandResult, commandHome } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { runInTerminal, waitForText } from '../../support/terminal.ts';

checkLeaks();

// The same commands, with and without a running gateway.
const servers = {
  plain: { ...fixture('plain'), tools: { deny: ['crash'] } },
  structured: fixture('structured'),
  asks: fixture('asks-the-user'),
  broken: { command: 'no-such-program-of-ours' },
  unset: { ...fixture('plain'), env: { TOKEN: '${env:NOT_SET_ANYWHERE_AT_ALL}' } },
  held: { ...fixture('plain'), trust: 'manual' },
};
const log = fixtureLog(servers.plain);
const home = commandHome(servers);
const lines: readonly (readonly string[])[] = [
  ['tools'],
  ['tools', '--json'],
  ['tools', 'plain', '--text'],
  ['tools', 'broken'],
  ['prompts'],
  ['resources'],
  ['search', 'add two numbers'],
  ['describe', 'plain__echo'],
  ['describe', 'plain', 'nothing'],
  ['call', 'plain__echo', 'text=hello'],
  ['call', 'plain', 'add', 'a=1', 'b=2', '--text'],
  ['call', 'plain__everything-content'],
  ['call', 'plain__big', 'bytes=300000'],
  ['call', 'plain__fail'],
  ['call', 'plain__rpc-error', '--json'],
  ['call', 'plain__add', '{"a":1}'],
  ['call', 'plain__slow', 'ms=60000', '--timeout', '200ms'],
  ['call', 'plain__crash'],
  ['call', 'plain__progress', 'steps=3'],
  ['call', 'asks__ask-form'],
  ['prompt', 'plain__greet', 'name=Ada'],
  ['prompt', 'plain__nothing'],
  ['read', 'fixture://blob'],
  ['read', 'nothing://here'],
  ['why', 'plain__crash'],
  ['why', 'nobody__knows'],
  ['preflight', 'plain__crash'],
  ['why', 'broken'],
  ['why', 'unset'],
  ['why', 'held__echo'],
  ['preflight', 'broken__x'],
  ['preflight', 'unset__x', 'held__x'],
  ['call', 'plain__echo', 'foo', '{}'],
  ['restart', 'plian'],
];
const alone = new Map<readonly string[], CommandResult>();
let serversAlone: unknown;
let gateway: RunningGateway;

beforeAll(async () => {
  // First, before any server is listed.
  serversAlone = await home.json(['servers']);
  for (const line of lines) alone.set(line, await home.run(line));
  gateway = await startGateway({ mcpServers: servers, home: home.home, listen: 'http' });
  await home.json(['refresh', 'plain']);
}, lines.length * 10_000);

afterAll(() => gateway[Symbol.asyncDispose]());

describe('running gateway', () => {
  test.each(lines.map((line) => ({ line })))(
    'running gateway: $line prints the same as without a gateway',
    async ({ line }) => {
      expect(await home.run(line)).toEqual(alone.get(line));
    },
  );

  test('running gateway: servers shows the same failed and held servers as without a gateway', async () => {
    const told = ['broken', 'unset', 'held'];
    const states = (all: unknown): unknown =>
      (all as { name: string; state: string; problem?: object }[])
        .filter(({ name }) => told.includes(name))
        .map(({ name, state, problem }) => ({ name, state, problem }));
    const without = states(serversAlone);
    expect(states(await home.json(['servers']))).toEqual(without);
    expect(without).toMatchObject([
      { name: 'broken', state: 'failed', problem: { code: 'UPSTREAM_REFUSED' } },
      { name: 'unset', state: 'failed', problem: { code: 'SECRET_MISSING' } },
      { name: 'held', state: 'held', problem: { code: 'QUARANTINED' } },
    ]);
  });

  test('running gateway: starts a server once for all commands', async () => {
    const pids = new Set<unknown>();
    for (let count = 0; count < 3; count++)
      pids.add((await home.run(['call', 'plain__pid', '{}', '--text'])).stdout);
    const [only] = [...pids].map((text) => (JSON.parse(String(text)) as { pid: number }).pid);
    expect(log.of('started').at(-1)?.pid).toBe(only);
    expect(pids.size).toBe(1);
  });

  test('running gateway: servers shows states, and restart replaces the process', async () => {
    const state = async (): Promise<{ state: string; pid: number } | undefined> =>
      ((await home.json(['servers'])) as { name: string; state: string; pid: number }[]).find(
        ({ name }) => name === 'plain',
      );
    const before = await state();
    expect(before?.state).toBe('ready');
    const { code, stderr } = await home.run(['restart', 'plain']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const after = await state();
    expect(after?.state).toBe('ready');
    expect(after?.pid).not.toBe(before?.pid);
  });

  test('running gateway: status shows its start time and pending approvals', async () => {
    const { stdout } = await home.run(['status', '--text']);
    expect(stdout).toMatch(/\nsince +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n/);
    expect(stdout).toContain('Held for approval: 1 server. Review with: trunkline approvals');
  });

  test('running gateway: doctor asks it instead of starting a server', async () => {
    const started = log.of('started').length;
    const { code, stdout } = await home.run(['doctor']);
    // A missing reference in the configuration outranks a failing server.
    expect(code).toBe(3);
    const { findings } = JSON.parse(stdout) as { findings: { subject: string; status: string }[] };
    expect(findings).toEqual(
      expect.arrayContaining([expect.objectContaining({ subject: 'plain', status: 'ok' })]),
    );
    expect(log.of('started')).toHaveLength(started);
  });

  test('running gateway: an elicitation reaches the user at the terminal', { tags: ['expect'] }, async () => {
    const { code, screen } = await runInTerminal(home, ['call', 'asks__ask-form'], {
      script: ['expect "Answer?"', 'send "\\r"', 'expect "name:"', 'send "Ada\\r"'],
    });
    expect(code).toBe(0);
    expect(screen).toContain('{"action":"accept","content":{"name":"Ada"}}');
  });

  test(
    'running gateway: Ctrl-C cancels the call at the server, and the gateway keeps serving',
    { tags: ['expect'] },
    async () => {
      const cancelled = log.of('cancelled').length;
      const { code } = await runInTerminal(home, ['call', 'plain__slow', 'ms=60000', 'text=interrupted'], {
        script: [waitForText(log.file, 'interrupted'), 'send "\\003"'],
      });
      expect(code).toBe(130);
      await log.waitFor(() => log.of('cancelled').length > cancelled);
      expect(await home.run(['call', 'plain__echo', 'text=still', '--text'])).toMatchObject({
        stdout: 'still\n',
      });
    },
  );
});
