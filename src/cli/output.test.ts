import { describe, expect, test } from 'vitest';

import { GatewayError } from '../core/errors.ts';
import { createJsonLogger } from '../observability/log.ts';
import { createOutput, createServerOutputWriter, formatLogLine } from './output.ts';

describe('output', () => {
  function written(): { out: ReturnType<typeof createOutput>; stdout: string[]; stderr: string[] } {
    const [stdout, stderr]: [string[], string[]] = [[], []];
    const stream = (texts: string[]) => ({ write: (text: string) => texts.push(text) });
    return { out: createOutput({ stdout: stream(stdout), stderr: stream(stderr) }), stdout, stderr };
  }

  test('output: writes only results to standard output', () => {
    const { out, stdout, stderr } = written();
    out.line('result');
    out.note('note');
    out.problem(new GatewayError('USAGE', 'No such flag.'));
    expect(stdout).toEqual(['result\n']);
    expect(stderr).toEqual(['note\n', 'trunkline: No such flag. [USAGE]\n']);
  });

  test('output: strips terminal control characters from server text', () => {
    const { out, stderr } = written();
    out.problem(
      new GatewayError('UPSTREAM_REFUSED', 'It said: \u001b[2J\u009b31m\u0007hi\nthere\tyou\u007f'),
    );
    expect(stderr).toEqual(['trunkline: It said: [2J31mhi\nthere\tyou [UPSTREAM_REFUSED]\n']);
  });
});

describe('output of server text', () => {
  const hostile = 'a\u001b[2J\u001b]0;x\u0007\u009b31m\u202eb\rc';

  function writtenOn(isTTY: boolean, style: { isJsonRequested: boolean }) {
    const [stdout, stderr]: [string[], string[]] = [[], []];
    const stream = (texts: string[]) => ({ write: (text: string) => texts.push(text), isTTY });
    const out = createOutput(
      { stdout: stream(stdout), stderr: stream(stderr) },
      {
        format: 'text',
        isOutColoured: true,
        isErrColoured: false,
        width: Infinity,
        errWidth: Infinity,
        pager: undefined,
        height: Infinity,
        progress: 'none',
        ...style,
      },
    );
    return { out, stdout, stderr };
  }

  test('output: strips control characters from every line of a result and keeps our colours', () => {
    const { out, stdout } = writtenOn(true, { isJsonRequested: false });
    out.line(out.paint.red(hostile));
    out.prose(hostile);
    expect(stdout).toEqual(['\u001b[31ma[2J]0;x31mbc\u001b[39m\n', 'a[2J]0;x31mbc\n']);
  });

  test('output: keeps a name with line breaks in its own row of a table', () => {
    const { out, stdout } = writtenOn(true, { isJsonRequested: false });
    out.table([
      ['a\nb  ready', 'x\ny'],
      [hostile, 'z'],
    ]);
    expect(stdout).toEqual(['a b  ready      x y\n', 'a[2J]0;x31mb c  z\n']);
  });

  test('output: strips control characters from usage errors, which repeat arguments', () => {
    const { out, stderr } = writtenOn(true, { isJsonRequested: false });
    out.usageError(`error: unknown command '${hostile}'\n`);
    expect(stderr).toEqual(["error: unknown command 'a[2J]0;x31mbc'\n"]);
  });

  test('output: escapes control characters of JSON on a terminal without changing its value', () => {
    const { out, stdout, stderr } = writtenOn(true, { isJsonRequested: true });
    out.json({ hostile });
    out.jsonText(`{\r"hostile":${JSON.stringify(hostile)}}`);
    out.note(hostile);
    out.problem(new GatewayError('USAGE', hostile));
    for (const text of [...stdout, ...stderr]) expect(text).not.toMatch(/[^\n\u0020-\u007e]/);
    expect([...stdout, ...stderr].map((text) => JSON.parse(text) as unknown)).toEqual([
      { hostile },
      { hostile },
      { note: hostile },
      { code: 'USAGE', message: hostile, details: {} },
    ]);
  });

  test('output: leaves JSON in a pipe unchanged', () => {
    const { out, stdout } = writtenOn(false, { isJsonRequested: true });
    out.jsonText('{"a":\r"\u009b"}');
    expect(stdout).toEqual(['{"a":\r"\u009b"}\n']);
  });
});

describe('log line for people', () => {
  function shown(message: string, fields: object): string {
    const lines: string[] = [];
    createJsonLogger({ level: 'debug', write: (line) => lines.push(line) }).warn(message, { ...fields });
    return formatLogLine(lines[0]!);
  }

  test('log line: shows level, message and fields', () => {
    expect(shown('Lost it.', { upstream: 'a', attempt: 3, list: [1] })).toBe(
      'warn: Lost it. upstream=a attempt=3 list=[1]\n',
    );
  });

  test('log line: strips control characters and indents further lines of server text', () => {
    const line = shown('Lost it.', {
      reason: 'x\u001b[31m\u009b0m\nerror: all is lost\r\nagain',
      list: ['\u009b'],
    });
    expect(line).toBe('warn: Lost it. reason=x[31m0m\n  error: all is lost\n  again list=[""]\n');
  });
});

test('wrapped server: its standard error reaches a terminal without control characters, and a pipe unchanged', () => {
  const written: Record<'terminal' | 'pipe', string> = { terminal: '', pipe: '' };
  const output = Buffer.from('\u001b]0;title\u0007ready é\n');
  for (const name of ['terminal', 'pipe'] as const) {
    const write = (text: string): void => void (written[name] += text);
    const writer = createServerOutputWriter({ write, isTTY: name === 'terminal' });
    for (const byte of output) writer(Buffer.from([byte]));
  }
  expect(written).toEqual({ terminal: ']0;titleready é\n', pipe: '\u001b]0;title\u0007ready é\n' });
});
