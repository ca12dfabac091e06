import { describe, expect, test } from 'vitest';

import { eventReader } from '../client/sse-client.mjs';
import { reasonIn } from '../../scripts/install-packages.mjs';
import { leastMajor } from './install.mjs';
import { PEERS } from './peers.mjs';

describe('peers', () => {
  test('peers: are pinned to exact versions', () => {
    expect(PEERS.length).toBeGreaterThan(5);
    for (const { version } of PEERS) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('peers: call the tool of the intended server', () => {
    for (const { call, isOneServer } of PEERS) {
      const text = JSON.stringify(call('echo', { text: 'hi' }, 'bench7'));
      expect(text).toContain('echo');
      expect(text).toContain('"text":"hi"');
      expect(text.includes('bench7')).toBe(isOneServer !== true);
    }
  });
});

describe('excluded peers', () => {
  test('peer exclusion: states the reason in one line', () => {
    expect(reasonIn('npm error code E404\nnpm error 404 Not Found - GET https://…')).toBe(
      'it is not in the npm registry that is used here',
    );
    expect(reasonIn('npm error code ENOTFOUND\nnpm error network request failed\n')).toBe(
      'network request failed',
    );
    expect(reasonIn('')).toBe('npm could not install it');
  });

  test('peer exclusion: reads the required Node.js version', () => {
    expect(leastMajor('>=24')).toBe(24);
    expect(leastMajor('>= 20.19.0 <23')).toBe(20);
    expect(leastMajor(undefined)).toBe(0);
  });
});

describe('event stream', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const body = 'event: endpoint\ndata: /messages?id=1\n\ndata: {"id":1}\n\n';
  const chunks = `${head}${[body.slice(0, 20), body.slice(20)].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}`;
  const expected = [['event: endpoint', 'data: /messages?id=1'], ['data: {"id":1}']];

  test.each([1, 7, 1000])('event reader: reads events in chunks of %d bytes', (size) => {
    const events = [];
    const read = eventReader((lines) => events.push(lines));
    for (let from = 0; from < chunks.length; from += size) read(Buffer.from(chunks.slice(from, from + size)));
    expect(events).toEqual(expected);
  });

  test('event reader: rejects an HTTP error', () => {
    const read = eventReader(() => {});
    expect(() => read(Buffer.from('HTTP/1.1 500 No\r\n\r\n'))).toThrow('HTTP status 500');
  });
});
