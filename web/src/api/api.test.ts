import { expect, test, vi } from 'vitest';

import { createApi } from './api.ts';

function apiWith(respond: () => Response | Promise<Response>) {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => respond());
  const onSignedOut = vi.fn<() => void>();
  return { api: createApi({ fetch, onSignedOut }), fetch, onSignedOut };
}

test('API client: fills path parameters from the input and sends the rest of a GET as query', async () => {
  const { api, fetch } = apiWith(() => Response.json({ lines: [] }));
  await api.request('GET /api/servers/:name/log', { name: 'a/b ?', lines: 20 });
  const [url, init] = fetch.mock.calls[0] ?? [];
  expect(url).toBe('/api/servers/a%2Fb%20%3F/log?lines=20');
  expect(new Headers(init?.headers).get('x-trunkline')).toBe('1');
  expect(init?.body).toBeUndefined();
});

test('API client: sends a change as JSON body with the CSRF header', async () => {
  const { api, fetch } = apiWith(() => Response.json({}));
  await api.request('PATCH /api/servers/:name', { name: 'files', changes: { args: [] } });
  const [url, init] = fetch.mock.calls[0] ?? [];
  expect(url).toBe('/api/servers/files');
  expect(init).toMatchObject({
    method: 'PATCH',
    credentials: 'same-origin',
    body: '{"changes":{"args":[]}}',
  });
  expect(new Headers(init?.headers).get('x-trunkline')).toBe('1');
});

test("API client: keeps the gateway's error message and adds advice", async () => {
  const error = { code: 'REVISION_CONFLICT', message: 'The file was changed.', details: {} };
  const { api, onSignedOut } = apiWith(() => Response.json({ error }, { status: 409 }));
  await expect(api.request('GET /api/status', {})).rejects.toMatchObject({
    code: 'REVISION_CONFLICT',
    message: 'The file was changed.',
    advice: expect.stringContaining('again') as string,
    status: 409,
  });
  expect(onSignedOut).not.toHaveBeenCalled();
});

test('API client: reports a lost session once', async () => {
  const { api, onSignedOut } = apiWith(() => new Response('<h1>no</h1>', { status: 401 }));
  await expect(api.request('GET /api/status', {})).rejects.toMatchObject({ isSignedOut: true });
  expect(onSignedOut).toHaveBeenCalledTimes(1);
});

test('API client: explains how to start an unreachable gateway', async () => {
  const { api } = apiWith(() => {
    throw new TypeError('Failed to fetch');
  });
  await expect(api.request('GET /api/status', {})).rejects.toMatchObject({
    code: 'GATEWAY_UNAVAILABLE',
    advice: expect.stringContaining('trunkline serve --http') as string,
  });
});
