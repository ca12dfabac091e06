import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount } from 'ai';

const [kind, address, modelUrl] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: 'scripted', baseURL: `${modelUrl}/v1`, apiKey: 'scripted' });
const transport =
  kind === 'stdio'
    ? new StdioTransport({ command: 'trunkline', args: ['serve'], env: process.env })
    : { type: 'http', url: address };
const client = await createMCPClient({ transport });
try {
  const { text } = await generateText({
    model: provider('scripted'),
    tools: await client.tools(),
    prompt: `Please run script:${kind}`,
    stopWhen: isStepCount(10),
  });
  console.log(text);
} finally {
  await client.close();
}
