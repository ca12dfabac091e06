#!/usr/bin/env node
// A server built with version 2 of the official SDK that supports both eras, over stdio or (`--http PORT`) Streamable HTTP.
// Over HTTP, legacy clients have no sessions. `--era modern` rejects legacy clients.
import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, ResourceTemplate, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

import { listenOnLoopback } from './engine/loopback.mjs';
import { note } from './engine/note.mjs';
import { readOptions } from './engine/options.mjs';

const options = readOptions(process.argv.slice(2));
const modernOnly = options.text('era') === 'modern';
note('started', { ppid: process.ppid, argv: process.argv.slice(2) });
if (options.has('http')) {
  const handler = createMcpHandler(build, { legacy: modernOnly ? 'reject' : 'stateless' });
  const serve = toNodeHandler(handler);
  const server = createServer((request, response) => void serve(request, response));
  await listenOnLoopback(server, options);
} else {
  serveStdio(build, { legacy: modernOnly ? 'reject' : 'serve' });
}

function build({ era }) {
  const server = new McpServer({ name: 'sdk-v2', version: '1.0.0' }, { instructions: 'Built with SDK v2.' });
  const echo = { description: 'Returns the given text.', inputSchema: z.object({ text: z.string() }) };
  server.registerTool('echo', echo, ({ text }) => {
    note('call', { tool: 'echo', arguments: { text }, era });
    return { content: [{ type: 'text', text }] };
  });
  const progress = {
    description: 'Reports progress in steps.',
    inputSchema: z.object({ steps: z.number() }),
  };
  server.registerTool('progress', progress, async ({ steps }, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (let step = 1; step <= steps && progressToken !== undefined; step += 1) {
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: step, total: steps },
      });
    }
    return { content: [{ type: 'text', text: `${steps} steps` }] };
  });
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}!` } }],
  }));
  server.registerResource('text', 'fixture://text', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, text: 'a static text' }],
  }));
  server.registerResource(
    'item',
    new ResourceTemplate('fixture://item/{id}', { list: undefined }),
    {},
    (uri, { id }) => ({
      contents: [{ uri: uri.href, text: String(id) }],
    }),
  );
  return server;
}
