import { describe, expect, test } from 'vitest';

import { eventReader } from '../client/sse-client.mjs';
import { leastMajor, reasonIn } from './install.mjs';
import { PEERS } from './peers.mjs';

describe('the peers', () => {
  test('are pinned to one version each', () => {
    expect(PEERS.length).toBeGreaterThan(5);
    for (const { version } of PEERS) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('are asked for the tool of the server that is meant', () => {
    for (const { call, isOneServer } of PEERS) {
      const text = JSON.stringify(call('echo', { text: 'hi' }, 'bench7'));
      expect(text).toContain('echo');
      expect(text).toContain('"text":"hi"');
      expect(text.includes('bench7')).toBe(isOneServer !== true);
    }
  });
});

describe('what keeps a peer out', () => {
  test('is said in one line', () => {
    expect(reasonIn('npm error code E404\nnpm error 404 Not Found - GET https://…')).toBe(
      'it is not in the npm registry that is used here',
    );
    expect(reasonIn('npm error code ENOTFOUND\nnpm error network request failed\n')).toBe(
      'network request failed',
    );
    expect(reasonIn('')).toBe('npm could not install it');
  });

  test('may be the version of Node', () => {
    expect(leastMajor('>=24')).toBe(24);
    expect(leastMajor('>= 20.19.0 <23')).toBe(20);
    expect(leastMajor(undefined)).toBe(0);
  });
});

describe('an event stream', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const body = 'event: endpoint\ndata: /messages?id=1\n\ndata: {"id":1}\n\n';
  const chunks = `${head}${[body.slice(0, 20), body.slice(20)].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}`;
  const expected = [['event: endpoint', 'data: /messages?id=1'], ['data: {"id":1}']];

  test.each([1, 7, 1000])('is read in pieces of %d bytes', (size) => {
    const events = [];
    const read = eventReader((lines) => events.push(lines));
    for (let from = 0; from < chunks.length; from += size) read(Buffer.from(chunks.slice(from, from + size)));
    expect(events).toEqual(expected);
  });

  test('is refused where the answer is an error', () => {
    const read = eventReader(() => {});
    expect(() => read(Buffer.from('HTTP/1.1 500 No\r\n\r\n'))).toThrow('HTTP status 500');
  });
});
