import { PassThrough } from 'node:stream';

import { describe, expect, test } from 'vitest';

import { createChildTransport } from './child-transport.ts';
import type { ClientTransport } from '../client-transport.ts';

class Pipes {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly messages: string[] = [];
  readonly closed: string[] = [];
  tooLong = 0;
  ends = 0;
  readonly stream: ClientTransport;

  constructor(bounds: { readonly maxMessageBytes?: number; readonly maxQueuedBytes?: number } = {}) {
    this.stream = createChildTransport({
      stdin: this.stdin,
      stdout: this.stdout,
      events: {
        onMessage: (line) => this.messages.push(line.toString()),
        onRequestFailed: () => {},
        onClosed: ({ message }) => this.closed.push(message),
      },
      maxMessageBytes: bounds.maxMessageBytes ?? 1000,
      maxQueuedBytes: bounds.maxQueuedBytes ?? 1000,
      onTooLong: () => this.tooLong++,
      end: () => {
        this.ends++;
        return Promise.resolve();
      },
    });
  }
}

describe('createChildTransport', () => {
  test('child transport: reads each line as a message and writes messages as lines', async () => {
    const pipes = new Pipes();
    pipes.stdout.write('{"a":1}\n{"b"');
    pipes.stdout.write(':2}\n');
    pipes.stream.send({ kind: 'notification', method: 'x', text: '{"c":3}' });
    await tick();
    expect(pipes.messages).toEqual(['{"a":1}', '{"b":2}']);
    expect(String(pipes.stdin.read())).toBe('{"c":3}\n');
  });

  test('child transport: writes at once to an idle server and batches writes to a busy one', async () => {
    const pipes = new Pipes();
    const writes: string[] = [];
    pipes.stdin.on('data', (chunk: Buffer) => writes.push(String(chunk)));
    const send = async (text: string) => {
      pipes.stream.send({ kind: 'notification', method: 'x', text });
      await new Promise<void>((resolve) => process.nextTick(resolve));
    };
    await send('1');
    expect(writes).toEqual(['1\n']);
    await send('2');
    await send('3');
    expect(writes).toEqual(['1\n']);
    await tick();
    expect(writes).toEqual(['1\n', '2\n3\n']);
    pipes.stdout.write('answer\n');
    await tick();
    await send('4');
    expect(writes.at(-1)).toBe('4\n');
  });

  test('child transport: closes once at the end of output, after the last line', async () => {
    const pipes = new Pipes();
    pipes.stdout.end('{"last":1}');
    await tick();
    expect(pipes.messages).toEqual(['{"last":1}']);
    expect(pipes.closed).toEqual(['The server closed its standard output.']);
    await pipes.stream.close();
    expect(pipes.closed).toHaveLength(1);
  });

  test('child transport: closes when the output is destroyed', async () => {
    const pipes = new Pipes();
    pipes.stdout.destroy();
    await tick();
    expect(pipes.closed).toEqual(['The server closed its standard output.']);
  });

  test('child transport: closes with the error of the output', async () => {
    const pipes = new Pipes();
    pipes.stdout.destroy(new Error('EIO'));
    await tick();
    expect(pipes.closed).toEqual(['EIO']);
  });

  test('child transport: survives a broken pipe to the server', async () => {
    const pipes = new Pipes();
    pipes.stdin.destroy(new Error('EPIPE'));
    pipes.stream.send({ kind: 'notification', method: 'x', text: '{}' });
    await tick();
    expect(pipes.closed).toEqual([]);
  });

  test('child transport: closes when the server does not read its input', async () => {
    const pipes = new Pipes({ maxQueuedBytes: 100_000 });
    for (let at = 0; at < 3; at++) {
      pipes.stream.send({ kind: 'response', text: 'x'.repeat(60_000) });
      await tick();
    }
    expect(pipes.closed).toEqual(['The server does not read its standard input.']);
  });

  test('child transport: skips a line that is too long', async () => {
    const pipes = new Pipes({ maxMessageBytes: 10 });
    pipes.stdout.write(`${'x'.repeat(50)}\n{"a":1}\n`);
    await tick();
    expect(pipes.tooLong).toBe(1);
    expect(pipes.messages).toEqual(['{"a":1}']);
  });

  test('child transport: writes pending messages and ends the process on close', async () => {
    const pipes = new Pipes();
    pipes.stream.send({ kind: 'response', text: '{"bye":1}' });
    await pipes.stream.close();
    expect(String(pipes.stdin.read())).toBe('{"bye":1}\n');
    expect(pipes.ends).toBe(1);
    expect(pipes.closed).toEqual(['The connection was closed.']);
  });

  test('child transport: cannot abandon a single request', () => {
    expect(new Pipes().stream.abandon(1)).toBe(false);
  });
});

function tick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
