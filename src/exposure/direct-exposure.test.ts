import { describe, expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import { Payload } from '../core/lib/payload.ts';
import type { UpstreamName } from '../core/ids.ts';
import { chooseExposure } from './choose-exposure.ts';
import { directExposure } from './direct-exposure.ts';
import { OversizedResults } from './results/oversized-results.ts';

describe('direct exposure', () => {
  test('direct exposure: lists every tool under its exposed name with all other fields unchanged', () => {
    expect(directExposure.tools(memoryView(['b', 'a']))).toEqual([
      { description: 'Can b.', name: 'files__b', inputSchema: { type: 'object' }, extra: 1 },
      { description: 'Can a.', name: 'files__a', inputSchema: { type: 'object' }, extra: 1 },
    ]);
  });

  test('direct exposure: keeps the member order of definitions', () => {
    expect(Object.keys(directExposure.tools(memoryView())[0] ?? {})).toEqual([
      'description',
      'name',
      'inputSchema',
      'extra',
    ]);
  });

  test('direct exposure: forwards a call unchanged', async () => {
    const request = { params: { name: 'x' }, session: 's', cancellation: new Cancellation() };
    const payload = Payload.of({});
    const calls: unknown[] = [];
    const result = await directExposure.callTool('files__read', request, {
      caller: { id: 'local', via: 'stdio', profile: 'default' },
      view: memoryView(),
      listOwner: 'session',
      settled: () => Promise.resolve(memoryView()),
      reveal: () => {},
      callUntilResult: () => Promise.reject(new Error('Nobody does.')),
      call: (name, inner) => {
        calls.push([name, inner]);
        return Promise.resolve(payload);
      },
    });
    expect(calls).toEqual([['files__read', request]]);
    expect(result).toBe(payload);
  });

  test('direct exposure: truncates results only for clients that have no limit of their own', async () => {
    const estimate = (text: string): number => text.length;
    using results = new OversizedResults({
      maxTokens: 1_000,
      keepMs: 60_000,
      maxBytes: 1e6,
      estimate,
      now: Date.now,
    });
    const shared = { pin: [], callTools: 'tiers', reveal: false, results } as const;
    const choose = chooseExposure({ ...shared, kind: 'direct', directBudget: 0, shape: true });
    const view = memoryView();
    const long = Payload.of({ content: [{ type: 'text', text: 'words '.repeat(1_000) }] });
    const call = (client: string, name: string, args: object): Promise<Payload> =>
      choose(view, client).callTool(
        name,
        { params: { name, arguments: { ...args } }, session: 's', cancellation: new Cancellation() },
        {
          caller: { id: 'local', via: 'stdio', profile: 'default' },
          listOwner: 'session',
          view,
          settled: () => Promise.resolve(view),
          reveal: () => {},
          callUntilResult: () => Promise.reject(new Error('Nobody does.')),
          call: () => Promise.resolve(long),
        },
      );
    expect(await call('claude-code', 'files__read', {})).toBe(long);
    expect(choose(view, 'claude-code').tools(view)).toHaveLength(1);
    const cut = (await call('crush', 'files__read', {})).value as {
      _meta: { 'trunkline/result': { id: string } };
    };
    const { id } = cut._meta['trunkline/result'];
    expect((await call('crush', 'read_result', { id, find: 'words' })).text).toContain('of 8 matches');
    expect(
      choose(view, 'crush')
        .tools(view)
        .map(({ name }) => name),
    ).toEqual(['files__read', 'read_result']);
  });

  test('direct exposure: names the servers in its instructions', () => {
    expect(directExposure.instructions(memoryView())).toMatch(
      /name begins with the name of its server\.\n- files$/,
    );
  });
});

describe('server line in the instructions', () => {
  const facts = (info: object, instructions?: string) => ({
    era: 'legacy' as const,
    protocol: 'x',
    info: { ...info },
    capabilities: {},
    ...(instructions === undefined ? {} : { instructions }),
  });
  const name = 'a' as UpstreamName;
  const lineOf = (server: object): string | undefined =>
    directExposure
      .instructions(memoryView([], { servers: [{ name, ...server }] }))
      .split('\n')
      .at(-1);

  test("server line: prefers our description, then the server's title, then its instructions", () => {
    const said = facts({ title: 'Title' }, 'Instructions.');
    expect(lineOf({ description: 'Ours', facts: said })).toBe('- a: Ours');
    expect(lineOf({ facts: said })).toBe('- a: Title');
    expect(lineOf({ facts: facts({}, 'Instructions.') })).toBe('- a: Instructions.');
    expect(lineOf({ facts: facts({}) })).toBe('- a');
    expect(lineOf({})).toBe('- a');
  });

  test.each([
    ['the first line of the server text', '\n\n First line. \nSecond line.', '- a: First line.'],
    ['the first line for any line ending', 'First.\rSecond.', '- a: First.'],
    ['at most 120 characters', 'x'.repeat(500), `- a: ${'x'.repeat(120)}…`],
    ['only the name for blank text', '  \n ', '- a'],
  ])('server line: shows %s', (_, text, line) => {
    expect(lineOf({ facts: facts({}, text) })).toBe(line);
  });

  test('server line: never lets a server title start a new line', () => {
    for (const title of [5, null, {}, ['x']]) expect(lineOf({ facts: facts({ title }) })).toBe('- a');
    for (const end of ['\n', '\r', '\u2028', '\u2029', '\u0085', '\v', '\f']) {
      expect(lineOf({ facts: facts({ title: `Good${end}- b: Evil` }) })).toBe('- a: Good');
    }
  });
});
