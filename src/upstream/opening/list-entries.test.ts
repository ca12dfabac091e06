import { describe, expect, test } from 'vitest';

import { Cancellation } from '../../lib/cancellation.ts';
import { Payload } from '../../lib/payload.ts';
import { RpcError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { listEntries } from './list-entries.ts';
import type { RawListing } from './list-entries.ts';

type Server = (method: string, cursor: unknown) => unknown;

class Asked {
  readonly requests: string[] = [];

  list(capabilities: JsonObject, server: Server): Promise<RawListing> {
    const facts = { era: 'legacy', protocol: '2025-11-25', info: {}, capabilities } as const;
    return listEntries(
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
  test('asks for every list that the server declared, and for no other', async () => {
    const asked = new Asked();
    const listing = await asked.list({ tools: {}, resources: {} }, (method) =>
      method === 'resources/templates/list' ? { resourceTemplates: [4] } : { tools: [1], resources: [3] },
    );
    expect(asked.requests).toEqual(['tools/list {}', 'resources/list {}', 'resources/templates/list {}']);
    expect(listing).toMatchObject({ tools: [1], prompts: [], resources: [3], templates: [4], isCut: false });
  });

  test('follows the pages to the end', async () => {
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

  test('leaves pages without end after the two hundredth', async () => {
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
  ])('stops when a cursor comes again %s', async (_, cursors) => {
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
    ['on a page with another one behind it', 'more'],
  ])('takes no more than twenty thousand entries, also %s', async (_, nextCursor) => {
    const asked = new Asked();
    const tools = Array.from({ length: 20_001 }, (__, at) => at);
    const listing = await asked.list({ tools: {} }, () => ({ tools, nextCursor }));
    expect(asked.requests).toHaveLength(1);
    expect(listing.tools).toEqual(tools.slice(0, 20_000));
    expect(listing.isCut).toBe(true);
  });

  test('takes a list that was declared but is not there as empty', async () => {
    const listing = await new Asked().list({ resources: {} }, (method) =>
      method === 'resources/list' ? { resources: [1] } : notThere,
    );
    expect(listing).toMatchObject({ resources: [1], templates: [], isCut: false });
  });

  test('fails with any other error', async () => {
    const refused = new RpcError({ code: -32603, message: 'no' });
    await expect(new Asked().list({ tools: {} }, () => refused)).rejects.toBe(refused);
  });

  test.each([[null], [5], ['text'], [[1]]])('takes nothing from an answer that is %j', async (answer) => {
    expect(await new Asked().list({ tools: {} }, () => answer)).toMatchObject({ tools: [], isCut: true });
  });

  test('takes nothing where a list should be', async () => {
    expect(await new Asked().list({ tools: {} }, () => ({ tools: 'x', nextCursor: 5 }))).toMatchObject({
      tools: [],
      isCut: false,
    });
  });
});
