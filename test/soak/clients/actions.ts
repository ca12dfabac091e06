import { textOfResult } from '../../support/client-helpers.ts';
import type { JsonObject, Notification, ToolResult } from '../../support/raw-messages.ts';
import type { TrackedRequest } from '../request-tracker.ts';
import type { ClientKind } from './connection.ts';
import { outcomeOfResult } from './outcome.ts';
import type { SoakClient } from './soak-client.ts';

export type Action = (client: SoakClient) => Promise<void>;

const shared = [
  'steady',
  'steady',
  'one',
  'two',
  'own',
  'launched',
  'three',
  'four',
  'removable',
  'addable',
  'silent',
];
const aloneServers = ['steady', 'misbehaving'];

/** Returns the actions of a kind of client. An action is chosen as often as it occurs in the list. */
export function actionsFor({ way }: ClientKind): readonly Action[] {
  if (way === 'search') return [search, search, listTools, callFound, callFound];
  const often = [plain, plain, plain, plain, slow, cancelled, steps, askUser, big];
  const usual = [...often, listTools, listOthers, touch, read];
  return way === 'alone' ? usual : [...usual, guarded, guarded];
}

const plain: Action = (client) => call(client, 'do', {});
const slow: Action = (client) => call(client, 'slow', { ms: client.random.integer(20, 600) });
const big: Action = (client) => call(client, 'big', { bytes: client.random.integer(10, 300) * 1000 });
const askUser: Action = (client) => call(client, 'ask', {});

const steps: Action = async (client) => {
  const { tracker } = client;
  const server = serverFor(client);
  const request = tracker.begin(client.kind.name, 'steps', server);
  const from = client.raw.notifications.all.length;
  const args = { tag: request.tag, steps: client.random.integer(1, 5) };
  await callTool(client, request, 'steps', args, { progressToken: request.tag });
  for (const { method, params } of client.raw.notifications.all.slice(from)) {
    if (method === 'notifications/progress' && params['message'] !== params['progressToken'])
      tracker.violate(
        `progress of ${String(params['message'])} arrived with the token ${String(params['progressToken'])}`,
      );
    if (method === 'notifications/progress' && !String(params['message']).startsWith(`${client.kind.name}.`))
      tracker.violate(`${client.kind.name} received the progress of ${String(params['message'])}`);
  }
};

const cancelled: Action = async (client) => {
  const request = client.tracker.begin(client.kind.name, 'cancelled', serverFor(client));
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), client.random.integer(5, 300));
  const args = { tag: request.tag, ms: client.random.integer(100, 2000) };
  await callTool(client, request, 'slow', args, {}, controller.signal);
  clearTimeout(timer);
};

const listTools: Action = async (client) => {
  const request = client.tracker.begin(client.kind.name, 'tools/list');
  const wanted = client.kind.way === 'search' ? 'search_tools' : 'steady__do';
  await client.ask(request, { method: 'tools/list', params: {} }, (result) => {
    const names = (result['tools'] as JsonObject[]).map(({ name }) => name);
    const isComplete = names.includes(wanted) || result['nextCursor'] !== undefined;
    return {
      outcome: 'ok',
      ...(!isComplete && { wrong: `the list lacks ${wanted}: ${names.join(' ')}` }),
    };
  });
};

const listOthers: Action = async (client) => {
  const method = client.random.pick(['prompts/list', 'resources/list', 'resources/templates/list']);
  const request = client.tracker.begin(client.kind.name, method);
  await client.ask(request, { method, params: {} }, () => ({ outcome: 'ok' }));
};

const read: Action = async (client) => {
  const request = client.tracker.begin(client.kind.name, 'resources/read', 'steady');
  await client.ask(request, { method: 'resources/read', params: { uri: client.steadyUri } }, (result) => {
    const [first] = (result['contents'] ?? []) as JsonObject[];
    const isRight = first?.['uri'] === client.steadyUri;
    return { outcome: 'ok', ...(!isRight && { wrong: `read ${JSON.stringify(result).slice(0, 200)}` }) };
  });
};

