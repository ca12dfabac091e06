// A made-up MCP server for the screenshots: `node demo-server.mjs NAME` offers the tools of that name in demo-tools.mjs.

import { createInterface } from 'node:readline';

import { demoTools } from './demo-tools.mjs';

const name = process.argv[2] ?? '';
const tools = demoTools(name);

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name, version: '1.4.2' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name: tool, arguments: args }) => {
    const value = { tool, total: 3, items: itemsFor(args) };
    return { content: [{ type: 'text', text: JSON.stringify(value, null, 2) }], structuredContent: value };
  },
};

process.stderr.write(`INFO ${name} 1.4.2 offers ${tools.length} tools\n`);
process.stderr.write('INFO Reading the settings of the workspace "analytical-engines"\n');
process.stderr.write('WARN Rate limit: 4,212 of 5,000 requests left in this hour\n');
process.stderr.write('DEBUG Cache warmed in 84 ms\n');

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const result = handlers[method]?.(params);
  const answer =
    result === undefined ? { error: { code: -32601, message: `Method not found: ${method}` } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}

function itemsFor({ query = '' }) {
  const titles = [
    'Charts lose their axes on a phone',
    'Export keeps the filter',
    'Retry after a lost connection',
  ];
  return titles.map((title, index) => ({ id: 4217 - index * 38, title, state: 'open', matches: query }));
}
