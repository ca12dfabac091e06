import { describe, expect, test } from 'vitest';

import { GatewayError } from '../model/errors.ts';
import { jsonLogger } from '../observe/log.ts';
import { logLineForPeople, output } from './output.ts';

describe('output', () => {
  function written(): { out: ReturnType<typeof output>; stdout: string[]; stderr: string[] } {
    const [stdout, stderr]: [string[], string[]] = [[], []];
    const stream = (texts: string[]) => ({ write: (text: string) => texts.push(text) });
    return { out: output({ stdout: stream(stdout), stderr: stream(stderr) }), stdout, stderr };
  }

  test('keeps standard output for results', () => {
    const { out, stdout, stderr } = written();
    out.line('result');
    out.note('note');
    out.problem(new GatewayError('USAGE', 'No such flag.'));
    expect(stdout).toEqual(['result\n']);
    expect(stderr).toEqual(['note\n', 'trunkline: No such flag. [USAGE]\n']);
  });

  test('lets no text of a server control the terminal', () => {
    const { out, stderr } = written();
    out.problem(
      new GatewayError('UPSTREAM_REFUSED', 'It said: \u001b[2J\u009b31m\u0007hi\nthere\tyou\u007f'),
    );
    expect(stderr).toEqual(['trunkline: It said: [2J31mhi\nthere\tyou [UPSTREAM_REFUSED]\n']);
  });
});

describe('a log line for people', () => {
  function shown(message: string, fields: object): string {
    const lines: string[] = [];
    jsonLogger({ level: 'debug', write: (line) => lines.push(line) }).warn(message, { ...fields });
    return logLineForPeople(lines[0]!);
  }

  test('has the level, the message and the fields', () => {
    expect(shown('Lost it.', { upstream: 'a', attempt: 3, list: [1] })).toBe(
      'warn: Lost it. upstream=a attempt=3 list=[1]\n',
    );
  });

  test('lets no text of a server control the terminal or look like another line', () => {
    const line = shown('Lost it.', {
      reason: 'x\u001b[31m\u009b0m\nerror: all is lost\r\nagain',
      list: ['\u009b'],
    });
    expect(line).toBe('warn: Lost it. reason=x[31m0m\n  error: all is lost\n  again list=[""]\n');
  });
});
