import { MultiServerMCPClient } from '@langchain/mcp-adapters';

import { printLoop } from './loop.mjs';

const [kind, address] = process.argv.slice(2);
const trunkline =
  kind === 'stdio' ? { command: 'trunkline', args: ['serve'], env: process.env } : { url: address };
const client = new MultiServerMCPClient({ mcpServers: { trunkline } });
try {
  const tools = await client.getTools();
  await printLoop(async (name, args) => {
    const result = await tools.find((tool) => tool.name === name).invoke(args);
    return typeof result === 'string' ? result : JSON.stringify(result);
  });
} finally {
  await client.close();
}
