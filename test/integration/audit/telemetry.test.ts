import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, onTestFinished, test } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import type { Cell } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const cell: Cell = { downstream: 'http/legacy', upstream: 'stdio/legacy' };
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

interface Taken {
  readonly path: string;
  readonly key: unknown;
  readonly body: string;
}

/** A collector that accepts every request. */
async function collector(): Promise<{ readonly url: string; readonly taken: Taken[] }> {
  const taken: Taken[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      taken.push({ path: request.url ?? '', key: request.headers['x-key'], body });
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, taken };
}

describe('telemetry', () => {
  test('telemetry: sends a span per call in the trace of the client, and the server continues it', async () => {
    const { url, taken } = await collector();
    const config = {
      telemetry: { endpoint: url, headers: { 'x-key': '${env:COLLECTOR_KEY}' }, interval: '100ms' },
    };
    await using line = await openTestSetup(
      cell,
      { plain: ['shows-meta'] },
      { config, env: { COLLECTOR_KEY: 'of the collector' } },
    );
    const { client } = line;
    await client.listTools();
    const answer = await client.callTool(
      'plain__echo',
      { text: 'traced' },
      { meta: { traceparent, tracestate: 'a=b' } },
    );
    const span = await eventually(() => {
      const all = taken.filter(({ path }) => path === '/v1/traces').map(({ body }) => JSON.parse(body));
      return all[0]?.resourceSpans[0].scopeSpans[0].spans[0] ?? false;
    });
    expect(span).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      name: 'tools/call echo',
      status: {},
    });
    expect(taken[0]?.key).toBe('of the collector');
    expect(JSON.parse(textOfResult(answer))).toMatchObject({
      traceparent: `00-0af7651916cd43dd8448eb211c80319c-${span.spanId}-01`,
      tracestate: 'a=b',
    });
    const metrics = await eventually(
      () => taken.find(({ path, body }) => path === '/v1/metrics' && body.includes('"outcome"')) ?? false,
    );
    expect(metrics.body).toContain('trunkline.call.duration');
    expect(taken.some(({ body }) => body.includes('traced'))).toBe(false);
  });

  test('telemetry: sends nothing when OTEL_SDK_DISABLED is set', async () => {
    const { url, taken } = await collector();
    const config = { telemetry: { endpoint: url, interval: '100ms' } };
    const env = { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: url };
    {
      await using line = await openTestSetup(cell, { plain: ['shows-meta'] }, { config, env });
      await line.client.listTools();
      const answer = await line.client.callTool('plain__echo', {}, { meta: { traceparent } });
      expect(textOfResult(answer)).toContain(traceparent);
    }
    // Pending spans would have been sent on shutdown at the latest.
    expect(taken).toEqual([]);
  });

  test('telemetry: passes the trace of the client unchanged without a collector', async () => {
    await using line = await openTestSetup(cell, { plain: ['shows-meta'] });
    const answer = await line.client.callTool('plain__echo', { text: 'x' }, { meta: { traceparent } });
    expect(JSON.parse(textOfResult(answer))).toMatchObject({ traceparent });
  });

  test('telemetry: an unreachable collector is logged and breaks no call', async () => {
    const config = { telemetry: { endpoint: 'http://127.0.0.1:9', interval: '100ms' } };
    await using line = await openTestSetup(cell, { plain: ['plain'] }, { config });
    expect(await line.client.callTool('plain__echo', { text: 'x' })).toMatchObject({
      content: [{ text: 'x' }],
    });
    await eventually(() => line.gateway.stderr().includes('cannot be sent to the telemetry collector'));
  });
});

describe('/metrics', () => {
  const read = (url: string, headers = {}): Promise<Response> => fetch(new URL('/metrics', url), { headers });

  test('metrics endpoint: exposes Prometheus metrics with labels of closed sets, and rejects a foreign Host', async () => {
    await using line = await openTestSetup(cell, { plain: ['plain'] }, { config: { metrics: true } });
    const { client, gateway } = line;
    await client.listTools();
    await client.callTool('plain__echo', { text: 'x' });
    await client.callTool('plain__made-up-by-a-model', {}).catch(String);
    const text = await (await read(gateway.url)).text();
    expect(text).toContain('trunkline_calls_total{server="plain",kind="tool",outcome="ok",code=""} 1\n');
    expect(text).toContain(
      'trunkline_calls_total{server="none",kind="tool",outcome="refused",code="ENTRY_NOT_FOUND"} 1\n',
    );
    expect(text).toContain('trunkline_call_duration_seconds_count{server="plain"} 1\n');
    expect(text).toContain('trunkline_server_ready{server="plain"} 1\n');
    expect(text).not.toMatch(/made-up|echo|raw/);
    expect((await read(gateway.url, { host: 'evil.example', origin: 'http://evil.example' })).status).toBe(
      403,
    );
  });

  test('metrics endpoint: returns 404 unless enabled', async () => {
    await using line = await openTestSetup(cell, { plain: ['plain'] });
    expect((await read(line.gateway.url)).status).toBe(404);
  });
});
