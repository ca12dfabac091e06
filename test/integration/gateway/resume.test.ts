import { expect } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sdkV1Client, sdkV2Client } from '../../support/sdk-clients.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

const call = { name: 'one__progress', arguments: { steps: 4, ms: 500 } };
const expected = { content: [{ type: 'text', text: '4 steps' }] };

// MCP 2025-11-25 basic/transports
scenario(
  'stream resumption: delivers the remaining events and the response after a broken stream',
  { slow: true, downstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    await waitForTool(line.client, 'one__progress');
    for (const connect of [
      async (url: string) => {
        const client = await sdkV1Client({ url });
        return {
          close: () => client.close(),
          // Without a schema, the SDK validates the result with its own.
          run: (onprogress: () => void) => client.callTool(call, undefined, { onprogress }),
        };
      },
      async (url: string) => {
        const client = await sdkV2Client({ url }, { era: 'legacy' });
        return {
          close: () => client.close(),
          run: (onprogress: () => void) => client.callTool(call, { onprogress }),
        };
      },
    ]) {
      await using proxy = await startTcpProxy();
      const client = await connect(proxy.forwardTo(line.gateway.url));
      let steps = 0;
      const result = await client.run(() => {
        steps += 1;
        if (steps === 1) proxy.cut();
      });
      expect(result).toMatchObject(expected);
      expect(steps).toBe(4);
      await client.close();
    }
    // The gateway never repeats a call, whatever happens to the connection.
    expect(line.logs['one']?.of('call')).toHaveLength(2);
    expect(line.logs['one']?.of('cancelled')).toEqual([]);
  },
);
