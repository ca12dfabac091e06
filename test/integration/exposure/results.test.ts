import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject, ToolResult } from '../../support/raw-messages.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

const searching = (results: JsonObject = {}): { args: string[]; config: JsonObject } => ({
  args: ['--expose', 'search'],
  config: { startup: { listWait: '60s' }, results: { maxTokens: 2_000, ...results } },
});

interface Place {
  readonly id: string;
  readonly next?: number;
}

function placeOf({ _meta: meta }: ToolResult): Place {
  return meta?.['trunkline/result'] as Place;
}

const big = (client: RawClient, name: string, count = 3_000): Promise<ToolResult> =>
  client.callTool('call_read_tool', { name: `one__${name}`, arguments: { count } });

/** Makes the call that the note in a result names, as a model would. */
async function goOn(client: RawClient, result: ToolResult): Promise<ToolResult> {
  const call = /read_result (\{[^}]*\})/.exec(result.content.at(-1)?.text ?? '')?.[1];
  return client.callTool('read_result', JSON.parse(call ?? 'null') as JsonObject);
}

/** Reads a stored result completely, and returns its blocks by position. */
async function whole(client: RawClient, id: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const page: ToolResult = await client.callTool('read_result', { id, offset });
    for (const { text = '', resource, _meta: meta } of page.content.slice(0, -1)) {
      const from = String((meta as JsonObject)['trunkline/from']);
      const more = (resource as { text: string } | undefined)?.text ?? text;
      texts.set(from, (texts.get(from) ?? '') + more);
    }
    offset = placeOf(page).next;
  }
  return texts;
}

const lines = (count: number): string =>
  Array.from({ length: count }, (_, at) => `line ${at} says "€ 🚀"\r\n`).join('');

scenario(
  'large result: is truncated, and read_result returns every byte of it',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['big-results'] }, searching());
    const { client } = line;
    expect((await client.listTools()).map(({ name }) => name)).toContain('read_result');
    const small = await big(client, 'lines', 10);
    expect(textOfResult(small)).toBe(lines(10));

    const cut = await big(client, 'lines');
    expect(cut.content[0]?.text).toMatch(/^line 0 says "€ 🚀"\r\nline 1 .*\r\n$/s);
    expect(textOfResult(cut).length).toBeLessThan(3_000);
    const shown = cut.content[0]?.text ?? '';
    const next = await goOn(client, cut);
    expect(lines(3_000).startsWith(shown + (next.content[0]?.text ?? 'x'))).toBe(true);
    expect((await whole(client, placeOf(cut).id)).get('/content/0/text')).toBe(lines(3_000));

    const records = await big(client, 'records', 500);
    expect(records.content[0]?.text).toMatch(/^\{"total":500,"items":\[\{"id":0,.*\},$/s);
    const all = (await whole(client, placeOf(records).id)).get('/content/0/text') ?? '';
    expect((JSON.parse(all) as { items: unknown[] }).items).toHaveLength(500);
    const one = await client.callTool('read_result', { id: placeOf(records).id, offset: 301, limit: 1 });
    expect(one.content[0]?.text).toMatch(/^\{"id":300,"title":"Issue 300",.*\},$/);

    const long = await big(client, 'one-line', 20_000);
    expect((await whole(client, placeOf(long).id)).get('/content/0/text')).toBe('0123456789€'.repeat(20_000));
  },
);

scenario(
  'large result: keeps its images, structured content and error flag readable',
  { downstream: everyLeg },
  async (cell) => {
    const expose = { kind: 'search', pin: ['one__structured'] };
    const { config } = searching();
    await using line = await cell.open({ one: ['big-results'] }, { args: [], config: { ...config, expose } });
    const { client } = line;
    const failure = await big(client, 'failure');
    expect(failure).toMatchObject({ isError: true, _meta: { 'example.com/a': 1 } });
    expect(gatewayErrorCode(failure)).toBeUndefined();

    const structured = await big(client, 'structured', 500);
    expect(structured).not.toHaveProperty('structuredContent');
    const parts = await whole(client, placeOf(structured).id);
    expect(JSON.parse(parts.get('/structuredContent') ?? '')).toEqual(
      JSON.parse(parts.get('/content/0/text') ?? 'x'),
    );
    // Under its own name the tool has an output schema, and clients validate the result.
    const own = await client.callTool('one__structured', { count: 500 });
    expect(own.structuredContent).toHaveProperty('items.499');

    const mixed = await big(client, 'mixed', 2_000);
    const [text, small, resource] = mixed.content;
    expect(text?.type).toBe('text');
    expect(small).toMatchObject({ type: 'image', mimeType: 'image/gif' });
    expect(resource).toMatchObject({ type: 'resource', resource: { uri: 'fixture://log' } });
    const note = mixed.content.at(-1)?.text ?? '';
    expect(note).not.toMatch(/[\w+/]{100}/);
    const [, call = 'null'] =
      /content\[\d+\] \(image\/png, 30 kB\) was left out: read_result (\{.*?\}) gives/.exec(note) ?? [];
    const image = await client.callTool('read_result', JSON.parse(call) as JsonObject);
    expect(image.content[0]).toMatchObject({ type: 'image', mimeType: 'image/png' });
    expect(String(image.content[0]?.['data'])).toHaveLength(40_000);
    const texts = await whole(client, placeOf(mixed).id);
    expect(texts.get('/content/2/resource/text')).toBe(lines(2_000));
  },
);

