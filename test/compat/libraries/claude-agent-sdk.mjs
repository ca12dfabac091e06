import { query } from '@anthropic-ai/claude-agent-sdk';

const [kind, address, modelUrl] = process.argv.slice(2);
Object.assign(process.env, {
  ANTHROPIC_BASE_URL: modelUrl,
  ANTHROPIC_API_KEY: 'scripted',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
});
const trunkline =
  kind === 'stdio' ? { command: 'trunkline', args: ['serve'] } : { type: 'http', url: address };
const options = { mcpServers: { trunkline }, allowedTools: ['mcp__trunkline__*'], settingSources: [] };
for await (const message of query({ prompt: `Please run script:${kind}`, options })) {
  if (message.type === 'result') console.log(message.result);
}
