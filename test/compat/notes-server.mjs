#!/usr/bin/env node
// The MCP server that clients reach through the gateway: a result that is too long for a model, and a call that takes long.
// `--log FILE` records what happens at the server; it is an argument because not every client can pass variables. `--delay MS` delays the
// start, `--many N` adds N tools, and `--long` adds two tools whose long names differ only in their last character.
import { readOptions } from '../support/servers/engine/options.mjs';
import { integer, object, text } from '../support/servers/engine/schema.mjs';

const options = readOptions(process.argv.slice(2));
process.env.FIXTURE_LOG = options.text('log');
// The engine reads the variable when it is loaded.
const { serve } = await import('../support/servers/engine/engine.mjs');
const { note } = await import('../support/servers/engine/note.mjs');

const annotations = { readOnlyHint: true };

/** With the prefix `notes__` of the gateway, these names have 64 characters. */
const longNames = options.has('long')
  ? ['a', 'b'].map((last) => `${'long_name_'.repeat(6).slice(0, 55)}_${last}`)
  : [];
const manyNames = Array.from({ length: options.number('many', 0) }, (_, at) => `archive_document_${at}`);

await serve({
  name: 'notes',
  beforeServing: () => new Promise((resolve) => setTimeout(resolve, options.number('delay', 0))),
  intercept({ method, params }) {
    if (method === 'tools/call') note('called-with', { meta: Object.keys(params._meta ?? {}) });
  },
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
    {
      name: 'write_note',
      description: 'Writes a note.',
      inputSchema: object({}),
      call() {
        note('written');
        return text('The note was written.');
      },
    },
    ...[...longNames, ...manyNames].map((name) => ({
      name,
      description: `Is the tool ${name}, which answers with its own name.`,
      inputSchema: object({}),
      annotations,
      call: () => text(`I am ${name}.`),
    })),
  ],
});
