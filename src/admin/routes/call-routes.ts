import type { PromptEntry } from '../../core/entry.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { isLogLevel } from '../../core/log-level.ts';
import {
  acceptsEventStream,
  addRoute,
  readFlag,
  readNumber,
  readObject,
  readText,
  readRequest,
  requireText,
} from '../add-route.ts';
import type { AdminApp, AdminRequest } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { AdminRequestingClient, answerInputRequests } from '../calls/admin-requesting-client.ts';
import type { CallCallbacks } from '../calls/admin-requesting-client.ts';
import { findPromptEntry, findToolEntry, loadView } from '../calls/find-entry.ts';
import { OpenQuestions } from '../calls/open-questions.ts';
import { streamCall } from '../calls/stream-call.ts';

/** Adds the routes that send requests to servers. All of them go through the gateway and its guard chain. */
export function addCallRoutes(app: AdminApp, deps: AdminDeps): void {
  const { gateway, replicas } = deps;
  const questions = new OpenQuestions(replicas);
  app.post('/api/call', async (context, next) => {
    if (!acceptsEventStream(context)) return next();
    const request = await readRequest(context);
    return streamCall((callbacks) => callTool(deps, request, callbacks), {
      signal: request.signal,
      questions: readFlag(request.body, 'asks') ? questions : undefined,
    });
  });
  addRoute(app, 'POST /api/call', (request) => callTool(deps, request, {}));
  addRoute(app, 'POST /api/answer', async ({ body }) => ({
    taken: await questions.answer(
      requireText(body, 'id'),
      readObject(body, 'result') ?? { action: 'cancel' },
    ),
  }));
  addRoute(app, 'POST /api/prompt', (request) => getPrompt(deps, request));
  addRoute(app, 'POST /api/read', async (request) => {
    const { body, caller } = request;
    const uri = requireText(body, 'uri');
    const server = readText(body, 'server');
    await loadView(deps, caller, { server });
    const target = server === undefined ? gateway : gateway.singleServer(server);
    if (target === undefined) throw new GatewayError('INVARIANT', `There is no server "${server}".`);
    return withSession(deps, request, {}, (options, answers) =>
      target.readResource(caller, uri, { ...options, params: { uri, ...answers } }),
    );
  });
  addRoute(app, 'POST /api/complete', async (request) => {
    const { body, caller } = request;
    const ref = readObject(body, 'ref') ?? {};
    const argument = readObject(body, 'argument') ?? {};
    await loadView(deps, caller);
    return withSession(deps, request, {}, (options) =>
      gateway.complete(caller, ref, { ...options, params: { ref, argument } }),
    );
  });
}

async function callTool(deps: AdminDeps, request: AdminRequest, callbacks: CallCallbacks): Promise<Payload> {
  const { body, caller } = request;
  const query = { name: requireText(body, 'name'), server: readText(body, 'server') };
  const args = readObject(body, 'args') ?? {};
  const timeoutMs = readNumber(body, 'timeoutMs');
  const { entry } = await findToolEntry(deps, caller, query);
  return withSession(deps, request, callbacks, (options, answers) =>
    deps.gateway.callTool(caller, entry.name, {
      ...options,
      params: { name: entry.name, arguments: args, ...answers },
      shouldValidateArguments: true,
      timeoutMs: timeoutMs !== undefined && timeoutMs > 0 ? timeoutMs : undefined,
    }),
  );
}

async function getPrompt(deps: AdminDeps, request: AdminRequest): Promise<Payload> {
  const { body, caller } = request;
  const query = { name: requireText(body, 'name'), server: readText(body, 'server') };
  const entry = await findPromptEntry(deps, caller, query);
  const args = readObject(body, 'args');
  checkPromptArguments(entry, args ?? {});
  return withSession(deps, request, {}, (options, answers) =>
    deps.gateway.getPrompt(caller, entry.name, {
      ...options,
      params: { name: entry.name, arguments: args, ...answers },
    }),
  );
}

/** Throws if a required argument of the prompt is missing, before a server is started for the request. */
function checkPromptArguments({ name, definition }: PromptEntry, args: JsonObject): void {
  const declared: unknown = definition['arguments'];
  const missing = (Array.isArray(declared) ? declared : []).flatMap((argument: unknown) => {
    if (!isJsonObject(argument) || argument['required'] !== true || typeof argument['name'] !== 'string')
      return [];
    return Object.hasOwn(args, argument['name']) ? [] : [argument];
  });
  if (missing.length === 0) return;
  const problems = missing.map(({ name: argument, description }) => {
    const purpose =
      typeof description === 'string' && description !== '' ? `: ${toOneLine(description)}` : '';
    return `${toOneLine(String(argument))} is required${purpose}`;
  });
  throw new GatewayError(
    'ARGUMENTS_INVALID',
    `The arguments do not fit ${name} and were not sent: ${problems.join('; ')}.`,
    { details: { problems } },
  );
}

/** Reduces a text from a server to one line of at most 200 characters. */
function toOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}

type SessionOptions = Pick<
  Parameters<AdminDeps['gateway']['callTool']>[2],
  'session' | 'cancellation' | 'requestingClient' | 'onProgress'
>;

/** Opens a session for one request, and cancels the request when the client disconnects. */
async function withSession(
  { gateway }: AdminDeps,
  { body, signal }: AdminRequest,
  callbacks: CallCallbacks,
  send: (options: SessionOptions, answers?: JsonObject) => Promise<Payload>,
): Promise<Payload> {
  const level = readText(body, 'logLevel');
  if (level !== undefined && !isLogLevel(level))
    throw new GatewayError('USAGE', '"logLevel" must be a log level such as "info".');
  if (level !== undefined) gateway.requestLogLevel(level);
  const client = new AdminRequestingClient(callbacks, level);
  gateway.declareClient(client.capabilities);
  const { session, cancellation } = client;
  const cancel = (): void =>
    cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The client disconnected.'));
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const { onProgress } = callbacks;
    const options = { session, cancellation, requestingClient: client, onProgress };
    return await answerInputRequests(await send(options), client, (answers) => send(options, answers));
  } finally {
    signal.removeEventListener('abort', cancel);
    gateway.endSession(session);
  }
}
