import { expect } from 'vitest';

import { rpcErrorOf, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'protocol era: legacy and modern clients use one address at the same time',
  { downstream: ['http/legacy'], upstream: ['stdio/legacy', 'stdio/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const legacy = line.client;
    const modern = await line.another({ era: 'modern' });
    const older = await line.another({ version: '2024-11-05' });
    const clients = [legacy, modern, older];
    const lists = await Promise.all(clients.map((client) => waitForTool(client, 'one__echo')));
    expect(lists[1]).toEqual(lists[0]);
    expect(lists[2]).toEqual(lists[0]);
    // All calls run at the server at the same time.
    const results = await Promise.all(
      clients.map((client, index) => client.callTool('one__slow', { ms: 300, text: `of ${index}` })),
    );
    expect(results.map(textOfResult)).toEqual(['of 0', 'of 1', 'of 2']);
    expect(results.map((result) => result['resultType'])).toEqual([undefined, 'complete', undefined]);
    expect(line.logs['one']?.of('started')).toHaveLength(1);
  },
);

// MCP 2025-11-25 basic/lifecycle
scenario(
  'protocol version: accepts 2024-11-05 to 2025-11-25, and answers an unknown one with 2025-11-25',
  { downstream: ['stdio/legacy', 'http/legacy'] },
  async (cell) => {
    const agree = async (client: RawClient, offered: string, agreed = offered) => {
      expect(await client.initialize()).toMatchObject({
        protocolVersion: agreed,
        serverInfo: { name: 'trunkline', version: expect.any(String) },
        capabilities: { tools: { listChanged: true } },
      });
      expect(textOfResult(await client.callTool('one__echo', { text: offered }))).toBe(offered);
    };
    const versions = [
      ...['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map((version) => [version] as const),
      ...['2099-01-01', 'nonsense'].map((version) => [version, '2025-11-25'] as const),
    ];
    const servers = { one: ['plain'] } as const;
    if (cell.downstream === 'stdio/legacy') {
      for (const [version, agreed] of versions) {
        await using line = await cell.open(servers, { open: false, version });
        await agree(line.client, version, agreed);
      }
      return;
    }
    await using line = await cell.open(servers);
    for (const [version, agreed] of versions) {
      await using client = await line.gateway.client({ open: false, version });
      await agree(client, version, agreed);
    }
  },
);

// MCP 2026-07-28 basic/versioning
scenario(
  'protocol version: a modern request with an unknown version gets -32022 and the supported ones',
  { downstream: ['stdio/modern', 'http/modern'] },
  async (cell) => {
    const version = '2099-01-01';
    await using line = await cell.open({ one: ['plain'] }, { open: false, version });
    const { client } = line;
    for (const [method, params] of [
      ['server/discover', {}],
      ['tools/list', {}],
      ['tools/call', { name: 'one__echo', arguments: { text: 'x' } }],
    ] as const) {
      const error = await rpcErrorOf(client.request(method, params));
      expect(error).toMatchObject({ code: -32022, data: { requested: version } });
      expect((error.data as { supported: string[] }).supported).toContain('2026-07-28');
      if (client.transport === 'http') expect(error.status).toBe(400);
    }
    expect(line.logs['one']?.of('call')).toEqual([]);
    // A client that picks a supported version continues on the same connection.
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const headers = { 'mcp-protocol-version': '2026-07-28' };
    const result = await client.callTool('one__echo', { text: 'again' }, { meta, headers });
    expect(textOfResult(result)).toBe('again');
  },
);
