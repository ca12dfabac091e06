import { expect } from 'vitest';

import { failureOf, said } from '../../support/asking.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { JsonObject, ToolResult } from '../../support/raw-messages.ts';
import { verifies } from '../verifies.ts';

checkLeaks();

const patient = { config: { startup: { listWait: '10s' } } };
const capabilities = { elicitation: { form: {}, url: {} } };
const page = { mode: 'url', url: 'https://example.com/consent', message: 'Agree first.' };
const params = { name: 'one__visit-first', arguments: {} };

const answering = (asked: JsonObject, action: string): JsonObject => ({
  ...params,
  requestState: asked['requestState'],
  inputResponses: Object.fromEntries(
    Object.keys(asked['inputRequests'] as object).map((key) => [key, { action }]),
  ),
});

verifies('questions:page-first', async (cell) => {
  await using line = await cell.open({ one: ['dialect'] }, { ...patient, capabilities });
  const { client } = line;
  if (client.era === 'modern') {
    const asked = await client.request('tools/call', params);
    expect(asked).toMatchObject({ resultType: 'input_required' });
    expect(Object.values(asked['inputRequests'] as object)).toEqual([
      { method: 'elicitation/create', params: page },
    ]);
    expect(said((await client.request('tools/call', answering(asked, 'accept'))) as ToolResult)).toBe(
      'visited',
    );
  } else if (cell.upstream.endsWith('modern')) {
    client.answers('elicitation/create', () => ({ action: 'accept' }));
    expect(said(await client.callTool(params.name))).toBe('visited');
    // Older clients know pages by their ids.
    const { params: shown } = client.requests.all[0]!;
    expect(shown).toEqual({ ...page, elicitationId: expect.any(String) as string });
  } else {
    expect(await failureOf(client.callTool(params.name))).toMatchObject({
      code: -32042,
      data: { elicitations: [page] },
    });
    expect(said(await client.callTool(params.name))).toBe('visited');
  }
});

verifies('questions:page-first:refused', async (cell) => {
  await using line = await cell.open({ one: ['dialect'] }, { ...patient, capabilities });
  const asked = await line.client.request('tools/call', params);
  expect(await line.client.request('tools/call', answering(asked, 'decline'))).toMatchObject({
    isError: true,
    _meta: { 'trunkline/code': 'QUESTION_DECLINED' },
  });
  expect(line.logs['one']?.of('call')).toHaveLength(1);
  // One that shows forms only is told what it lacks.
  await using other = await cell.open(
    { one: ['dialect'] },
    { ...patient, capabilities: { elicitation: { form: {} } } },
  );
  expect(await failureOf(other.client.request('tools/call', params))).toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { elicitation: { url: {} } } },
  });
});
