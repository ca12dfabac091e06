import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readFirstMessage } from './first-message.ts';

const line = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":1}}\n';

async function rest(stdin: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  stdin.resume();
  for await (const chunk of stdin) text += String(chunk);
  return text;
}

describe('readFirstMessage', () => {
  test('first message: is read without consuming the input', async () => {
    const from = new PassThrough();
    from.write(line.slice(0, 10));
    setImmediate(() => from.write(`${line.slice(10)}second`));
    const { message, stdin } = await readFirstMessage(from);
    expect(message).toMatchObject({ kind: 'request', method: 'initialize', params: { a: 1 } });
    from.end('\n');
    expect(await rest(stdin)).toBe(`${line}second\n`);
  });

  test.each(['', line.trimEnd(), 'no message\n', '[]\n'])(
    'first message: leaves the input %j complete',
    async (text) => {
      const from = new PassThrough();
      from.end(text);
      const { message, stdin } = await readFirstMessage(from);
      expect(message?.kind).toBe(text === line.trimEnd() ? 'request' : undefined);
      expect(await rest(stdin)).toBe(text);
    },
  );
});
