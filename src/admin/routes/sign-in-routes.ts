import { GatewayError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { acceptsEventStream, addRoute, eventStreamResponse, readText, readRequest } from '../add-route.ts';
import type { AdminApp, AdminRequest } from '../add-route.ts';
import type { AdminDeps, SignInFlow } from '../admin-deps.ts';
import type { AdminSignIn } from '../contract/contract.ts';

type SignIns = AdminDeps['signIns'];

/** Adds the routes that sign in to servers and sign out of them. */
export function addSignInRoutes(app: AdminApp, { signIns }: AdminDeps): void {
  const serverName = ({ params }: AdminRequest): string => params['name'] ?? '';
  const callerId = (input: JsonObject): string => readText(input, 'caller') ?? '';
  const findFlow = async (request: AdminRequest, input: JsonObject): Promise<SignInFlow> => {
    const server = serverName(request);
    const flow = await signIns.find(server, callerId(input));
    if (flow !== undefined) return flow;
    throw new GatewayError(
      'ENTRY_NOT_FOUND',
      `This gateway knows of no sign-in to server "${server}". Start one with trunkline login.`,
    );
  };
  addRoute(app, 'GET /api/sign-ins', () => signIns.list());
  addRoute(app, 'POST /api/servers/:name/sign-in', async (request) => {
    const { body } = request;
    const kind = readText(body, 'flow');
    if (kind !== undefined && kind !== 'browser' && kind !== 'device')
      throw new GatewayError('USAGE', '"flow" must be "browser" or "device".');
    const { state } = await signIns.start(serverName(request), callerId(body), kind);
    return state;
  });
  app.get('/api/servers/:name/sign-in', async (context, next) => {
    if (!acceptsEventStream(context)) return next();
    const request = await readRequest(context);
    return streamStates(await findFlow(request, request.query), signIns, request.signal);
  });
  addRoute(app, 'GET /api/servers/:name/sign-in', async (request) => {
    const { state } = await findFlow(request, request.query);
    return state;
  });
  addRoute(app, 'POST /api/servers/:name/sign-in/cancel', async (request) => {
    const flow = await findFlow(request, request.body);
    await flow.end(new GatewayError('CALL_CANCELLED', 'The sign-in was cancelled, and nothing was saved.'));
    return flow.state;
  });
  addRoute(app, 'POST /api/servers/:name/sign-out', async (request) => ({
    result: await signIns.signOut(serverName(request), callerId(request.body), request.signal),
  }));
}

/** Streams the current state of a sign-in and every change until it has ended. */
function streamStates(flow: SignInFlow, signIns: SignIns, signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  let subscription: Disposable | undefined;
  const stop = (): void => subscription?.[Symbol.dispose]();
  signal.addEventListener('abort', stop, { once: true });
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (state: AdminSignIn): void =>
        controller.enqueue(encoder.encode(`event: state\ndata: ${JSON.stringify(state)}\n\n`));
      const end = (): void => {
        stop();
        controller.close();
      };
      subscription = await signIns.watch((state) => {
        if (state.id !== flow.state.id) return;
        send(state);
        if (flow.isFinished) end();
      });
      send(flow.state);
      if (flow.isFinished) end();
    },
    cancel: stop,
  });
  return eventStreamResponse(body);
}
