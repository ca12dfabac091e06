import { readdirSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { fixture } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

/** Starts two gateways over HTTP, one after the other, with the same configuration. */
async function twoGateways() {
  const mcpServers = { plain: fixture('plain') };
  const home = new SharedHome({ mcpServers });
  const start = (): Promise<RunningGateway> => startGateway({ mcpServers, home: home.home, listen: 'http' });
  const first = await start();
  const second = await start();
  return {
    home,
    first,
    second,
    json: async (...args: readonly string[]): Promise<unknown> =>
      JSON.parse((await home.command(...args, '--config', first.configFile)).stdout),
    text: async (...args: readonly string[]): Promise<string> =>
      (await home.command(...args, '--config', first.configFile, '--text')).stdout,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

describe('two gateways of one configuration', () => {
  test('two gateways: are both reported by status and doctor', { tags: ['slow'] }, async () => {
    await using both = await twoGateways();
    const { first, second } = both;
    const other = { pid: first.pid, kind: 'http', url: first.url };
    expect(await both.json('status')).toMatchObject({ pid: second.pid, others: [other] });
    expect(await both.text('status')).toContain(
      `Another gateway runs over HTTP, process ${first.pid}, at ${first.url}.`,
    );
    expect(await both.json('doctor')).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          subject: `process ${first.pid}`,
          message: 'another gateway of this configuration runs over HTTP, with its own servers',
        }),
      ]) as unknown,
    });
  });

  test('two gateways: are stopped one by one, and stop names the remaining one', async () => {
    await using both = await twoGateways();
    const { first, second, home } = both;
    expect(await both.text('stop')).toMatch(
      new RegExp(`^Stopped the gateway of .*\\. Another gateway is still running: process ${first.pid}\\n$`),
    );
    expect(await second.exited).toMatchObject({ code: 0 });
    const status = await both.json('status');
    expect(status).toMatchObject({ running: true, pid: first.pid });
    expect(status).not.toHaveProperty('others');
    expect(await both.json('stop')).toEqual({ stopped: true, config: first.configFile, pid: first.pid });
    expect(await first.exited).toMatchObject({ code: 0 });
    expect(await both.json('stop')).toMatchObject({ stopped: false });
    expect(readdirSync(home.run)).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'two gateways: keep serving clients when the second ends by %s',
    async (signal) => {
      await using both = await twoGateways();
      const { first, second, home } = both;
      second.signal(signal);
      await second.exited;
      const client = await (await home.pipe()).client();
      expect(await client.callTool('plain__echo', { text: 'x' })).toMatchObject({
        content: [{ text: 'x' }],
      });
      expect(home.gateways()).toEqual([]);
      expect(await both.json('status')).toMatchObject({ pid: first.pid, clients: 1 });
      await client.close();
      // The next start removes the files of a crashed gateway.
      await (await startGateway({ mcpServers: {}, home: home.home, listen: 'http' })).stop();
    },
  );
});
