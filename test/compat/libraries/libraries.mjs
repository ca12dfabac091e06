/**
 * Libraries and command-line tools from npm that speak MCP. `program` is the file in this folder that uses the library; it is called with the
 * transport (`stdio` or `http`), the address of the gateway and the address of the model. With `hasModel`, the scripted model decides on the
 * calls; otherwise the program makes them and prints their results as a JSON array.
 */
export const libraries = [
  {
    id: 'ai-sdk',
    title: 'AI SDK',
    packages: ['@ai-sdk/mcp@2.0.99', 'ai@7.0.173', '@ai-sdk/openai-compatible@3.0.92', 'zod@4.6.7'],
    program: 'ai-sdk.mjs',
    hasModel: true,
  },
  {
    id: 'openai-agents',
    title: 'OpenAI Agents',
    packages: ['@openai/agents@0.20.0', 'zod@4.6.7'],
    program: 'openai-agents.mjs',
    hasModel: true,
  },
  {
    id: 'claude-agent-sdk',
    title: 'Claude Agent SDK',
    packages: ['@anthropic-ai/claude-agent-sdk@0.3.327', 'zod@4.6.7'],
    program: 'claude-agent-sdk.mjs',
    hasModel: true,
  },
  {
    id: 'mastra',
    title: 'Mastra',
    packages: ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0', 'zod@4.6.7'],
    program: 'mastra.mjs',
  },
  {
    id: 'langchain',
    title: 'LangChain',
    packages: [
      '@langchain/mcp-adapters@1.1.4',
      '@langchain/core@1.2.13',
      '@langchain/langgraph@1.4.10',
      'zod@4.6.7',
    ],
    program: 'langchain.mjs',
  },
  {
    id: 'mcporter',
    title: 'mcporter',
    packages: ['mcporter@0.12.3'],
    program: 'mcporter.mjs',
  },
  {
    id: 'inspector',
    title: 'MCP Inspector (command line)',
    packages: ['@modelcontextprotocol/inspector@2.12.0'],
    program: 'inspector.mjs',
  },
];
