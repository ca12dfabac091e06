import { parseExact } from '../../core/lib/exact-json.ts';
import { GatewayError } from '../../core/errors.ts';
import { onResponseClosed } from '../../protocol/http/http-io.ts';
import { serializeError } from '../../protocol/rpc-message.ts';
import { parseEventId, STANDALONE_STREAM } from '../../protocol/http/resumable-streams.ts';
import type { EventId } from '../../protocol/http/resumable-streams.ts';
import { SseResponse } from '../../protocol/http/sse-response.ts';
import { sendRefusal, sendMethodNotAllowed } from './http-exchange.ts';
import type { EndpointDeps, AuthenticatedExchange } from './http-exchange.ts';
import type { RemoteStream } from '../sessions/replicas/relayed-streams.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionRelay } from '../sessions/replicas/session-relay.ts';

/** Maximum time that a client waits for its stream to be announced to the other replicas, which takes long if the database is unavailable. */
const ANNOUNCE_TIMEOUT_MS = 1000;

/** Handles GET: opens the stream for notifications, or continues a stream that broke here or at another replica. */
export function serveStream(exchange: AuthenticatedExchange, session: Session, deps: EndpointDeps): void {
  const lastEvent = exchange.request.headers['last-event-id'];
  if (typeof lastEvent !== 'string') return openStream(exchange, session, deps);
  const { relay } = deps.sessions;
  const event = parseEventId(lastEvent);
  const replica = event?.replica;
  if (
    relay !== undefined &&
    event !== undefined &&
    replica !== undefined &&
    replica !== relay.replicas.self
  ) {
    resumeRemoteStream(exchange, session, { deps, relay, event, replica, lastEvent }).catch(
      (error: unknown) => {
        deps.log.error('A stream of another replica could not be resumed.', { error: String(error) });
        if (!exchange.response.headersSent) sendRefusal(exchange, 500, 'The stream could not be resumed.');
      },
    );
    return;
  }
  if (session.resumable.isComplete(lastEvent)) return sendStreamEnded(exchange);
  const stream = startStream(exchange, session, deps);
  stream.flush();
  if (!session.resume(lastEvent, stream)) stream.end();
}

/**
 * Opens the stream for notifications. The response headers are sent only when the other replicas know the stream, so that the client
 * misses no notification that its next request causes at one of them.
 */
function openStream(exchange: AuthenticatedExchange, session: Session, deps: EndpointDeps): void {
  const stream = startStream(exchange, session, deps);
  const flush = (): void => {
    clearTimeout(timer);
    if (stream.isOpen) stream.flush();
  };
  const timer = setTimeout(flush, ANNOUNCE_TIMEOUT_MS).unref();
  void session.attach(stream).then(flush);
}

async function resumeRemoteStream(
  exchange: AuthenticatedExchange,
  session: Session,
  origin: {
    readonly deps: EndpointDeps;
    readonly relay: SessionRelay;
    readonly event: EventId;
    readonly replica: string;
    readonly lastEvent: string;
  },
): Promise<void> {
  const { deps, relay, event, replica, lastEvent } = origin;
  // A replica that has stopped is treated like one that does not know the event.
  const found = await relay.streams.resume(replica, session, lastEvent).catch(() => undefined);
  if (exchange.response.destroyed) return found?.leave();
  if (found?.kind === 'over') return sendStreamEnded(exchange);
  if (found !== undefined)
    return continueStream(startStream(exchange, session, deps), exchange, session, found);
  if (event.stream === STANDALONE_STREAM) return openStream(exchange, session, deps);
  const error = lostRequestError(event);
  if (error === undefined) return sendStreamEnded(exchange);
  const stream = startStream(exchange, session, deps);
  stream.send(error);
  stream.end();
}

function continueStream(
  stream: SseResponse,
  exchange: AuthenticatedExchange,
  session: Session,
  remote: RemoteStream,
): void {
  stream.flush();
  for (const { id, text } of remote.missed) stream.send(text, 'message', id);
  if (remote.kind === 'alone') return void session.attach(stream);
  if (remote.kind === 'complete') return stream.end();
  onResponseClosed(exchange.response, () => remote.leave());
  remote.continueOn(stream);
}

function startStream(
  { response, headers }: AuthenticatedExchange,
  session: Session,
  { open, limits }: EndpointDeps,
): SseResponse {
  const stream = new SseResponse(response, limits);
  onResponseClosed(response, () => {
    open.delete(stream);
    session.detach(stream);
  });
  open.add(stream);
  stream.start(headers);
  return stream;
}

/** Sends status 405, which tells clients that the stream has ended; after an empty stream they would reconnect. */
function sendStreamEnded(exchange: AuthenticatedExchange): void {
  sendMethodNotAllowed(exchange, 'POST, DELETE');
}

/** Returns the error response for a request whose replica has stopped; the label of the event contains the request id. */
function lostRequestError({ label }: EventId): string | undefined {
  if (label === undefined) return undefined;
  const reason = new GatewayError(
    'REPLICA_AWAY',
    'The replica that worked on this request has stopped. It is unknown whether the request was executed.',
  );
  try {
    const id: unknown = parseExact(Buffer.from(label, 'base64url').toString());
    if (typeof id !== 'string' && typeof id !== 'number') return undefined;
    return serializeError(id, { code: reason.traits.rpc, message: reason.message });
  } catch {
    return undefined; // The gateway did not write this label.
  }
}