/** A subscribed client is notified of the change that its own call makes. */
const touch: Action = async (client) => {
  const { tracker, raw } = client;
  const isNews = ({ method, params }: Notification): boolean =>
    method === 'notifications/resources/updated' && params['uri'] === client.steadyUri;
  const news = raw.notifications.next(isNews, { withinMs: Math.min(20_000, client.patienceMs) }).then(
    () => true,
    () => false,
  );
  const request = tracker.begin(client.kind.name, 'touch', 'steady');
  const isTouched = await callTool(client, request, 'touch', { tag: request.tag });
  // A client that left and came back in the meantime is a different one.
  if (isTouched && !(await news) && client.isOnline && client.raw === raw && client.ending === undefined)
    tracker.violate(`${request.tag} touched a resource, and its subscriber was not notified`);
};

const guarded: Action = async (client) => {
  const request = client.tracker.begin(client.kind.name, 'guarded echo', 'guarded');
  const params = { name: 'guarded__echo', arguments: { text: request.tag } };
  await client.ask(request, { method: 'tools/call', params }, (result) => judged(request, result));
};

const search: Action = async (client) => {
  const request = client.tracker.begin(client.kind.name, 'search');
  const query = client.random.pick([
    'does it and says the tag',
    'answer with bytes',
    'tells of its progress',
    'ask a person',
  ]);
  const params = { name: 'search_tools', arguments: { query, server: 'steady' } };
  await client.ask(request, { method: 'tools/call', params }, (result) => {
    const outcome = outcomeOfResult(result as ToolResult);
    const isFound = textOfResult(result as ToolResult).includes('steady__');
    return {
      outcome,
      ...(!isFound && { wrong: `no tool of a healthy server found: ${textOfResult(result as ToolResult)}` }),
    };
  });
};

const callFound: Action = async (client) => {
  const server = serverFor(client);
  const request = client.tracker.begin(client.kind.name, 'found call', server);
  const args = { name: `${server}__do`, arguments: { tag: request.tag } };
  const params = { name: 'call_read_tool', arguments: args };
  await client.ask(request, { method: 'tools/call', params }, (result) => judged(request, result));
};

async function call(client: SoakClient, tool: string, args: JsonObject): Promise<void> {
  const request = client.tracker.begin(client.kind.name, tool, serverFor(client));
  await callTool(client, request, tool, { tag: request.tag, ...args });
}

/** Calls a tool and answers its questions, as modern clients do by calling again; returns whether the call succeeded. */
async function callTool(
  client: SoakClient,
  request: TrackedRequest,
  tool: string,
  args: JsonObject,
  meta: JsonObject = {},
  signal?: AbortSignal,
): Promise<boolean> {
  let params: JsonObject = { name: `${request.server}__${tool}`, arguments: args };
  const options = { meta, ...(signal !== undefined && { signal }) };
  for (;;) {
    const result = await client.ask(request, { method: 'tools/call', params, options }, (answer) =>
      answer['resultType'] === 'input_required' ? { outcome: 'more' } : judged(request, answer),
    );
    if (result?.['resultType'] !== 'input_required')
      return result !== undefined && result['isError'] !== true;
    const questions = Object.entries(result['inputRequests'] as Record<string, { params: JsonObject }>);
    const inputResponses = Object.fromEntries(
      questions.map(([key, one]) => [key, client.answer(one.params)]),
    );
    params = { ...params, inputResponses, requestState: result['requestState'] };
  }
}

/** Checks a result: the text of every tool begins with the tag of its call. */
function judged(
  request: TrackedRequest,
  result: JsonObject,
): { outcome: string; provable?: boolean; wrong?: string } {
  const outcome = outcomeOfResult(result as ToolResult);
  if (outcome !== 'ok') return { outcome };
  const text = textOfResult(result as ToolResult);
  const isOurs =
    text === request.tag || text.startsWith(`${request.tag}.`) || text === `${request.tag} ${request.tag}`;
  return { outcome, provable: true, ...(!isOurs && { wrong: `was answered with ${text.slice(0, 100)}` }) };
}

function serverFor(client: SoakClient): string {
  return client.random.pick(client.kind.way === 'alone' ? aloneServers : shared);
}
