import { expect } from 'vitest';

import { rpcErrorOf, textOfResult } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { JsonObject, ToolResult } from '../../support/raw-messages.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

const patient = { config: { startup: { listWait: '60s' } } };
const capabilities = { elicitation: { form: {}, url: {} } };
const page = {
  mode: 'url',
  url: 'https://example.com/consent',
  message: 'Server "one" asks:\n> Agree first.',
};
const params = { name: 'one__visit-first', arguments: {} };

const answering = (asked: JsonObject, action: string): JsonObject => ({
  ...params,
  requestState: asked['requestState'],
  inputResponses: Object.fromEntries(
    Object.keys(asked['inputRequests'] as object).map((key) => [key, { action }]),
  ),
});

// MCP 2025-11-25 client/elicitation
scenario(
  "URL elicitation: is sent in the format of the client's protocol era",
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, { ...patient, capabilities });
    const { client } = line;
    if (client.era === 'modern') {
      const asked = await client.request('tools/call', params);
      expect(asked).toMatchObject({ resultType: 'input_required' });
      expect(Object.values(asked['inputRequests'] as object)).toEqual([
        { method: 'elicitation/create', params: page },
      ]);
      expect(
        textOfResult((await client.request('tools/call', answering(asked, 'accept'))) as ToolResult),
      ).toBe('visited');
    } else if (cell.upstream.endsWith('modern')) {
      client.answers('elicitation/create', () => ({ action: 'accept' }));
      expect(textOfResult(await client.callTool(params.name))).toBe('visited');
      // Legacy clients identify pages by their ids.
      const { params: shown } = client.requests.all[0]!;
      expect(shown).toEqual({ ...page, elicitationId: expect.any(String) as string });
    } else {
      expect(await rpcErrorOf(client.callTool(params.name))).toMatchObject({
        code: -32042,
        data: { elicitations: [page] },
      });
      expect(textOfResult(await client.callTool(params.name))).toBe('visited');
    }
  },
);

scenario(
  'URL elicitation: fails the call when the client declines it or cannot show URLs',
  { downstream: ['http/modern', 'stdio/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, { ...patient, capabilities });
    const asked = await line.client.request('tools/call', params);
    expect(await line.client.request('tools/call', answering(asked, 'decline'))).toMatchObject({
      isError: true,
      _meta: { 'trunkline/code': 'QUESTION_DECLINED' },
    });
    expect(line.logs['one']?.of('call')).toHaveLength(1);
    // A client that supports only forms receives the name of the missing capability.
    await using other = await cell.open(
      { one: ['dialect'] },
      { ...patient, capabilities: { elicitation: { form: {} } } },
    );
    expect(await rpcErrorOf(other.client.request('tools/call', params))).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    });
  },
);
