import { describe, expect, test } from 'vitest';

import { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import { RpcError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { fetchListing } from './fetch-listing.ts';
import type { RawListing } from './fetch-listing.ts';

type Server = (method: string, cursor: unknown) => unknown;

class Asked {
  readonly requests: string[] = [];

  list(capabilities: JsonObject, server: Server): Promise<RawListing> {
    const facts = { era: 'legacy', protocol: '2025-11-25', info: {}, capabilities } as const;
    return fetchListing(
      (method, params) => {
        this.requests.push(`${method} ${JSON.stringify(params)}`);
        const result = server(method, params['cursor']);
        return result instanceof Error ? Promise.reject(result) : Promise.resolve(Payload.of(result));
      },
      facts,
      new Cancellation(),
    );
  }
}

const notThere = new RpcError({ code: -32601, message: 'Method not found' });

describe('listEntries', () => {
  test('listing: requests only the lists that the server declared', async () => {
    const asked = new Asked();
    const listing = await asked.list({ tools: {}, resources: {} }, (method) =>
      method === 'resources/templates/list' ? { resourceTemplates: [4] } : { tools: [1], resources: [3] },
    );
    expect(asked.requests).toEqual(['tools/list {}', 'resources/list {}', 'resources/templates/list {}']);
    expect(listing).toMatchObject({ tools: [1], prompts: [], resources: [3], templates: [4], isCut: false });
  });

  test('listing: follows all pages', async () => {
    const asked = new Asked();
    const listing = await asked.list({ tools: {} }, (_, cursor) =>
      cursor === undefined
        ? { tools: [1, 2], nextCursor: 'a' }
        : cursor === 'a'
          ? { tools: [3], nextCursor: 'b' }
          : { tools: [4] },
    );
    expect(asked.requests).toEqual([
      'tools/list {}',
      'tools/list {"cursor":"a"}',
      'tools/list {"cursor":"b"}',
    ]);
    expect(listing).toMatchObject({ tools: [1, 2, 3, 4], isCut: false });
  });

  test('listing: stops after 200 pages', async () => {
    const asked = new Asked();
    let page = 0;
    const listing = await asked.list({ prompts: {} }, () => ({
      prompts: [page++],
      nextCursor: `page ${page}`,
    }));
    expect(asked.requests).toHaveLength(200);
    expect(listing.prompts).toHaveLength(200);
    expect(listing.isCut).toBe(true);
  });

  test.each([
    ['at once', ['a', 'a']],
    ['after others', ['a', 'b', 'c', 'a']],
  ])('listing: stops when a cursor repeats %s', async (_, cursors) => {
    const asked = new Asked();
    const listing = await asked.list({ tools: {} }, () => ({
      tools: [1],
      nextCursor: cursors[asked.requests.length - 1],
    }));
    expect(asked.requests).toHaveLength(cursors.length);
    expect(listing.isCut).toBe(true);
  });

  test.each([
    ['on one page', undefined],
    ['on a page with a next cursor', 'more'],
  ])('listing: takes at most 20,000 entries %s', async (_, nextCursor) => {
    const asked = new Asked();
    const tools = Array.from({ length: 20_001 }, (__, at) => at);
    const listing = await asked.list({ tools: {} }, () => ({ tools, nextCursor }));
    expect(asked.requests).toHaveLength(1);
    expect(listing.tools).toEqual(tools.slice(0, 20_000));
    expect(listing.isCut).toBe(true);
  });

  test('listing: takes at most 500 resource templates', async () => {
    const resourceTemplates = Array.from({ length: 501 }, (_, at) => at);
    const listing = await new Asked().list({ resources: {} }, (method) =>
      method === 'resources/templates/list' ? { resourceTemplates } : { resources: [] },
    );
    expect(listing.templates).toEqual(resourceTemplates.slice(0, 500));
    expect(listing.isCut).toBe(true);
  });

  test('listing: treats a declared but missing list as empty', async () => {
    const listing = await new Asked().list({ resources: {} }, (method) =>
      method === 'resources/list' ? { resources: [1] } : notThere,
    );
    expect(listing).toMatchObject({ resources: [1], templates: [], isCut: false });
  });

  test('listing: fails with any other error', async () => {
    const refused = new RpcError({ code: -32603, message: 'no' });
    await expect(new Asked().list({ tools: {} }, () => refused)).rejects.toBe(refused);
  });

  test.each([[null], [5], ['text'], [[1]]])(
    'listing: is empty and truncated when the response is %j',
    async (answer) => {
      expect(await new Asked().list({ tools: {} }, () => answer)).toMatchObject({ tools: [], isCut: true });
    },
  );

  test('listing: ignores a list that is not an array', async () => {
    expect(await new Asked().list({ tools: {} }, () => ({ tools: 'x', nextCursor: 5 }))).toMatchObject({
      tools: [],
      isCut: false,
    });
  });
});
