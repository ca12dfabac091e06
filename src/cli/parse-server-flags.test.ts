import { describe, expect, test } from 'vitest';
import { parseServerFlags } from './parse-server-flags.ts';

describe('server flags', () => {
  test('server flag: accepts URLs and commands', () => {
    expect(parseServerFlags(['a=https://x.test/mcp?y=1', `b=npx -y 'my server'`], '/here')).toEqual({
      a: { url: 'https://x.test/mcp?y=1' },
      b: { command: 'npx', args: ['-y', 'my server'], cwd: '/here' },
    });
  });

  test.each(['a', '=x', 'a=', 'a= ', `a='x`, `a=''`])('server flag: rejects %s', (flag) => {
    expect(() => parseServerFlags([flag], '/here')).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('--server') }),
    );
  });

  test('server flag: rejects a duplicate name', () => {
    expect(() => parseServerFlags(['a=x', 'a=y'], '/here')).toThrow('two servers have the name "a"');
  });
});
