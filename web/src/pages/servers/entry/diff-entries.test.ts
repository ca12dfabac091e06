import { describe, expect, test } from 'vitest';

import { diffEntries } from './diff-entries.ts';

describe('entry changes', () => {
  test.each([
    [{ command: 'a', args: ['b'] }, { command: 'a', args: ['b'] }, {}],
    [{ command: 'a' }, { command: 'b', cwd: '/x' }, { command: 'b', cwd: '/x' }],
    [{ command: 'a', cwd: '/x' }, { command: 'a' }, { cwd: null }],
    [{ args: ['a', '•••'] }, { args: ['b', '•••'] }, { args: ['b', '•••'] }],
    [{ env: { A: '•••', B: '1' } }, { env: { A: '•••', C: '2' } }, { env: { B: null, C: '2' } }],
    [{ env: { A: '•••' } }, {}, { env: null }],
    [{}, { env: { A: '1' } }, { env: { A: '1' } }],
    [{ env: {} }, JSON.parse('{"env": {"constructor": "x"}}'), { env: { constructor: 'x' } }],
  ])('entry changes: from %j to %j are %j', (before, after, changes) => {
    expect(diffEntries(before, after as object as Record<string, unknown>)).toEqual(changes);
  });
});
