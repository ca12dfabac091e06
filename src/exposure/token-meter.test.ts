import { expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import { Payload } from '../lib/payload.ts';
import { direct } from './direct.ts';
import type { Exposure, ExposureContext } from './exposure.ts';
import { TokenMeter } from './token-meter.ts';
import type { MenuTokens } from './token-meter.ts';
import { estimateTokens } from './tokens.ts';

const answer = Payload.of({ content: [{ type: 'text', text: 'files__read finds it' }] });
const searching: Exposure = {
  kind: 'search',
  instructions: () => 'Search.',
  tools: () => [],
  digest: () => '',
  callTool: () => Promise.resolve(answer),
};
const menu = Payload.of({ tools: [{ name: 'search_tools' }] });
const facts = { info: { name: 'files' } } as unknown as ServerFacts; // Only whether there are any is looked at.
const files = 'files' as UpstreamName;
const names = Array.from({ length: 120 }, (_, at) => `tool_${at}`);
const view = memoryView(names, { servers: [{ name: files, facts }] });

function opened() {
  const saved: MenuTokens[] = [];
  const save = (counts: MenuTokens): Promise<void> => Promise.resolve(void saved.push(counts));
  return { saved, meter: new TokenMeter({ save }) };
}

function call(exposure: Exposure, name: string, args: object): Promise<Payload> {
  const request = { params: { arguments: args } } as unknown as CallRequest; // All that is read of it.
  return exposure.callTool(name, request, {} as ExposureContext); // Nobody looks at it.
}

test('counts what a short menu cost, and what the whole one would have', async () => {
  const { meter, saved } = opened();
  meter.listed(() => view, searching, menu);
  meter.listed(() => view, searching, menu);
  await meter.saved();
  const whole = direct.tools(view).reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0);
  expect(saved).toEqual([
    {
      whole: 2 * (whole + estimateTokens(direct.instructions(view))),
      menu: 2 * (estimateTokens(menu.text) + estimateTokens('Search.')),
      search: 0,
      lists: 2,
      searches: 0,
    },
  ]);
});

test('where every tool is listed nothing was saved', async () => {
  const { meter, saved } = opened();
  meter.listed(() => view, direct, Payload.of({ tools: direct.tools(view) }));
  await meter.saved();
  expect(saved[0]?.menu).toBe(saved[0]?.whole);
  expect(meter.metered(direct)).toBe(direct);
});

test('counts questions and answers of searching, and no other call', async () => {
  const { meter, saved } = opened();
  const exposure = meter.metered(searching);
  expect(meter.metered(searching)).toBe(exposure);
  const question = { query: 'read a file' };
  expect(await call(exposure, 'search_tools', question)).toBe(answer);
  await call(exposure, 'describe_tools', question);
  await call(exposure, 'call_read_tool', question);
  await meter.saved();
  const once = estimateTokens(JSON.stringify(question)) + estimateTokens(answer.text);
  expect(saved).toEqual([{ whole: 0, menu: 0, search: 2 * once, lists: 0, searches: 2 }]);
});

test('stores nothing where nothing was sent, and everything when it ends', async () => {
  const { meter, saved } = opened();
  await meter.saved();
  expect(saved).toEqual([]);
  meter.listed(() => view, searching, menu);
  await meter[Symbol.asyncDispose]();
  expect(saved).toHaveLength(1);
});

test('waits for servers that were not listed yet, but not at the end', async () => {
  const { meter, saved } = opened();
  let current = memoryView([], { servers: [{ name: files }] });
  meter.listed(() => current, searching, menu);
  await meter.saved();
  expect(saved).toEqual([]);
  current = view;
  await meter[Symbol.asyncDispose]();
  expect(saved[0]?.whole).toBeGreaterThan(1000);
});
