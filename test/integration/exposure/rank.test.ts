import { expect } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { chatAnswer, startRankEndpoint } from '../../support/rank-endpoint.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

const args = ['--expose', 'search'];
const startup = { listWait: '60s' };

/** Returns the names of the tools that a search finds, in order. */
async function found(client: RawClient, query: string): Promise<readonly string[]> {
  const answer = textOfResult(await client.callTool('search_tools', { query, limit: 2 }));
  return answer.split('\n').flatMap((line) => /^(\w+)\(/.exec(line)?.[1] ?? []);
}

scenario(
  'search ranking: prefers recently used tools among equal matches when usage is enabled',
  { slow: true, downstream: everyLeg },
  async (cell) => {
    for (const usage of [true, false]) {
      await using line = await cell.open(
        { x: ['plain'], y: ['plain'] },
        { args, config: { startup, search: { usage } } },
      );
      const { client } = line;
      expect(await found(client, 'add numbers')).toEqual(['x__add', 'y__add']);
      await client.callTool('call_read_tool', { name: 'y__add', arguments: { a: 1, b: 1 } });
      expect(await found(client, 'add numbers')).toEqual(usage ? ['y__add', 'x__add'] : ['x__add', 'y__add']);
      expect((await found(client, 'x__add'))[0]).toBe('x__add');
    }
  },
);

scenario(
  'search ranking: applies the order of a rerank endpoint and only logs its failures',
  async (cell) => {
    await using endpoint = await startRankEndpoint();
    endpoint.answer = () => chatAnswer('[2, 1]');
    const rerank = { url: endpoint.url, model: 'm', apiKey: '${env:RANK_KEY}', top: 2, timeout: '5s' };
    await using line = await cell.open(
      { x: ['plain'], y: ['plain'] },
      { args, config: { startup, search: { rerank } }, env: { RANK_KEY: 'hush-hush' } },
    );
    const { client, gateway } = line;
    expect(await found(client, 'add numbers')).toEqual(['y__add', 'x__add']);
    expect(endpoint.requests[0]?.headers.authorization).toBe('Bearer hush-hush');
    endpoint.answer = (_request, response) => void response.writeHead(500).end('hush-hush');
    expect(await found(client, 'add  NUMBERS')).toEqual(['y__add', 'x__add']);
    expect(await found(client, 'adding numbers')).toEqual(['x__add', 'y__add']);
    expect(endpoint.requests).toHaveLength(2);
    await eventually(() => expect(gateway.stderr()).toContain('HTTP status 500'));
    expect(gateway.stderr()).not.toContain('hush-hush');
  },
);
