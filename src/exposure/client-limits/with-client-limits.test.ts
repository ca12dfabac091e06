import { describe, expect, test } from 'vitest';

import { memoryView } from '../../../test/support/memory-view.ts';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import { chooseExposure } from '../choose-exposure.ts';
import type { ExposureContext } from '../exposure.ts';
import { findClientLimits } from './known-clients.ts';
import { explainRewrites } from './explain-rewrites.ts';

const long = 'find_the_nearest_free_meeting_room_with_a_projector';
const options = {
  kind: 'direct',
  directBudget: 100_000,
  pin: [],
  callTools: 'tiers',
  reveal: false,
} as const;
const facts = { era: 'legacy' as const, protocol: 'x', info: {}, capabilities: {} };

function viewOf(tools: readonly string[]): CatalogView {
  const view = memoryView(tools);
  return { ...view, servers: view.servers.map((server) => ({ ...server, facts })) };
}

const names = (tools: readonly { readonly [key: string]: unknown }[]) =>
  tools.map(({ name }) => String(name));

describe('shortened names', () => {
  const view = viewOf(['short', long, `${long}s`]);
  const cursor = chooseExposure({ ...options, shape: true })(view, 'cursor-vscode');

  test("shortened names: fit the client's limit, are unique and stay stable", () => {
    const shown = names(cursor.tools(view));
    expect(shown[0]).toBe('files__short');
    expect(shown[1]).toMatch(/^files__find_the_nearest_free_meeting_room_[0-9a-f]{8}$/);
    expect(new Set(shown).size).toBe(3);
    expect(shown.every((name) => name.length <= 50)).toBe(true);
    expect(names(cursor.tools(viewOf([long])))).toEqual([shown[1]]);
  });

  test('shortened names: resolve to their tool, as full names do', async () => {
    const called: string[] = [];
    const context = {
      view,
      call: (name: string) => {
        called.push(name);
        return Promise.resolve(Payload.of({}));
      },
    } as unknown as ExposureContext; // The direct exposure uses no other members.
    const request = { params: {}, session: 's', cancellation: new Cancellation() };
    for (const name of [...names(cursor.tools(view)), `files__${long}`, 'other'])
      await cursor.callTool(name, request, context);
    const full = ['files__short', `files__${long}`, `files__${long}s`];
    expect(called).toEqual([...full, `files__${long}`, 'other']);
  });

  test('shortened names: never equal the name of another tool', () => {
    const taken = names(cursor.tools(view))[1]?.replace('files__', '') ?? '';
    const both = viewOf([long, taken]);
    const shown = names(chooseExposure({ ...options, shape: true })(both, 'cursor').tools(both));
    expect(shown[1]).toBe(`files__${taken}`);
    expect(shown[0]).toMatch(/_[0-9a-f]{16}$/);
  });

  test('shortened names: are not used for other clients or when shaping is off', () => {
    for (const [shape, client] of [
      [true, 'somebody'],
      [true, undefined],
      [false, 'cursor-vscode'],
    ] as const) {
      const exposure = chooseExposure({ ...options, shape })(view, client);
      expect(exposure.client).toBeUndefined();
      expect(names(exposure.tools(view))[1]).toBe(`files__${long}`);
    }
  });
});

describe('tool limit of a client', () => {
  const many = viewOf(Array.from({ length: 101 }, (_, at) => `t${at}`));

  test('tool limit: switches auto to search for that client only', () => {
    const choose = chooseExposure({ ...options, kind: 'auto', shape: true });
    expect(
      [undefined, 'windsurf-client', 'Visual Studio Code'].map((client) => choose(many, client).kind),
    ).toEqual(['direct', 'search', 'direct']);
  });

  test('tool limit: still lists every tool in direct and reports the excess once', () => {
    const told: unknown[] = [];
    const choose = chooseExposure({ ...options, shape: true, onExcess: (excess) => told.push(excess) });
    const exposure = choose(many, 'windsurf-client');
    expect(choose(many, 'windsurf-client')).toBe(exposure);
    expect(exposure.tools(many)).toHaveLength(101);
    expect(told).toEqual([{ client: 'Windsurf', tools: 101, limit: 100 }]);
    expect(exposure.instructions(many)).toContain('101 tools are listed, but Windsurf accepts only 100');
    expect(exposure.instructions(viewOf(['one']))).not.toContain('Windsurf');
  });
});

describe('rewrite report', () => {
  test('rewrite report: lists rewritten names with the reason', () => {
    expect(explainRewrites(viewOf([long]), 'cursor-vscode')).toEqual({
      limits: { client: 'Cursor', nameLength: 50, tools: 80 },
      excess: 0,
      rewrites: [
        {
          tool: `files__${long}`,
          part: 'name',
          clientName: expect.stringMatching(/_[0-9a-f]{8}$/),
          explanation: 'Cursor accepts names of at most 50 characters, not counting the prefix that it adds.',
        },
      ],
    });
    expect(explainRewrites(viewOf([long]), 'nobody knows me')).toBeUndefined();
  });
});

test('client limits: recognise clients by name, even through a bridge', () => {
  const known = (name: string) => findClientLimits(name)?.client;
  expect(known('claude-code')).toBe('Claude Code');
  expect(known('claude-code (via mcp-remote 0.1.37)')).toBe('Claude Code');
  expect(known('gemini-cli-mcp-client-trunkline')).toBe('Gemini CLI');
  expect(known('Visual Studio Code')).toBe('VS Code');
  expect(known('Visual-Studio-Code')).toBe('VS Code');
  expect(['not-cursor', 'cursory', 'claude-ai', '', 'x'.repeat(1e6)].map(known)).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
});

test.each([
  ['claude-code', 'mcp__trunkline__', 64],
  ['copilot-cli', 'trunkline-', 64],
  ['opencode', 'trunkline_', 64],
  ['kilo', 'trunkline_', 64],
  ['gemini-cli-mcp-client', 'mcp_trunkline_', 63],
])('client limits: names for %s have room for its prefix %s', (client, prefix, limit) => {
  expect(findClientLimits(client)?.nameLength).toBe(limit - prefix.length);
});