scenario(
  'large result: can be searched by text and by regular expression',
  { slow: true, downstream: ['stdio/legacy', 'http/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['big-results'] }, searching());
    const { client } = line;
    const { id } = placeOf(await big(client, 'lines'));
    const find = async (wanted: string, more: JsonObject = {}): Promise<string> =>
      textOfResult(await client.callTool('read_result', { id, find: wanted, ...more }));
    expect(await find('LINE 2718 ')).toMatch(/^2718: line 2718 says "€ 🚀"\n\[1 of 1 matches/);
    expect(await find('/^line 12[34] /', { limit: 1 })).toMatch(
      /^123: line 123 .*\n\[1 of 2 matches; continue with/,
    );
    expect(await find('nowhere')).toContain('Nothing matches');
    const slow = client.callTool('read_result', { id, find: '/^(.*)*(.*)*(.*)*$x/s' });
    // Other calls are answered while an expression runs.
    expect(await find('/line 77 /')).toContain('77: line 77');
    expect(gatewayErrorCode(await slow)).toBe('ARGUMENTS_INVALID');
    for (const wrong of [{ id: 5 }, { id, offset: -1 }, { id, limit: 0 }, { id, find: '/(/' }]) {
      expect(gatewayErrorCode(await client.callTool('read_result', wrong))).toBe('ARGUMENTS_INVALID');
    }
  },
);

scenario(
  'large result: is stored within limits of size and time, and truncation can be disabled',
  { slow: true, downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(
      { one: ['big-results'] },
      searching({ keepFor: '1s', maxBytes: 1_048_576 }),
    );
    const { client } = line;
    const unknown = await client.callTool('read_result', { id: 'r_AAAAAAAAAAAAAAAA' });
    expect(gatewayErrorCode(unknown)).toBe('ENTRY_NOT_FOUND');
    expect(textOfResult(unknown)).toContain('There is no result');
    const { id } = placeOf(await big(client, 'lines'));
    const isGone = async (): Promise<boolean> => {
      // Every read restarts the expiry, so wait for longer than the expiry without reading.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      return textOfResult(await client.callTool('read_result', { id })).includes('is no longer stored');
    };
    await eventually(isGone, { what: 'The end of a kept result', withinMs: 10_000 });
    const first = placeOf(await big(client, 'lines', 20_000));
    await big(client, 'lines', 20_000);
    await big(client, 'lines', 20_000);
    expect(textOfResult(await client.callTool('read_result', { id: first.id }))).toContain(
      'is no longer stored',
    );
    const lost = await big(client, 'lines', 60_000);
    expect(textOfResult(lost)).toContain('results.maxBytes');
    expect(textOfResult(lost).length).toBeLessThan(3_000);

    await using off = await cell.open({ one: ['big-results'] }, searching({ maxTokens: 0 }));
    expect((await off.client.listTools()).map(({ name }) => name)).not.toContain('read_result');
    expect(textOfResult(await big(off.client, 'lines'))).toBe(lines(3_000));
  },
);

scenario(
  'select: answers only the selected part, and explains a failure without calling the tool again',
  { downstream: ['stdio/modern'] },
  async (cell) => {
    const settings = searching();
    const entry = { tools: { select: { 'one-*': 'data.slice(0, 5)' } } };
    await using line = await cell.open({ one: ['big-results'] }, { ...settings, entries: { one: entry } });
    const { client } = line;
    const call = (name: string, select?: string, count = 500): Promise<ToolResult> =>
      client.callTool('call_read_tool', { name: `one__${name}`, arguments: { count }, select });
    const selected = await call('records', 'data.items.filter((x) => x.id > 497).map(({ id }) => ({ id }))');
    expect(selected).toMatchObject({ content: [{ type: 'text', text: '[{"id":498},{"id":499}]' }] });
    expect(selected.content).toHaveLength(1);
    expect(textOfResult(await call('records', '{ total: data.total }'))).toBe('{"total":500}');
    expect(textOfResult(await call('structured', 'd => d.items.length'))).toBe('500');
    expect(textOfResult(await call('lines', 'data.split("\\r\\n")[7]'))).toBe('line 7 says "€ 🚀"');
    // The configuration selects for this tool, unless the call does.
    expect(textOfResult(await call('one-line'))).toBe('01234');
    expect(textOfResult(await call('one-line', 'data.length', 10))).toBe('110');

    const failed = await call('records', 'data.filter((x) => x.id > 497)');
    expect(failed.isError).toBeUndefined();
    const note = textOfResult(failed);
    expect(note).toMatch(
      /^\[select failed: TypeError: not a function\. The call itself succeeded: do not repeat it\./,
    );
    expect(note).toContain(
      'data is {total: number, items: {id: number, title: string, body: string}[] (500)}.',
    );
    const { id } = placeOf(failed);
    const again = (select: string): Promise<ToolResult> => client.callTool('read_result', { id, select });
    expect(textOfResult(await again('data.items.at(-1).title'))).toBe('Issue 499');
    expect(textOfResult(await again('data.items.filter((x) => x.closed)'))).toMatch(
      /^\[select returned \[\]\. data is/,
    );
    expect(textOfResult(await again('for (;;) {}'))).toContain('it needed too much time and was stopped');
    expect(textOfResult(await again('"x".repeat(1e9)'))).toContain('select failed');
    expect(textOfResult(await again('tools.one.records({})'))).toContain('select cannot call tools');
    // A small result is shown although the selection failed.
    expect(textOfResult(await call('records', 'nope', 1))).toContain('"title":"Issue 0"');
    // Errors of a tool pass unchanged.
    expect((await call('failure', 'data.length', 2)).content[0]?.text).toBe(lines(2));
    const wrong = await client.callTool('call_read_tool', { name: 'one__records', arguments: {}, select: 5 });
    expect(gatewayErrorCode(wrong)).toBe('ARGUMENTS_INVALID');
  },
);
