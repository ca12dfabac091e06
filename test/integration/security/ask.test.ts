import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const rules = [{ id: 'ask-first', effect: 'ask', names: ['echo'] }];
const config = { startup: { listWait: '60s' }, policy: { rules, askWait: '20s' } };

test('ask rule: holds each call until a person approves or refuses it', async () => {
  const entry = fixture('plain');
  await using home = new SharedHome({ mcpServers: { one: entry }, config });
  const where = ['--config', join(home.home, 'config.jsonc')];
  const client = await (await home.pipe()).client();
  await waitForTool(client, 'one__echo');
  const waiting = (): Promise<string> =>
    eventually(
      async () => {
        const { stdout } = await home.command('approvals', '--json', ...where);
        const { calls } = JSON.parse(stdout) as { calls: readonly { id: string; arguments: unknown }[] };
        expect(calls).toMatchObject([{ name: 'one__echo', rule: 'ask-first', arguments: { text: 'a' } }]);
        return calls[0]!.id;
      },
      { withinMs: 10_000 },
    );
  const first = client.callTool('one__echo', { text: 'a' }, { withinMs: 20_000 });
  const id = await waiting();
  expect(fixtureLog(entry).of('call')).toHaveLength(0);
  expect((await home.command('approve', id, ...where)).code).toBe(0);
  expect(textOfResult(await first)).toBe('a');
  expect((await home.command('approve', id, ...where)).code).toBe(6);
  const second = client.callTool('one__echo', { text: 'a' }, { withinMs: 20_000 });
  expect((await home.command('approve', '--refuse', await waiting(), ...where)).code).toBe(0);
  expect(gatewayErrorCode(await second)).toBe('NOT_APPROVED');
  expect(fixtureLog(entry).of('call')).toHaveLength(1);
});

describe('gateway without an operator', () => {
  const start = (policy: object) =>
    startGateway({
      mcpServers: { one: fixture('plain') },
      config: { ...config, policy: { rules, ...policy } },
    });

  test('ask rule: rejects a call at once when no operator can be asked', async () => {
    await using gateway = await start({});
    const client = await gateway.client();
    await waitForTool(client, 'one__echo');
    const refused = await client.callTool('one__echo', { text: 'a' });
    expect(gatewayErrorCode(refused)).toBe('NOT_APPROVED');
    expect(textOfResult(refused)).toContain('nobody can be asked');
    await client.close();
  });

  test.each([
    ['accept', 'a'],
    ['decline', undefined],
  ])('ask rule: asks through the client if configured, whose user answers %s', async (action, text) => {
    await using gateway = await start({ askBy: ['client'] });
    const client = await gateway.client({ capabilities: { elicitation: {} } });
    client.answers('elicitation/create', () => ({ action, ...(action === 'accept' && { content: {} }) }));
    await waitForTool(client, 'one__echo');
    const result = await client.callTool('one__echo', { text: 'a' });
    if (text === undefined) expect(gatewayErrorCode(result)).toBe('NOT_APPROVED');
    else expect(textOfResult(result)).toBe(text);
    await client.close();
  });
});
