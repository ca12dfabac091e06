import { everythingContent } from './content.mjs';
import { note } from './note.mjs';
import { RpcError } from './rpc-error.mjs';
import { integer, number, object, string, text } from './schema.mjs';

/** The tools of a well-behaved server, which together use every field of a tool. */
export function plainTools() {
  return [...answering, ...taking, ...failing, ...talking];
}

const answering = [
  {
    name: 'echo',
    title: 'Echo',
    description: 'Returns the given text.',
    inputSchema: object({ text: { ...string, description: 'What to say.' } }),
    annotations: { title: 'Echo', readOnlyHint: true, openWorldHint: false, 'x-future-hint': 'kept' },
    icons: [{ src: 'data:image/svg+xml;base64,PHN2Zy8+', mimeType: 'image/svg+xml', sizes: ['any'] }],
    _meta: { 'example.com/weight': 7 },
    'x-unknown': { nobody: ['knows', null, 1.5] },
    call: (args) => text(String(args.text)),
  },
  {
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: object({ a: number, b: number }),
    annotations: { readOnlyHint: true },
    call: ({ a, b }) => text(String(a + b)),
  },
  {
    name: 'structured',
    description: 'Answers with structured content that fits its output schema.',
    inputSchema: object({ city: string }, ['city']),
    outputSchema: object({ city: string, degrees: number }),
    call: ({ city = 'Prague' }) => {
      const structuredContent = { city, degrees: 21.5 };
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    },
  },
  {
    name: 'everything-content',
    description: 'Returns text, pictures and numbers with many digits.',
    inputSchema: object(),
    call: everythingContent,
  },
  {
    name: 'big',
    description: 'Answers with a text of so many bytes.',
    inputSchema: object({ bytes: integer }),
    call: ({ bytes }) => text('0123456789abcdef'.repeat(Math.ceil(bytes / 16)).slice(0, bytes)),
  },
  {
    name: 'env',
    description: 'Tells values of its environment.',
    inputSchema: object({ names: { type: 'array', items: string } }),
    call: ({ names }) =>
      text(JSON.stringify(Object.fromEntries(names.map((name) => [name, process.env[name] ?? null])))),
  },
  {
    name: 'cwd',
    description: 'Tells its working directory.',
    inputSchema: object(),
    call: () => text(process.cwd()),
  },
  {
    name: 'pid',
    description: 'Tells its process and the session it sees.',
    inputSchema: object(),
    call: (_args, { link }) => text(JSON.stringify({ pid: process.pid, session: link.id })),
  },
  {
    name: 'regional',
    description: 'Has a parameter that modern clients mirror into a header.',
    inputSchema: object({ region: { ...string, 'x-mcp-header': 'Region' } }),
    call: ({ region }) => text(region),
  },
];

const taking = [
  {
    name: 'slow',
    description: 'Answers after so many milliseconds, or never when it is cancelled before.',
    inputSchema: object({ ms: integer, text: string }, ['text']),
    async call({ ms, text: said = 'done' }, call) {
      await call.pause(ms);
      return text(said);
    },
  },
  {
    name: 'progress',
    description: 'Reports progress in steps, a pause before each.',
    inputSchema: object({ steps: integer, ms: integer }, ['ms']),
    async call({ steps, ms = 0 }, call) {
      for (let step = 1; step <= steps; step += 1) {
        if (ms > 0) await call.pause(ms);
        call.progress(step, steps, `step ${step}`);
      }
      return text(`${steps} steps`);
    },
  },
];

const failing = [
  {
    name: 'fail',
    description: 'Answers with a result that is an error.',
    inputSchema: object(),
    call: () => ({
      ...text('The tool failed.'),
      isError: true,
      _meta: { 'example.com/reason': 'asked for' },
    }),
  },
  {
    name: 'rpc-error',
    description: 'Answers with a JSON-RPC error.',
    inputSchema: object(),
    call() {
      throw new RpcError(-32050, 'The server failed.', {
        data: { reason: 'asked for', depth: [1, { two: 2 }] },
      });
    },
  },
  {
    name: 'crash',
    description: 'Ends the process in the middle of the call.',
    inputSchema: object(),
    annotations: { destructiveHint: true },
    call() {
      process.stderr.write('fixture: crashing as asked\n');
      note('ended', { by: 'crash' });
      process.exit(7);
    },
  },
];

const talking = [
  {
    name: 'log',
    description: 'Sends a log message of a level before it answers.',
    inputSchema: object({ level: string, data: string }, ['level', 'data']),
    call({ level = 'info', data = 'a line' }, call) {
      call.log(level, data, 'fixture');
      return text('logged');
    },
  },
  {
    name: 'ping-me',
    description: 'Pings the client and answers when it has answered.',
    inputSchema: object(),
    async call(_args, { era, link, exchange }) {
      if (era === 'modern') throw new Error('There is no ping in this protocol.');
      await link.ask('ping', undefined, (line) => exchange.send(line));
      return text('pong');
    },
  },
  {
    name: 'touch',
    description: 'Announces that a resource is another now.',
    inputSchema: object({ uri: string }),
    call({ uri }, { server }) {
      server.updated(uri);
      return text('touched');
    },
  },
  {
    name: 'change-list',
    description: 'Adds so many tools and announces the change so many times.',
    inputSchema: object({ add: integer, announce: integer }, ['add', 'announce']),
    call({ add = 1, announce = 1 }, { server }) {
      const before = server.tools.length;
      for (let index = 0; index < add; index += 1) server.tools.push(addedTool(before + index));
      for (let index = 0; index < announce; index += 1) server.changed('tools');
      return text(String(server.tools.length));
    },
  },
];

/** Returns a tool that is added after the start. */
export function addedTool(index) {
  return {
    name: `added-${index}`,
    description: 'Came later.',
    inputSchema: object(),
    call: () => text(`added-${index}`),
  };
}
