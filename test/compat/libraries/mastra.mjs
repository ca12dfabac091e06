import { MCPClient } from '@mastra/mcp';

import { printLoop } from './loop.mjs';

const [kind, address] = process.argv.slice(2);
const trunkline =
  kind === 'stdio' ? { command: 'trunkline', args: ['serve'], env: process.env } : { url: new URL(address) };
const client = new MCPClient({ servers: { trunkline } });
try {
  const tools = await client.listTools();
  await printLoop(async (name, args) => JSON.stringify(await tools[`trunkline_${name}`].execute(args, {})));
} finally {
  await client.disconnect();
}
