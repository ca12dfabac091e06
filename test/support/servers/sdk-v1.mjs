#!/usr/bin/env node
// A server built with version 1 of the official SDK, over stdio or (`--http PORT`) Streamable HTTP with sessions.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

import { listenOnLoopback } from './engine/loopback.mjs';
import { note } from './engine/note.mjs';
import { readOptions } from './engine/options.mjs';

const options = readOptions(process.argv.slice(2));
note('started', { ppid: process.ppid, argv: process.argv.slice(2) });
if (options.has('http')) {
  const serve = sessions();
  const server = createServer((request, response) => void serve(request, response));
  await listenOnLoopback(server, options);
} else await build().connect(new StdioServerTransport());

function build() {
  const server = new McpServer({ name: 'sdk-v1', version: '1.0.0' }, { instructions: 'Built with SDK v1.' });
  server.registerTool(
    'echo',
    { description: 'Returns the given text.', inputSchema: { text: z.string() } },
    ({ text }) => {
      note('call', { tool: 'echo', arguments: { text } });
      return { content: [{ type: 'text', text }] };
    },
  );
  server.registerTool(
    'progress',
    { description: 'Reports progress in steps.', inputSchema: { steps: z.number() } },
    async ({ steps }, { _meta, sendNotification }) => {
      for (let step = 1; step <= steps && _meta?.progressToken !== undefined; step += 1) {
        const params = { progressToken: _meta.progressToken, progress: step, total: steps };
        await sendNotification({ method: 'notifications/progress', params });
      }
      return { content: [{ type: 'text', text: `${steps} steps` }] };
    },
  );
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => ({
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

/** Creates one transport and one server per session, as the SDK requires. */
function sessions() {
  const transports = new Map();
  return async (request, response) => {
    const known = transports.get(request.headers['mcp-session-id']);
    if (known !== undefined) {
      await known.handleRequest(request, response);
    } else if (request.headers['mcp-session-id'] !== undefined) {
      response.writeHead(404).end();
    } else {
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: options.text('answer') === 'json',
        onsessioninitialized(id) {
          note('session-opened', { session: id });
          transports.set(id, transport);
        },
        onsessionclosed(id) {
          note('session-closed', { session: id, how: 'deleted' });
          transports.delete(id);
        },
      });
      await build().connect(transport);
      await transport.handleRequest(request, response);
    }
  };
}
