import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

interface Finding {
  readonly subject: string;
  readonly status: string;
  readonly message: string;
}

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly problem?: { readonly code: string; readonly message: string; readonly attempts?: number };
}

/** Both limits expire at the same time, as they do by default. */
const limits = { startup: { refresh: '1s' } };
const mute = () => ({ ...fixture('never-answers'), timeouts: { connect: '1s' } });
/** Long enough for another server to start on a busy machine. */
const longLimits = { startup: { refresh: '6s' } };
const longMute = () => ({ ...mute(), timeouts: { connect: '6s' } });

describe('silent server', () => {
  test.each([
    [['tools', 'mute']],
    [['call', 'mute', 'foo', '{}']],
    [['call', 'mute__foo', '{}']],
    [['describe', 'mute', 'foo']],
    [['prompt', 'mute', 'foo']],
    [['search', 'hello', '--server', 'mute']],
  ])('silent server: %j fails with UPSTREAM_UNAVAILABLE after the timeout', async (args) => {
    const home = commandHome({ mute: mute(), plain: fixture('plain') }, limits);
    const { code, stdout, stderr } = await home.run([...args, '--text']);
    expect(stderr).toMatch(
      /^trunkline: Server "mute" (?:was not ready|did not send its lists) within 1 s\b.*UPSTREAM_UNAVAILABLE/s,
    );
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  });

  test('silent server: tools, search and resources report it on stderr, list other servers and exit with 0', async () => {
    const commands = [
      [['tools'], 'plain__echo'],
      [['search', 'echo'], 'plain__echo'],
      [['resources'], 'fixture://text'],
    ] as const;
    await Promise.all(
      commands.map(async ([args, listed]) => {
        const home = commandHome({ mute: longMute(), plain: fixture('plain') }, longLimits);
        const { code, stdout, stderr } = await home.run([...args, '--text']);
        expect(stderr).toMatch(/Left out: Server "mute" (?:was not ready|did not send its lists) /);
        expect(stdout).toContain(listed);
        expect(code).toBe(0);
      }),
    );
  });

  test(
    'silent server: tools does not wait for its timeout if another listing is cached',
    { tags: ['slow'] },
    async () => {
      // `run` ends a command after 25 seconds.
      const slow = { ...fixture('never-answers'), timeouts: { connect: '10m' } };
      const config = { startup: { refresh: '10m' } };
      const home = commandHome({ mute: slow, plain: fixture('plain') }, config);
      await home.run(['tools', 'plain']);
      const { code, stdout, stderr } = await home.run(['tools', '--text']);
      expect(stderr).toContain(
        'Left out: Server "mute" has not sent its lists yet. Wait for it with: trunkline refresh mute',
      );
      expect(stdout).toContain('plain__echo');
      expect(code).toBe(0);
    },
  );

  test('silent server: doctor and refresh report it as a failure', async () => {
    const home = commandHome({ mute: longMute(), plain: fixture('plain') }, longLimits);
    const [{ code, stdout }, refresh] = await Promise.all([home.run(['doctor']), home.run(['refresh'])]);
    const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
    expect(findings.filter(({ status }) => status !== 'ok')).toMatchObject([
      { subject: 'mute', status: 'failure', message: expect.stringContaining('within 6 s') },
    ]);
    expect(code).toBe(4);
    expect(refresh).toMatchObject({ code: 4 });
  });

  test('silent server: a running gateway reports the failure, also while it retries', async () => {
    const config = { ...limits, http: { address: '127.0.0.1:0' } };
    await using gateway = await startGateway({ mcpServers: { mute: mute() }, listen: 'http', config });
    const home = commandHome({});
    const there = { env: { TRUNKLINE_HOME: gateway.home } };
    const { code, stderr } = await home.run(['call', 'mute', 'foo', '{}', '--text'], there);
    expect(stderr).toContain('UPSTREAM_UNAVAILABLE');
    expect(code).toBe(4);
    await eventually(async () => {
      const [shown] = (await home.json(['servers'], there)) as readonly Shown[];
      expect(shown).toMatchObject({ state: 'connecting', problem: { code: 'UPSTREAM_UNAVAILABLE' } });
      expect(shown?.problem?.attempts).toBeGreaterThan(0);
    });
    const { stdout } = await home.run(['doctor'], there);
    const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
    expect(findings.find(({ subject }) => subject === 'mute')).toMatchObject({ status: 'failure' });
  });
});
