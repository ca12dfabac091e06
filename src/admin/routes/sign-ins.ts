import { GatewayError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AdminDeps } from '../deps.ts';
import { askedIn, optionalText, route } from '../route.ts';
import type { AdminApp, Asked } from '../route.ts';
import type { AdminSignIn } from '../contract/sign-in-contract.ts';

type Begun = NonNullable<Awaited<ReturnType<AdminDeps['signIns']['at']>>>;

/** Signing in to servers, for the button of a dashboard. */
export function signInRoutes(app: AdminApp, { signIns }: AdminDeps): void {
  const named = ({ params }: Asked): string => params['name'] ?? '';
  const callerIn = (given: JsonObject): string => optionalText(given, 'caller') ?? '';
  const found = async (asked: Asked, given: JsonObject): Promise<Begun> => {
    const begun = await signIns.at(named(asked), callerIn(given));
    if (begun !== undefined) return begun;
    throw new GatewayError('ENTRY_NOT_FOUND', `No sign-in to "${named(asked)}" was begun here.`);
  };
  route(app, 'GET /api/sign-ins', () => signIns.list());
  route(app, 'POST /api/servers/:name/sign-in', async (asked) => {
    const flow = optionalText(asked.body, 'flow');
    if (flow !== undefined && flow !== 'browser' && flow !== 'device')
      throw new GatewayError('USAGE', '"flow" must be "browser" or "device".');
    return (await signIns.begin(named(asked), callerIn(asked.body), flow)).state;
  });
  app.get('/api/servers/:name/sign-in', async (context, next) => {
    if (!(context.req.header('accept') ?? '').includes('text/event-stream')) return next();
    const asked = await askedIn(context);
    return stateEvents(await found(asked, asked.query), signIns, asked.signal);
  });
  route(app, 'GET /api/servers/:name/sign-in', async (asked) => (await found(asked, asked.query)).state);
  route(app, 'POST /api/servers/:name/sign-in/cancel', async (asked) => {
    const begun = await found(asked, asked.body);
    await begun.end(new GatewayError('CALL_CANCELLED', 'It was cancelled; nothing was saved.'));
    return begun.state;
  });
  route(app, 'POST /api/servers/:name/sign-out', async (asked) => ({
    result: await signIns.signOut(named(asked), callerIn(asked.body), asked.signal),
  }));
}

/** What is known now, and every change until it is over. */
async function stateEvents(
  begun: Begun,
  signIns: AdminDeps['signIns'],
  signal: AbortSignal,
): Promise<Response> {
  const encoder = new TextEncoder();
  let watching: Disposable | undefined;
  const stop = (): void => watching?.[Symbol.dispose]();
  signal.addEventListener('abort', stop, { once: true });
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (state: AdminSignIn): void =>
        controller.enqueue(encoder.encode(`event: state\ndata: ${JSON.stringify(state)}\n\n`));
      const end = (): void => {
        stop();
        controller.close();
      };
      watching = await signIns.watch((state) => {
        if (state.id !== begun.state.id) return;
        send(state);
        if (begun.isOver) end();
      });
      send(begun.state);
      if (begun.isOver) end();
    },
    cancel: stop,
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}
