import { expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import type { ToolEntry } from '../model/entry.ts';
import { describeAnswer } from './describe-answer.ts';
import { direct } from './direct.ts';
import { listedTool } from './listed-tool.ts';

const meta = { ui: { resourceUri: 'ui://x', csp: {} }, 'ui/resourceUri': 'ui://x', 'example.com/kept': 1 };

function withMeta(_meta: unknown, uri = (own: string) => own) {
  const view = memoryView(['show'], { uri: (_upstream, own) => uri(own) });
  const entry = view.tools[0] as ToolEntry;
  const changed = { ...entry, definition: { ...entry.definition, _meta } };
  return { entry: changed, view: { ...view, tools: [changed], tool: () => changed } };
}

test('references of a tool to its page are rewritten in both forms, and nothing else', () => {
  const { entry, view } = withMeta(meta, (own) => `trunkline://files/${own}`);
  const page = 'trunkline://files/ui://x';
  const expected = { ui: { resourceUri: page, csp: {} }, 'ui/resourceUri': page, 'example.com/kept': 1 };
  expect(listedTool(entry, view)['_meta']).toEqual(expected);
  expect(direct.tools(view)[0]?.['_meta']).toEqual(expected);
  const { content } = describeAnswer({ names: ['files__show'] }, view).peek as {
    content: { text: string }[];
  };
  expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ _meta: expected });
});

test('whatever else stands in _meta passes as it is', () => {
  for (const odd of [
    meta,
    undefined,
    7,
    {},
    { ui: 1 },
    { ui: { resourceUri: 2 } },
    { 'ui/resourceUri': null },
  ])
    expect(listedTool(withMeta(odd).entry, withMeta(odd).view)['_meta']).toEqual(odd);
});
