import { describe, expect, test } from 'vitest';

import { connectDirectly } from './direct-connection.ts';
import { checkLeaks } from './leak-check.ts';

checkLeaks();

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const form = { action: 'accept', content: { name: 'Ada' } };

describe.each(['stdio', 'http', 'sse'] as const)('legacy asking fixture over %s', (over) => {
  test('legacy fixture: sends server requests on the stream of the call', async () => {
    await using direct = await connectDirectly('asks-the-user', [], { over, era: 'legacy', capabilities });
    const { client, log } = direct;
    client.answers('elicitation/create', () => form);
    client.answers('sampling/createMessage', () => ({
      role: 'assistant',
      content: { type: 'text', text: 'Paris' },
    }));
    client.answers('roots/list', () => ({ roots: [] }));
    const { content } = await client.callTool('ask-all', { mark: 'm' });
    const said: unknown = JSON.parse(content[0]?.text ?? '');
    expect(said).toMatchObject({ mark: 'm', answers: [{ name: form, roots: { roots: [] } }] });
    expect(log.of('asked')).toHaveLength(3);
    expect(log.violations()).toEqual([]);
  });

  test('legacy fixture: sends no request that the client cannot answer', async () => {
    await using direct = await connectDirectly('asks-the-user', [], { over, era: 'legacy' });
    const result = await direct.client.callTool('ask-form');
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'The client does not support elicitation.' }],
    });
  });

  test('legacy fixture: can send a request outside of a call', async () => {
    await using direct = await connectDirectly('asks-the-user', [], { over, era: 'legacy', capabilities });
    direct.client.answers('elicitation/create', () => form);
    await direct.client.listen();
    await direct.client.callTool('ask-later');
    expect(
      await direct.client.requests.waitFor(({ method }) => method === 'elicitation/create'),
    ).toBeDefined();
  });
});

describe.each(['stdio', 'http'] as const)('modern asking fixture over %s', (over) => {
  test('modern fixture: asks in rounds with the answers so far in the request state', async () => {
    await using direct = await connectDirectly('asks-the-user', [], { over, era: 'modern', capabilities });
    const { client, log } = direct;
    const call = { name: 'ask-twice', arguments: { mark: 'm' } };
    const first = await client.request('tools/call', call);
    const question = { method: 'elicitation/create' };
    expect(first).toMatchObject({ resultType: 'input_required', inputRequests: { name: question } });
    const second = await client.request('tools/call', {
      ...call,
      inputResponses: { name: form },
      requestState: first['requestState'],
    });
    expect(second).toMatchObject({ resultType: 'input_required', inputRequests: { town: question } });
    const last = await client.request('tools/call', {
      ...call,
      inputResponses: { town: form },
      requestState: second['requestState'],
    });
    expect(last).toMatchObject({ resultType: 'complete', content: [{ type: 'text' }] });
    expect(JSON.stringify(last)).toContain('town');
    expect(log.violations()).toEqual([]);
  });

  test('modern fixture: rejects a forged request state and a client without the capability', async () => {
    await using direct = await connectDirectly('asks-the-user', [], { over, era: 'modern', capabilities });
    const spoilt = {
      name: 'ask-form',
      arguments: {},
      inputResponses: { name: form },
      requestState: 'spoilt',
    };
    await expect(direct.client.request('tools/call', spoilt)).rejects.toMatchObject({ code: -32602 });
    await using mute = await connectDirectly('asks-the-user', [], { over, era: 'modern' });
    await expect(mute.client.callTool('ask-form')).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: {} } },
    });
  });
});
