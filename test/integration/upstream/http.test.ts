import { expect } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import type { FixtureEvent, FixtureLog } from '../../support/fixture-log.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

// MCP 2025-11-25 basic/transports
scenario(
  'upstream HTTP: reads JSON, streamed and compressed responses',
  { upstream: overHttp },
  async (cell) => {
    // The gateway requests compression only from other machines; this loopback address looks like another machine.
    const far = ({ url }: Entry): Entry => ({ url: String(url).replace('127.0.0.1', '0.0.0.0') });
    await using line = await cell.open(
      {
        json: ['plain', '--answer', 'json'],
        stream: ['plain', '--answer', 'sse'],
        packed: ['plain', '--gzip'],
        'packed-stream': ['plain', '--gzip', '--answer', 'sse'],
      },
      { entries: { packed: far, 'packed-stream': far } },
    );
    // URIs get prefixes once all four servers have listed the same resources.
    for (const name of Object.keys(line.upstreams)) await waitForTool(line.client, `${name}__echo`);
    for (const name of Object.keys(line.upstreams)) {
      await line.client.callTool(`${name}__everything-content`);
      const text = `${name}: naïve € 🚀 ${'long '.repeat(50_000)}`;
      expect(textOfResult(await line.client.callTool(`${name}__echo`, { text })) === text, name).toBe(true);
    }
    const results = line.client.rawLines.filter((text) => text.includes('beyondDouble'));
    expect(results).toHaveLength(4);
    // Except for the request ids and the prefixes of shared URIs, the texts are equal.
    const alike = results.map((text) =>
      text.replace(/"id":\d+/, '').replaceAll(/trunkline:\/\/(?:packed-stream|packed|stream|json)\//g, ''),
    );
    expect(new Set(alike).size).toBe(1);
    for (const name of ['packed', 'packed-stream']) {
      for (const { headers } of posts(line.logs[name]!)) expect(headers['accept-encoding']).toContain('gzip');
    }
  },
);

// MCP 2025-11-25 basic/transports
scenario(
  'upstream HTTP: sends the session id with every later request',
  { upstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    await waitForTool(line.client, 'one__echo');
    await Promise.all(['a', 'b', 'c'].map((text) => line.client.callTool('one__echo', { text })));
    const log = line.logs['one'];
    expect(log?.of('session-opened')).toHaveLength(1);
    const { session } = await log!.waitFor('session-opened');
    // The stream for announcements belongs to the session too.
    await log?.waitFor(({ event, method }) => event === 'http' && method === 'GET');
    const all = log?.all() ?? [];
    const later = all.slice(all.findIndex(({ event }) => event === 'session-opened')).filter(isHttp);
    expect(later.length).toBeGreaterThan(8);
    expect(new Set(later.map(({ headers }) => headers['mcp-session-id']))).toEqual(new Set([session]));
  },
);

// MCP 2025-11-25 basic/transports
scenario(
  'upstream HTTP: reopens a forgotten session and executes each call once',
  { upstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['forgets-sessions', '--after', '8'] });
    await waitForTool(line.client, 'one__echo');
    const texts = Array.from({ length: 20 }, (_, index) => `call ${index}`);
    for (const text of texts)
      expect(textOfResult(await line.client.callTool('one__echo', { text }))).toBe(text);
    const log = line.logs['one'];
    expect(log?.of('session-closed').filter(({ how }) => how === 'forgotten').length).toBeGreaterThan(1);
    // Each call was executed once, in whichever session.
    expect(log?.of('call').map((call) => argument(call, 'text'))).toEqual(texts);
  },
);

// MCP 2025-11-25 basic/transports
scenario(
  'upstream HTTP: deletes the session when the connection closes',
  { upstream: ['http/legacy'] },
  async (cell) => {
    const entries = { idle: { idle: '150ms' } };
    await using line = await cell.open({ idle: ['plain'], last: ['plain'] }, { entries });
    expect(textOfResult(await line.client.callTool('idle__echo', { text: 'a' }))).toBe('a');
    expect(textOfResult(await line.client.callTool('last__echo', { text: 'a' }))).toBe('a');
    expect((await line.logs['idle']!.waitFor('session-closed'))['how']).toBe('deleted');
    expect(line.logs['last']?.of('session-closed')).toEqual([]);
    await line.gateway.stop();
    expect(line.logs['last']?.of('session-closed').map(({ how }) => how)).toEqual(['deleted']);
  },
);

