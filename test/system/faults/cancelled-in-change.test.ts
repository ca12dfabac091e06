import { expect, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const rounds = 20;

test('cancelled call: leaves the gateway working while a list is refreshed', async () => {
  await using gateway = await startGateway({ mcpServers: { one: fixture('plain') }, listen: 'http' });
  const client = await gateway.client();
  await waitForTool(client, 'one__slow');
  for (let round = 0; round < rounds; round += 1) {
    // The notification precedes the answer, so the gateway is already requesting the new list.
    await client.callTool('one__change-list');
    const cancel = new AbortController();
    const slow = client.callTool('one__slow', { ms: 60_000 }, { signal: cancel.signal });
    // By now the gateway has received the call, which waits for that list.
    await client.request('ping');
    cancel.abort();
    await expect(slow).rejects.toThrow('cancelled');
  }
  expect(textOfResult(await client.callTool('one__echo', { text: 'still here' }))).toBe('still here');
  await client.close();
});
