import { describe, expect, test } from 'vitest';

import { memoryView } from '../../../test/support/memory-view.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../core/ids.ts';
import { indexToolNames } from './tool-names.ts';

const pairs = [
  ['files', 'read', 'files__read'],
  ['files', 'read-all', 'files__read-all'],
  ['my-server', 'list.all', 'my-server__list_all'],
  ['my-server', 'a-b', 'my-server__a-b_1'],
  ['my-server', 'a.b', 'my-server__a_b_2'],
] as const;
const facts = { era: 'legacy' as const, protocol: 'x', info: {}, capabilities: {} };
const view = memoryView([], {
  tools: pairs.map(([upstream, name, exposed]) => ({
    kind: 'tool',
    upstream: upstream as UpstreamName,
    name: exposed as ExposedName,
    fingerprint: 'x' as Fingerprint,
    definition: { name },
  })),
  servers: [
    { name: 'files' as UpstreamName, facts },
    { name: 'my-server' as UpstreamName, facts },
    { name: 'late' as UpstreamName },
  ],
});
const names = indexToolNames(view);

describe('tool names in scripts', () => {
  test.each([
    ['files', 'read', 'files__read'],
    ['files', 'files__read', 'files__read'],
    [undefined, 'files__read', 'files__read'],
    ['files', 'read_all', 'files__read-all'],
    [undefined, 'files__read_all', 'files__read-all'],
    ['my_server', 'list_all', 'my-server__list_all'],
    ['my-server', 'a.b', 'my-server__a_b_2'],
    // The name is ambiguous.
    ['my-server', 'a_b', undefined],
    ['my-server', 'files__read', undefined],
    ['files', 'constructor', undefined],
    ['__proto__', 'read', undefined],
    [undefined, 'read', undefined],
  ])('script tool name: resolves server %s and tool %s to %s', (server, tool, expected) => {
    expect(names.find(server, tool)?.name).toBe(expected);
  });

  test('script tool name: suggests similar names for an unknown one', () => {
    expect(names.describeUnknown('files', 'rread')).toBe(
      'Server "files" has no tool "rread". Did you mean "read"?',
    );
    expect(names.describeUnknown('fils', 'read')).toBe('There is no server "fils". Did you mean "files"?');
    expect(names.describeUnknown(undefined, 'files__rread')).toContain('Did you mean "files__read"');
  });

  test('script tool name: recognises servers that are not listed yet', () => {
    expect([
      names.unlisted('late'),
      names.unlisted('files'),
      names.unlisted('none'),
      names.unlisted(undefined),
    ]).toEqual(['late', undefined, undefined, undefined]);
  });

  test('script tool names: are listed by server', () => {
    expect(JSON.parse(names.json)).toEqual({
      files: ['read', 'read-all'],
      'my-server': ['list.all', 'a-b', 'a.b'],
      late: [],
    });
  });
});
