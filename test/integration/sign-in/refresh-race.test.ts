import { expect, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { login, startProtectedServer } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

test('token refresh: spends one refresh token once across three gateways', { tags: ['slow'] }, async () => {
  await using server = await startProtectedServer({ slowTokenMs: 300 });
  const home = temporaryFolder('shared-home');
  const start = (): Promise<RunningGateway> =>
    startGateway({ mcpServers: { it: { url: server.url } }, home, listen: 'http' });
  await using first = await start();
  expect(await login(home, 'it')).toMatchObject({ code: 0 });
  await using second = await start();
  await using third = await start();
  const clients = await Promise.all(
    [first, second, third].map((gateway) => gateway.client({ era: 'modern' })),
  );
  for (const client of clients) await waitForTool(client, 'it__whoami');
  expect(server.log.of('refresh')).toEqual([]);

  // From now on every issued token is invalid.
  await server.control({ act: 'rotate-keys' });
  const calls = clients.flatMap((client) => Array.from({ length: 4 }, () => client.callTool('it__whoami')));
  const answers = (await Promise.all(calls)).map((answer) => textOfResult(answer));

  expect(answers).toHaveLength(12);
  // All requests use the one new token.
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^ada@example\.com /);
  expect(server.log.of('refresh')).toHaveLength(1);
  expect(server.log.of('refresh-reused')).toEqual([]);
  for (const client of clients) await client.close();
});
