import { expect, test, vi } from 'vitest';

import { makeApi } from './api.ts';

function apiWith(answer: () => Response | Promise<Response>) {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => answer());
  const onSignedOut = vi.fn<() => void>();
  return { api: makeApi({ fetch, onSignedOut }), fetch, onSignedOut };
}

test('what the path names is taken from the input, the rest of a question is its query', async () => {
  const { api, fetch } = apiWith(() => Response.json({ lines: [] }));
  await api.ask('GET /api/servers/:name/log', { name: 'a/b ?', lines: 20 });
  const [url, init] = fetch.mock.calls[0] ?? [];
  expect(url).toBe('/api/servers/a%2Fb%20%3F/log?lines=20');
  expect(new Headers(init?.headers).get('x-trunkline')).toBe('1');
  expect(init?.body).toBeUndefined();
});

test('a change has its input as body, and the header that other pages cannot send', async () => {
  const { api, fetch } = apiWith(() => Response.json({}));
  await api.ask('PATCH /api/servers/:name', { name: 'files', changes: { args: [] } });
  const [url, init] = fetch.mock.calls[0] ?? [];
  expect(url).toBe('/api/servers/files');
  expect(init).toMatchObject({
    method: 'PATCH',
    credentials: 'same-origin',
    body: '{"changes":{"args":[]}}',
  });
  expect(new Headers(init?.headers).get('x-trunkline')).toBe('1');
});

test('an error of the gateway keeps its words and says what to do', async () => {
  const error = { code: 'REVISION_CONFLICT', message: 'The file was changed.', details: {} };
  const { api, onSignedOut } = apiWith(() => Response.json({ error }, { status: 409 }));
  await expect(api.ask('GET /api/status', {})).rejects.toMatchObject({
    code: 'REVISION_CONFLICT',
    message: 'The file was changed.',
    advice: expect.stringContaining('again') as string,
    status: 409,
  });
  expect(onSignedOut).not.toHaveBeenCalled();
});

test('whoever is not signed in any more is told once', async () => {
  const { api, onSignedOut } = apiWith(() => new Response('<h1>no</h1>', { status: 401 }));
  await expect(api.ask('GET /api/status', {})).rejects.toMatchObject({ isSignedOut: true });
  expect(onSignedOut).toHaveBeenCalledTimes(1);
});

test('a gateway that does not answer is named, with how to start it', async () => {
  const { api } = apiWith(() => {
    throw new TypeError('Failed to fetch');
  });
  await expect(api.ask('GET /api/status', {})).rejects.toMatchObject({
    code: 'GATEWAY_UNAVAILABLE',
    advice: expect.stringContaining('trunkline serve --http') as string,
  });
});
