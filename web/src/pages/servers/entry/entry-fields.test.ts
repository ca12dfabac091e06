import { describe, expect, test } from 'vitest';

import { toEntry, toFields, validateFields } from './entry-fields.ts';

describe('server form', () => {
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
  ])('server form: leaves an untouched entry unchanged: %j', (entry) => {
    expect(toEntry(toFields(entry), entry)).toEqual(entry);
  });

  test('server form: drops command settings when the kind changes to a URL', () => {
    const base = { command: 'a', args: ['b'], env: { A: '1' }, type: 'stdio', tags: ['x'] };
    const fields = { ...toFields(base), kind: 'url', url: ' https://a.example/mcp ' } as const;
    expect(toEntry(fields, base)).toEqual({ url: 'https://a.example/mcp', tags: ['x'] });
  });

  test('server form: omits variables without a name', () => {
    const fields = {
      ...toFields({ command: 'a' }),
      env: [
        ['', 'x'],
        [' B ', '2'],
      ],
    } as const;
    expect(toEntry(fields, {})).toEqual({ command: 'a', env: { B: '2' } });
  });

  test('server form: reports a missing command or an invalid URL', () => {
    expect(validateFields(toFields({ command: 'a' }))).toBeUndefined();
    expect(validateFields(toFields({}))).toContain('program');
    expect(validateFields(toFields({ url: 'a.example' }))).toContain('https://');
    expect(validateFields(toFields({ url: '${env:URL}' }))).toBeUndefined();
  });
});
