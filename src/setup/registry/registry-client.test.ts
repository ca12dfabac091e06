import { expect, test } from 'vitest';

import { RegistryClient } from './registry-client.ts';

const URL = 'https://registry.example.test/v0.1';

/** Answers every request with the same body, one chunk at a time. */
function fetchOf(chunks: () => AsyncIterable<Uint8Array>, requests: string[] = []): typeof fetch {
  return ((url: string, { signal }: { readonly signal: AbortSignal }) => {
    requests.push(url);
    const body = new ReadableStream({
      async start(controller) {
        signal.addEventListener('abort', () => controller.error(signal.reason));
        for await (const chunk of chunks()) controller.enqueue(chunk);
        controller.close();
      },
    });
    return Promise.resolve(new Response(body));
  }) as typeof fetch;
}

async function* drip(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield Uint8Array.of(32);
    await new Promise((resolve) => setTimeout(resolve, 1).unref());
  }
}

test.each(['search', 'server'] as const)(
  'registry: %s ends at its total deadline when the registry keeps sending single bytes',
  async (method) => {
    let isAborted = false;
    const fetch = fetchOf(async function* () {
      for await (const byte of drip()) {
        if (isAborted) return;
        yield byte;
      }
    });
    const client = new RegistryClient(URL, { fetch, timeoutMs: 100 });
    const error: unknown = await (method === 'search' ? client.search('x', 5) : client.server('x')).catch(
      (reason: unknown) => reason,
    );
    isAborted = true;
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(String(error)).toContain('no response within 0.1 s');
  },
);

test('registry: the deadline of a search covers its later pages', async () => {
  const requests: string[] = [];
  const fetch = fetchOf(async function* () {
    if (requests.length > 2) await new Promise(() => {});
    const body = { servers: [], metadata: { nextCursor: `page-${requests.length}` } };
    yield new TextEncoder().encode(JSON.stringify(body));
  }, requests);
  await expect(new RegistryClient(URL, { fetch, timeoutMs: 100 }).search('x', 5)).rejects.toThrow(
    'no response within 0.1 s',
  );
  expect(requests).toHaveLength(3);
});

test('registry: a search ends at a cursor that is too long for a URL', async () => {
  const requests: string[] = [];
  const fetch = fetchOf(async function* () {
    yield new TextEncoder().encode(
      JSON.stringify({ servers: [], metadata: { nextCursor: 'x'.repeat(1_000_000) } }),
    );
  }, requests);
  expect(await new RegistryClient(URL, { fetch }).search('x', 5)).toEqual([]);
  expect(requests).toHaveLength(1);
});
