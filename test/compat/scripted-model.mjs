// A model on loopback that plays scripts instead of thinking, for real AI clients. It speaks Anthropic Messages, OpenAI Responses and Chat,
// and Gemini; see model-dialects.mjs.
//
//   const model = await startScriptedModel();
//   model.scripts.add = [{ call: 'search_tools', args: { query: 'add' } }, { say: 'Done.' }];
//   // … run a client with model.url as its endpoint and 'Run script:add' as its prompt …
//   model.turnsOf('add') // → the finished calls with their results
//   model.close();

import { createServer } from 'node:http';

import { findDialect } from './model-dialects.mjs';

const MAX_BODY_BYTES = 20_000_000;

/** Tools with which clients search for the tools that they defer. Calls of them are no steps of a script. */
const CLIENT_SEARCH_TOOLS = new Set(['ToolSearch', 'tool_search', 'tool_search_tool']);
/** A tool with which a client calls a tool that it defers. */
const CLIENT_CALL_TOOL = 'tool_call';

export async function startScriptedModel() {
  const scripts = {};
  const requests = [];
  const holds = new Map();
  const handle = async (request, response) => {
    try {
      const text = await readBody(request);
      await answer(request.url ?? '', text, response, { scripts, requests, holds });
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  };
  const server = createServer((request, response) => void handle(request, response));
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /**
     * By name: steps, each `{ call, args }` or `{ say }`. `call` is the name of a tool, or a function that chooses one of the visible tools;
     * `args` may be a function of the results so far. The model answers with the step once `until`, if any, returns true.
     */
    scripts,
    /** Returns the requests of conversations whose prompt names the script, oldest first. */
    requestsOf: (name) => requests.filter(({ script }) => script === name),
    /** Returns the finished calls of a script. A helper request of the client, such as for a title, may be the last one and has no calls. */
    turnsOf: (name) =>
      requests
        .filter(({ script }) => script === name)
        .map(({ turns }) => stepTurns(turns))
        .reduce((longest, turns) => (turns.length >= longest.length ? turns : longest), []),
    /** Delays the last answer of a script until `isOver` returns true. */
    hold: (name, isOver) => holds.set(name, isOver),
    /** Paths that the model does not serve, which explain a client that fails. */
    unknownPaths: () => requests.filter(({ script }) => script === undefined).map(({ path }) => path),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function answer(path, text, response, { scripts, requests, holds }) {
  const dialect = findDialect(path);
  if (dialect === undefined) {
    const fixed = fixedAnswer(path);
    if (fixed === undefined) requests.push({ path });
    const value = fixed ?? { error: { type: 'not_found_error', message: `unknown path ${path}` } };
    response.writeHead(fixed === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
    return;
  }
  const body = JSON.parse(text);
  const request = { body, ...dialect.read(body, path) };
  const [, script] = /script:([\w-]+)/.exec(text) ?? [];
  const next = nextAnswer(scripts[script] ?? [], request);
  requests.push({ path, script, ...request, answer: next });
  const isOver = next.until ?? (next.isLast === true ? holds.get(script) : undefined);
  while (isOver?.() === false && !response.destroyed) await new Promise((resolve) => setTimeout(resolve, 50));
  dialect.write(response, next, request);
}

/** Answers to requests about models and token counts, in a form that all clients accept. */
function fixedAnswer(path) {
  if (/count_?tokens/i.test(path)) return { input_tokens: 100, totalTokens: 100 };
  if (!path.includes('/models')) return undefined;
  const model = { id: 'scripted', object: 'model', type: 'model', display_name: 'Scripted', created: 1 };
  return { object: 'list', data: [model], models: [{ name: 'models/scripted' }] };
}

/** Decides what the model does next: searches with the client's own tool for a deferred tool, takes the next step, or ends. */
function nextAnswer(steps, { tools, turns }) {
  const finished = stepTurns(turns);
  const step = steps[finished.length];
  // Requests without tools are helper requests of the client, such as for the title of the conversation.
  if (step === undefined || tools.length === 0) return { text: 'ok' };
  if (step.say !== undefined) return { text: step.say, isLast: true };
  const results = finished.map(({ result }) => result);
  const args = typeof step.args === 'function' ? step.args(results) : step.args;
  const tool = findTool(tools, step.call);
  if (tool !== undefined) return { tool, args, until: step.until };
  return searchWithClient({ tools, turns, finished, step: { ...step, args } });
}

/** Returns the calls that were steps of a script. */
function stepTurns(turns) {
  return turns.filter(({ name }) => !CLIENT_SEARCH_TOOLS.has(name));
}

/** Returns the visible tool with this name, whatever prefix the client gave it. */
export function findTool(tools, name) {
  if (typeof name === 'function') return name(tools);
  return tools.find(
    (tool) => !tool.isDeferred && (tool.name === name || new RegExp(`[^A-Za-z]${name}$`).test(tool.name)),
  );
}

function searchWithClient({ tools, turns, finished, step }) {
  const search = tools.find(({ name }) => CLIENT_SEARCH_TOOLS.has(name));
  const names = tools.map(({ name }) => name).join(', ');
  const missing = { text: `MISSING TOOL ${step.call}. The model sees ${tools.length} tools: ${names}` };
  if (search === undefined || typeof step.call === 'function') return missing;
  const searches = turns.length - finished.length;
  const found = turns.filter(({ name }) => CLIENT_SEARCH_TOOLS.has(name)).map(({ result }) => result);
  const [fullName] = new RegExp(`[\\w-]*[^A-Za-z\\s"]${step.call}\\b`).exec(found.join('\n')) ?? [];
  const caller = tools.find(({ name }) => name === CLIENT_CALL_TOOL);
  if (caller !== undefined && fullName !== undefined)
    return { tool: caller, args: { name: fullName, arguments: step.args } };
  // One search per step is enough for a client that finds the tool at all.
  if (searches > finished.length) return missing;
  const isByWords = search.kind === 'tool_search';
  const query = isByWords
    ? `${step.call.replaceAll('_', ' ')} trunkline`
    : `select:${['trunkline', 'notes'].map((server) => `mcp__${server}__${step.call}`).join(',')}`;
  return { tool: search, args: { query } };
}
