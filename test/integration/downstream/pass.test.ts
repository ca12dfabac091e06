import { expect } from 'vitest';

import { rpcErrorOf, waitForTool } from '../../support/client-helpers.ts';
import { connectDirectly } from '../../support/direct-connection.ts';
import { type ExactObject, listExactly, requestExactly } from '../../support/exact-results.ts';
import type { Preset } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

/** The tools of the server of that name. */
const structured = [
  'fits',
  'has-more',
  'does-not-fit',
  'is-missing',
  'only-structured',
  'is-an-array',
  'is-null',
  'has-references',
];
const patient = { config: { startup: { listWait: '60s' } } };

scenario(
  'pass-through: content of every kind keeps its exact values and unknown fields',
  { downstream: everyLeg, upstream: everyLeg, pairing: 'every' },
  async (cell) => {
    const call = { arguments: {}, name: 'everything-content' };
    const expected = await directly('plain', 'content', (client) =>
      requestExactly(client, 'tools/call', call),
    );
    expect(expected.size).toBe(4);
    await using line = await cell.open({ one: ['plain'] });
    const passed = await requestExactly(line.client, 'tools/call', {
      ...call,
      name: 'one__everything-content',
    });
    expect(passed).toEqual(expected);
  },
);

scenario(
  'pass-through: tool definitions keep every field, known or unknown',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    const names = ['tools', 'name'] as const;
    await using line = await cell.open({ one: ['plain'], two: ['structured'] }, patient);
    await waitForTool(line.client, 'two__fits');
    const passed = await listExactly(line.client, 'tools/list', names);
    for (const [server, preset] of [
      ['one', 'plain'],
      ['two', 'structured'],
    ] as const) {
      const expected = await directly(preset, 'tools', (client) => listExactly(client, 'tools/list', names));
      expect(expected.size).toBeGreaterThan(5);
      for (const [name, definition] of expected) {
        const exposed = `${server}__${name}`;
        expect(passed.get(exposed), exposed).toEqual(withMember(definition, 'name', exposed));
      }
    }
  },
);

scenario(
  'pass-through: structured results are unchanged, even if they violate the output schema',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['structured'] });
    const resultsOf = async (client: RawClient, prefix: string) => {
      const results = new Map<string, ExactObject>();
      for (const name of structured)
        results.set(name, await requestExactly(client, 'tools/call', { name: prefix + name }));
      return results;
    };
    const expected = await directly('structured', 'results', (client) => resultsOf(client, ''));
    expect(expected.get('only-structured')?.get('structuredContent')).toBeDefined();
    expect(await resultsOf(line.client, 'one__')).toEqual(expected);
  },
);

scenario(
  'pass-through: prompts are listed and fetched unchanged',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, patient);
    const { client } = line;
    const names = ['prompts', 'name'] as const;
    const expected = await directly('plain', 'prompts', (direct) =>
      listExactly(direct, 'prompts/list', names),
    );
    const passed = await listExactly(client, 'prompts/list', names);
    expect([...passed.keys()]).toEqual(['one__bare', 'one__greet']);
    for (const [name, definition] of expected)
      expect(passed.get(`one__${name}`)).toEqual(withMember(definition, 'name', `one__${name}`));

    for (const request of [{ name: 'greet', arguments: { name: 'Ada "€" \u{1F680}' } }, { name: 'bare' }]) {
      const got = await directly('plain', request.name, (direct) =>
        requestExactly(direct, 'prompts/get', request),
      );
      expect(
        await requestExactly(client, 'prompts/get', { ...request, name: `one__${request.name}` }),
      ).toEqual(got);
    }
    const error = await rpcErrorOf(client.request('prompts/get', { name: 'one__gret' }));
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('one__greet') });
  },
);

scenario(
  'pass-through: resources and templates are listed and read unchanged',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, patient);
    const { client } = line;
    for (const [method, member, key] of [
      ['resources/list', 'resources', 'uri'],
      ['resources/templates/list', 'resourceTemplates', 'uriTemplate'],
    ] as const) {
      const expected = await directly('plain', method, (direct) =>
        listExactly(direct, method, [member, key]),
      );
      expect(expected.size).toBeGreaterThan(0);
      const passed = await listExactly(client, method, [member, key]);
      expect(passed).toEqual(expected);
    }
    for (const uri of ['fixture://text', 'fixture://blob', 'fixture://item/42']) {
      const expected = await directly('plain', uri, (direct) =>
        requestExactly(direct, 'resources/read', { uri }),
      );
      expect(await requestExactly(client, 'resources/read', { uri })).toEqual(expected);
    }
    // Each era has its own error code for a missing resource.
    const code = client.era === 'modern' ? -32602 : -32002;
    for (const uri of ['fixture://item/a/b', 'unknown://nowhere'])
      expect(await rpcErrorOf(client.request('resources/read', { uri }))).toMatchObject({ code });
  },
);

scenario(
  'pass-through: completion requests for prompts and templates reach the server',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, patient);
    const { client } = line;
    await client.request('prompts/list');
    const argument = { name: 'name', value: 'A' };
    const prompt = { type: 'ref/prompt', name: 'one__greet' };
    const template = { type: 'ref/resource', uri: 'fixture://item/{id}' };
    const complete = (params: Record<string, unknown>) => client.request('completion/complete', params);
    const names = ['Ada', 'Adele', 'Alan'];
    expect(await complete({ ref: prompt, argument })).toMatchObject({
      completion: { values: names, total: 3, hasMore: false },
    });
    // Arguments already filled in are passed along.
    const context = { arguments: { language: 'none' } };
    expect(await complete({ ref: prompt, argument, context })).toMatchObject({ completion: { values: [] } });
    expect(await complete({ ref: template, argument: { name: 'id', value: '1' } })).toMatchObject({
      completion: { values: ['1', '10', '11'] },
    });
    const seen = line.logs['one']?.of('complete').map(({ ref }) => ref);
    const own = { type: 'ref/prompt', name: 'greet' };
    expect(seen).toEqual([own, own, template]);
  },
);

const asked = new Map<string, Promise<unknown>>();

/** The answer of a fixture without a gateway; requested once for all cells. */
function directly<T>(preset: Preset, question: string, ask: (client: RawClient) => Promise<T>): Promise<T> {
  const key = `${preset} ${question}`;
  const answer = asked.get(key) ?? connectAndAsk(preset, ask);
  asked.set(key, answer);
  // A key always belongs to the same function, hence to the same type.
  return answer as Promise<T>;
}

async function connectAndAsk<T>(preset: Preset, ask: (client: RawClient) => Promise<T>): Promise<T> {
  await using direct = await connectDirectly(preset);
  return await ask(direct.client);
}

function withMember(object: ExactObject, key: string, value: unknown): ExactObject {
  return new Map([...object, [key, value] as const].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
