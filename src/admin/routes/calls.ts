import { isLogLevel } from '../../model/log-level.ts';
import type { JsonObject } from '../../model/json.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Payload } from '../../lib/payload.ts';
import type { AdminDeps } from '../deps.ts';
import { callEvents } from '../calling/call-events.ts';
import { CallerBehind } from '../calling/caller-behind.ts';
import type { Told } from '../calling/caller-behind.ts';
import { checkPromptArguments } from '../calling/check-prompt-arguments.ts';
import { findEntry, findPrompt, listedView } from '../calling/find-entry.ts';
import { OpenQuestions } from '../calling/open-questions.ts';
import { answeredQuestions } from '../calling/answered-questions.ts';
import { askedIn, flag, optionalNumber, optionalObject, optionalText, route, text } from '../route.ts';
import type { AdminApp, Asked } from '../route.ts';

/** Whatever servers answer: every one of them ends in a verb of the gateway, inside the chain of guards. */
export function callRoutes(app: AdminApp, deps: AdminDeps): void {
  const { gateway, others } = deps;
  const questions = new OpenQuestions(others);
  app.post('/api/call', async (context, next) => {
    if (!(context.req.header('accept') ?? '').includes('text/event-stream')) return next();
    const asked = await askedIn(context);
    const { signal, body } = asked;
    return callEvents((told) => callTool(deps, asked, told), {
      signal,
      questions: flag(body, 'asks') ? questions : undefined,
    });
  });
  route(app, 'POST /api/answer', async ({ body }) => ({
    taken: await questions.answer(text(body, 'id'), optionalObject(body, 'result') ?? { action: 'cancel' }),
  }));
  route(app, 'POST /api/call', (asked) => callTool(deps, asked, {}));
  route(app, 'POST /api/prompt', async (asked) => {
    const { body, caller } = asked;
    const entry = await findPrompt(deps, caller, {
      name: text(body, 'name'),
      server: optionalText(body, 'server'),
    });
    const args = optionalObject(body, 'args');
    checkPromptArguments(entry, args ?? {});
    return during(deps, asked, {}, (request, more) =>
      gateway.getPrompt(caller, entry.name, {
        ...request,
        params: { name: entry.name, ...(args !== undefined && { arguments: args }), ...more },
      }),
    );
  });
  route(app, 'POST /api/read', async (asked) => {
    const { body, caller } = asked;
    const uri = text(body, 'uri');
    const server = optionalText(body, 'server');
    await listedView(deps, caller, { server });
    const served = server === undefined ? gateway : gateway.alone(server);
    if (served === undefined) throw new GatewayError('INVARIANT', `There is no server "${server}".`);
    return during(deps, asked, {}, (request, more) =>
      served.readResource(caller, uri, { ...request, params: { uri, ...more } }),
    );
  });
  route(app, 'POST /api/complete', async (asked) => {
    const { body, caller } = asked;
    const ref = optionalObject(body, 'ref') ?? {};
    const argument = optionalObject(body, 'argument') ?? {};
    await listedView(deps, caller);
    return during(deps, asked, {}, (request) =>
      gateway.complete(caller, ref, { ...request, params: { ref, argument } }),
    );
  });
}

async function callTool(deps: AdminDeps, asked: Asked, told: Told): Promise<Payload> {
  const { gateway } = deps;
  const { body, caller } = asked;
  const wanted = { name: text(body, 'name'), server: optionalText(body, 'server') };
  const args = optionalObject(body, 'args') ?? {};
  const timeoutMs = optionalNumber(body, 'timeoutMs');
  const { entry } = await findEntry(deps, caller, wanted);
  return during(deps, asked, told, (request, more) =>
    gateway.callTool(caller, entry.name, {
      ...request,
      params: { name: entry.name, arguments: args, ...more },
      checksArguments: true,
      ...(timeoutMs !== undefined && timeoutMs > 0 && { timeoutMs }),
    }),
  );
}

type Request = Pick<
  Parameters<AdminDeps['gateway']['callTool']>[2],
  'session' | 'cancellation' | 'behind' | 'onProgress'
>;

/** A session of its own for the time of one request, which ends early when whoever asks has gone away. */
async function during(
  { gateway }: AdminDeps,
  { body, signal }: Asked,
  told: Told,
  work: (request: Request, more?: JsonObject) => Promise<Payload>,
): Promise<Payload> {
  const level = optionalText(body, 'logLevel');
  if (level !== undefined && !isLogLevel(level))
    throw new GatewayError('USAGE', '"logLevel" must be a log level such as "info".');
  if (level !== undefined) gateway.wantLogs(level);
  const behind = new CallerBehind(told, level);
  const { session, cancellation } = behind;
  const leave = (): void => cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The client went away.'));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    const { progress } = told;
    const request = { session, cancellation, behind, ...(progress && { onProgress: progress }) };
    return await answeredQuestions(await work(request), behind, (more) => work(request, more));
  } finally {
    signal.removeEventListener('abort', leave);
    gateway.endSession(session);
  }
}
