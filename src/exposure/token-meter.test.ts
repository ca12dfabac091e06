import { expect, test, vi } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { ServerFacts } from '../core/server-facts.ts';
import { Payload } from '../core/lib/payload.ts';
import { directExposure } from './direct-exposure.ts';
import type { Exposure, ExposureContext } from './exposure.ts';
import { TokenMeter } from './token-meter.ts';
import type { ToolListTokens } from './token-meter.ts';
import { estimateTokens } from './estimate-tokens.ts';

const answer = Payload.of({ content: [{ type: 'text', text: 'files__read finds it' }] });
const searching: Exposure = {
  kind: 'search',
  dependsOnListings: false,
  instructions: () => 'Search.',
  tools: () => [],
  digest: () => '',
  callTool: () => Promise.resolve(answer),
};
const menu = Payload.of({ tools: [{ name: 'search_tools' }] });
const facts = { info: { name: 'files' } } as unknown as ServerFacts; // The meter only checks whether facts exist.
const files = 'files' as UpstreamName;
const names = Array.from({ length: 120 }, (_, at) => `tool_${at}`);
const view = memoryView(names, { servers: [{ name: files, facts }] });

function opened() {
  const saved: ToolListTokens[] = [];
  const save = (counts: ToolListTokens): Promise<void> => Promise.resolve(void saved.push(counts));
  return { saved, meter: new TokenMeter({ save }) };
}

function call(exposure: Exposure, name: string, args: object, listOwner = 'client'): Promise<Payload> {
  const request = { params: { arguments: args } } as unknown as CallRequest; // The meter reads no other members.
  return exposure.callTool(name, request, { listOwner, view } as ExposureContext); // Nothing reads more of it.
}

test('token meter: counts the tokens of a short tool list and of the full list it replaces', async () => {
  const { meter, saved } = opened();
  meter.recordListing(() => view, searching, menu, 'client');
  meter.recordListing(() => view, searching, menu, 'client');
  await meter.flush();
  const whole = directExposure
    .tools(view)
    .reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0);
  expect(saved).toEqual([
    {
      whole: 2 * (whole + estimateTokens(directExposure.instructions(view))),
      menu: 2 * (estimateTokens(menu.text) + estimateTokens('Search.')),
      search: 0,
      lists: 2,
      searches: 0,
    },
  ]);
});

test('token meter: counts no savings when every tool is listed', async () => {
  const { meter, saved } = opened();
  meter.recordListing(
    () => view,
    directExposure,
    Payload.of({ tools: directExposure.tools(view) }),
    'client',
  );
  await meter.flush();
  expect(saved[0]?.menu).toBe(saved[0]?.whole);
  expect(meter.withMetering(directExposure)).toBe(directExposure);
});

test('token meter: counts search and describe calls only', async () => {
  const { meter, saved } = opened();
  const exposure = meter.withMetering(searching);
  expect(meter.withMetering(searching)).toBe(exposure);
  meter.recordListing(() => view, searching, menu, 'client');
  await meter.flush();
  saved.length = 0;
  const question = { query: 'read a file' };
  expect(await call(exposure, 'search_tools', question)).toBe(answer);
  await call(exposure, 'describe_tools', question);
  await call(exposure, 'call_read_tool', question);
  await meter.flush();
  const once = estimateTokens(JSON.stringify(question)) + estimateTokens(answer.text);
  expect(saved).toEqual([{ whole: 0, menu: 0, search: 2 * once, lists: 0, searches: 2 }]);
});

test('token meter: compares a client that only searches with one full list, once', async () => {
  const { meter, saved } = opened();
  meter.recordListing(() => view, searching, menu, 'lists');
  await meter.flush();
  const exposure = meter.withMetering(searching);
  await call(exposure, 'search_tools', { query: 'read' }, 'lists');
  await call(exposure, 'search_tools', { query: 'read' }, 'only searches');
  await call(exposure, 'search_tools', { query: 'write' }, 'only searches');
  await meter.flush();
  expect(saved[1]).toMatchObject({ whole: saved[0]!.whole, menu: 0, lists: 0, searches: 3 });
});

test('token meter: reads only the beginning of a long query', async () => {
  const { meter, saved } = opened();
  const query = 'read a file '.repeat(100_000);
  await call(meter.withMetering(searching), 'search_tools', { query });
  const read = vi.spyOn(String.prototype, 'charCodeAt');
  await meter.flush();
  const characters = read.mock.calls.length;
  read.mockRestore();
  expect(characters).toBeLessThan(200_000);
  const exact = estimateTokens(JSON.stringify({ query })) + estimateTokens(answer.text);
  expect(saved[0]!.search / exact).toBeCloseTo(1, 2);
});

test('token meter: saves nothing without activity and the rest on dispose', async () => {
  const { meter, saved } = opened();
  await meter.flush();
  expect(saved).toEqual([]);
  meter.recordListing(() => view, searching, menu, 'client');
  await meter[Symbol.asyncDispose]();
  expect(saved).toHaveLength(1);
});

test('token meter: waits for unlisted servers, except on dispose', async () => {
  const { meter, saved } = opened();
  let current = memoryView([], { servers: [{ name: files }] });
  meter.recordListing(() => current, searching, menu, 'client');
  await meter.flush();
  expect(saved).toEqual([]);
  current = view;
  await meter[Symbol.asyncDispose]();
  expect(saved[0]?.whole).toBeGreaterThan(1000);
});
