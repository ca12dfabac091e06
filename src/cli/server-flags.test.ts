import { describe, expect, test } from 'vitest';
import { serverFlags } from './server-flags.ts';

describe('serverFlags', () => {
  test('reads addresses and commands', () => {
    expect(serverFlags(['a=https://x.test/mcp?y=1', `b=npx -y 'my server'`], '/here')).toEqual({
      a: { url: 'https://x.test/mcp?y=1' },
      b: { command: 'npx', args: ['-y', 'my server'], cwd: '/here' },
    });
  });

  test.each(['a', '=x', 'a=', 'a= ', `a='x`, `a=''`])('refuses %s', (flag) => {
    expect(() => serverFlags([flag], '/here')).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('--server') }),
    );
  });

  test('refuses two of one name', () => {
    expect(() => serverFlags(['a=x', 'a=y'], '/here')).toThrow('two servers of the name "a"');
  });
});
