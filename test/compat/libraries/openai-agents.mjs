import {
  Agent,
  MCPServerStdio,
  MCPServerStreamableHttp,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
} from '@openai/agents';

const [kind, address, modelUrl] = process.argv.slice(2);
setTracingDisabled(true);
const server =
  kind === 'stdio'
    ? new MCPServerStdio({ name: 'trunkline', command: 'trunkline', args: ['serve'], env: process.env })
    : new MCPServerStreamableHttp({ name: 'trunkline', url: address });
await server.connect();
try {
  const modelProvider = new OpenAIProvider({
    apiKey: 'scripted',
    baseURL: `${modelUrl}/v1`,
    useResponses: true,
  });
  const agent = new Agent({
    name: 'scripted',
    instructions: 'Run it.',
    model: 'gpt-5',
    mcpServers: [server],
  });
  const runner = new Runner({ modelProvider });
  const { finalOutput } = await runner.run(agent, `Please run script:${kind}`, { maxTurns: 10 });
  console.log(finalOutput);
} finally {
  await server.close();
}