scenario(
  'upstream HTTP: works with a server without session ids',
  { upstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain', '--sessionless'] });
    await waitForTool(line.client, 'one__echo');
    const texts = ['a', 'b', 'c'];
    const results = await Promise.all(texts.map((text) => line.client.callTool('one__echo', { text })));
    expect(results.map(textOfResult)).toEqual(texts);
    const sent = posts(line.logs['one']!);
    expect(sent.length).toBeGreaterThan(texts.length);
    expect(sent.filter(({ headers }) => headers['mcp-session-id'] !== undefined)).toEqual([]);
  },
);

// MCP 2025-11-25 basic/transports
scenario(
  'upstream HTTP: resumes a stream that breaks before the response',
  { upstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({
      polite: ['resumes-streams'],
      abrupt: ['resumes-streams', '--abruptly'],
    });
    for (const [name, log] of Object.entries(line.logs)) {
      const texts = ['a', 'b', 'c'].map((text) => `${name} ${text}`);
      const calls = texts.map((text) => line.client.callTool(`${name}__slow`, { ms: 200, text }));
      expect((await Promise.all(calls)).map(textOfResult)).toEqual(texts);
      expect(log.of('resumed').filter(({ known }) => known === true).length).toBeGreaterThanOrEqual(3);
      expect(log.of('call')).toHaveLength(3);
    }
  },
);

scenario(
  'upstream HTTP: sends configured headers with every request',
  { upstream: ['http/legacy', 'http/modern', 'sse/legacy'] },
  async (cell) => {
    const headers = { Authorization: 'Bearer ${env:FIXTURE_KEY}', 'X-Team': 'a "quoted" team' };
    const options = { entries: { one: { headers } }, env: { FIXTURE_KEY: 's3cret' } };
    const line = await cell.open({ one: ['plain', '--bearer', 's3cret'] }, options);
    await waitForTool(line.client, 'one__echo');
    expect(textOfResult(await line.client.callTool('one__echo', { text: 'a' }))).toBe('a');
    await line[Symbol.asyncDispose]();
    const all = line.logs['one']?.all().filter(isHttp) ?? [];
    expect(all.length).toBeGreaterThan(5);
    for (const { method, headers: seen } of all) {
      expect(seen, String(method)).toMatchObject({
        authorization: 'Bearer s3cret',
        'x-team': 'a "quoted" team',
      });
    }
    expect(line.gateway.stderr()).not.toContain('s3cret');
  },
);

scenario(
  'upstream SSE: detects a server of the old HTTP+SSE transport without a configured type',
  { upstream: ['sse/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    expect(line.upstreams['one']?.entry).not.toHaveProperty('type');
    await waitForTool(line.client, 'one__echo');
    const calls = ['a', 'b', 'c'].map((text) => line.client.callTool('one__echo', { text }));
    expect((await Promise.all(calls)).map(textOfResult)).toEqual(['a', 'b', 'c']);
    expect(line.logs['one']?.of('session-opened')).toHaveLength(1);
    expect(line.logs['one']?.of('initialize')).toHaveLength(1);
  },
);

type Entry = Readonly<Record<string, unknown>>;

interface HttpEvent extends FixtureEvent {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

function isHttp(event: FixtureEvent): event is HttpEvent {
  return event.event === 'http';
}

function posts(log: FixtureLog): readonly HttpEvent[] {
  return log
    .all()
    .filter(isHttp)
    .filter(({ method }) => method === 'POST');
}

function argument(call: FixtureEvent, name: string): unknown {
  return (call['arguments'] as Record<string, unknown>)[name];
}

// MCP 2026-07-28 basic/transports
scenario(
  'upstream HTTP: repeats annotated arguments in headers',
  { downstream: everyLeg, upstream: ['http/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    await waitForTool(line.client, 'one__regional');
    // The server compares the headers with the body and rejects the call if they differ.
    for (const region of ['eu-west', 'Île-de-France', ' padded ', '']) {
      const params = { name: 'one__regional', arguments: { region } };
      const headers = { 'Mcp-Param-Region': `=?base64?${Buffer.from(region).toString('base64')}?=` };
      const result = await line.client.request('tools/call', params, { headers });
      expect(result['content']).toEqual([{ type: 'text', text: region }]);
    }
  },
);
