import { describe, expect, test } from 'vitest';

import { entryOf, fieldsOf, fieldsProblem } from './entry-fields.ts';

describe('an entry and its form', () => {
  test.each([
    { command: 'npx', args: ['-y', '@me/a b'], env: { TOKEN: '•••' }, idle: '5m', tags: ['x'] },
    { command: 'npx', args: [], env: {}, cwd: '/x', share: 'session', trust: 'manual', description: 'One' },
    {
      url: 'https://a.example/mcp',
      headers: { authorization: 'Bearer •••' },
      type: 'http',
      auth: { per: 'caller' },
    },
    { command: 'kubectl', cli: { depth: 2 } },
  ])('an entry that nobody touched stays as it was: %j', (entry) => {
    expect(entryOf(fieldsOf(entry), entry)).toEqual(entry);
  });

  test('what belongs to a program goes when an address is wanted', () => {
    const base = { command: 'a', args: ['b'], env: { A: '1' }, type: 'stdio', tags: ['x'] };
    const fields = { ...fieldsOf(base), kind: 'address', url: ' https://a.example/mcp ' } as const;
    expect(entryOf(fields, base)).toEqual({ url: 'https://a.example/mcp', tags: ['x'] });
  });

  test('variables without a name are left out', () => {
    const fields = {
      ...fieldsOf({ command: 'a' }),
      env: [
        ['', 'x'],
        [' B ', '2'],
      ],
    } as const;
    expect(entryOf(fields, {})).toEqual({ command: 'a', env: { B: '2' } });
  });

  test('what is missing is said', () => {
    expect(fieldsProblem(fieldsOf({ command: 'a' }))).toBeUndefined();
    expect(fieldsProblem(fieldsOf({}))).toContain('program');
    expect(fieldsProblem(fieldsOf({ url: 'a.example' }))).toContain('https://');
    expect(fieldsProblem(fieldsOf({ url: '${env:URL}' }))).toBeUndefined();
  });
});
