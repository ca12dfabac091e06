#!/usr/bin/env node
// The MCP server that clients reach through the gateway: a result that is too long for a model, and a call that takes long.
// `--log FILE` records what happens at the server; it is an argument because not every client can pass variables.
import { readOptions } from '../support/servers/engine/options.mjs';
import { integer, object, text } from '../support/servers/engine/schema.mjs';

process.env.FIXTURE_LOG = readOptions(process.argv.slice(2)).text('log');
// The engine reads the variable when it is loaded.
const { serve } = await import('../support/servers/engine/engine.mjs');

const annotations = { readOnlyHint: true };

await serve({
  name: 'notes',
  tools: [
    {
      name: 'print_lines',
      description: 'Prints numbered lines of text.',
      inputSchema: object({ count: integer }),
      annotations,
      call: ({ count }) => text(Array.from({ length: count }, (_, at) => `This is line ${at}.\n`).join('')),
    },
    {
      name: 'show_variable',
      description: 'Shows the environment variable that the compatibility run sets.',
      inputSchema: object({}),
      annotations,
      call: () => text(`The variable is ${process.env.COMPAT_TOKEN ?? 'not set'}.`),
    },
    {
      name: 'wait',
      description: 'Waits for some milliseconds.',
      inputSchema: object({ ms: integer }),
      annotations,
      async call({ ms }, call) {
        await call.pause(ms);
        return text(`Waited for ${ms} ms.`);
      },
    },
  ],
});
