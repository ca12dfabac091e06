import { describe, expect, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import { commandHome } from '../../support/command.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

describe('paused gateway', () => {
  test.each(['http/legacy', 'http/modern'] as const)(
    'paused gateway: rejects new calls over %s, finishes running ones and keeps listing',
    async (downstream) => {
      const cli = commandHome();
      await using line = await openTestSetup(
        { downstream, upstream: 'stdio/legacy' },
        { a: ['plain'] },
        { home: cli.home },
      );
      const { client } = line;
      await waitForTool(client, 'a__slow');
      const before = await client.listTools();
      const running = client.callTool('a__slow', { ms: 1500 });
      await line.logs['a']?.waitFor('call');
      expect(await cli.json(['pause'])).toMatchObject({ paused: true });
      const refused = await client.callTool('a__echo', { text: 'x' });
      expect(refused).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'PAUSED' } });
      expect(textOfResult(refused)).toContain('trunkline resume');
      await expect(client.request('prompts/get', { name: 'a__greet' })).rejects.toMatchObject({
        data: { code: 'PAUSED' },
      });
      expect(await client.listTools()).toEqual(before);
      expect((await running).isError).not.toBe(true);
      expect(await cli.json(['resume'])).toMatchObject({ paused: false });
      expect(textOfResult(await client.callTool('a__echo', { text: 'x' }))).toBe('x');
    },
  );

  test('paused gateway: stays paused across processes until it is resumed', async () => {
    const cli = commandHome({ plain: fixture('plain') });
    await cli.json(['pause']);
    const { code, stderr } = await cli.run(['call', 'plain__echo', 'text=x']);
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('PAUSED') as string });
    const pausedSince = expect.any(Number) as number;
    expect(await cli.json(['status'])).toMatchObject({ running: false, pausedSince });
    expect((await cli.run(['status', '--text'])).stdout).toMatch(
      /^No gateway is running for .*\nPaused since \d{4}-.*: calls are refused\. Continue: trunkline resume\n$/,
    );
    await cli.json(['resume']);
    expect(await cli.json(['status'])).toEqual({ running: false, config: cli.configFile });
    expect((await cli.run(['call', 'plain__echo', 'text=x', '--text'])).stdout).toBe('x\n');
  });

  test('paused gateway: is visible in the status and the audit log', async () => {
    const cli = commandHome();
    await using line = await openTestSetup(
      { downstream: 'http/legacy', upstream: 'stdio/legacy' },
      { a: ['plain'] },
      { home: cli.home },
    );
    await cli.json(['pause']);
    await line.client.callTool('a__echo', { text: 'x' });
    expect(await cli.json(['status'])).toMatchObject({ pausedSince: expect.any(Number) as number });
    expect((await cli.run(['status', '--text'])).stdout).toMatch(/^Paused since .*: trunkline resume$/m);
    const records = (await cli.json(['logs', '--limit', '10'])) as readonly object[];
    expect(records).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'config', action: 'pause', caller: 'cli' }),
        expect.objectContaining({ kind: 'tool', entry: 'echo', code: 'PAUSED' }),
      ]),
    );
    await cli.json(['resume']);
  });
});
