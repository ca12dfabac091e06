import { parseExact } from '../../lib/exact-json.ts';
import { GatewayError } from '../../model/errors.ts';
import { whenClosed } from '../../wire/http/http-server.ts';
import { errorText } from '../../wire/message.ts';
import { readEventId, STANDALONE } from '../../wire/http/resumable-streams.ts';
import type { EventName } from '../../wire/http/resumable-streams.ts';
import { EventStream } from '../../wire/http/sse-server.ts';
import { refuse, refuseMethod } from '../inbound.ts';
import type { EndpointDeps, Inbound } from '../inbound.ts';
import type { Elsewhere } from './between/relayed-streams.ts';
import type { Session } from './session.ts';
import type { SessionLine } from './between/session-line.ts';

/** Not for longer: while the database is away, others hear of a stream as soon as they can. */
const KNOWN_WITHIN_MS = 1000;

/** GET: the stream for what belongs to no request, or the rest of one that broke, here or at another gateway. */
export function serveStream(inbound: Inbound, session: Session, deps: EndpointDeps): void {
  const lastEvent = inbound.request.headers['last-event-id'];
  if (typeof lastEvent !== 'string') return openStream(inbound, session, deps);
  const { line } = deps.sessions;
  const event = readEventId(lastEvent);
  if (line !== undefined && event?.by !== undefined && event.by !== line.others.self) {
    resumeElsewhere(inbound, session, { deps, line, event, by: event.by, lastEvent }).catch(
      (error: unknown) => {
        deps.log.error('A stream could not go on.', { error: String(error) });
        if (!inbound.response.headersSent) refuse(inbound, 500, 'The stream cannot go on.');
      },
    );
    return;
  }
  if (session.resumable.isOver(lastEvent)) return refuseOver(inbound);
  const stream = begin(inbound, session, deps);
  stream.flush();
  if (!session.resume(lastEvent, stream)) stream.end();
}

async function resumeElsewhere(
  inbound: Inbound,
  session: Session,
  from: {
    readonly deps: EndpointDeps;
    readonly line: SessionLine;
    readonly event: EventName;
    readonly by: string;
    readonly lastEvent: string;
  },
): Promise<void> {
  const { deps, line, event, by, lastEvent } = from;
  // That it is gone is the same as that it knows nothing of it.
  const found = await line.relayed.resume(by, session, lastEvent).catch(() => undefined);
  if (inbound.response.destroyed) return found?.left();
  if (found?.kind === 'over') return refuseOver(inbound);
  if (found !== undefined) return goOn(begin(inbound, session, deps), inbound, session, found);
  if (event.stream === STANDALONE) return openStream(inbound, session, deps);
  const lost = lostRequest(event);
  if (lost === undefined) return refuseOver(inbound);
  const stream = begin(inbound, session, deps);
  stream.send(lost);
  stream.end();
}

/** Its client hears that it is open when other gateways know it, so that nothing is missed of what it asks them for next. */
function openStream(inbound: Inbound, session: Session, deps: EndpointDeps): void {
  const stream = begin(inbound, session, deps);
  const tell = (): void => {
    clearTimeout(timer);
    if (stream.isOpen) stream.flush();
  };
  const timer = setTimeout(tell, KNOWN_WITHIN_MS).unref();
  void session.attach(stream).then(tell);
}

function goOn(stream: EventStream, inbound: Inbound, session: Session, found: Elsewhere): void {
  stream.flush();
  for (const { id, text } of found.missed) stream.send(text, 'message', id);
  if (found.kind === 'alone') return void session.attach(stream);
  if (found.kind === 'complete') return stream.end();
  whenClosed(inbound.response, () => found.left());
  found.goOn(stream);
}

function begin(inbound: Inbound, session: Session, { open, limits }: EndpointDeps): EventStream {
  const { response, headers } = inbound;
  const stream = new EventStream(response, limits);
  whenClosed(response, () => {
    open.delete(stream);
    session.detach(stream);
  });
  open.add(stream);
  stream.start(headers);
  return stream;
}

/** Clients take this for the end, and a stream without anything on it for a reason to try again. */
function refuseOver(inbound: Inbound): void {
  refuseMethod(inbound, 'POST, DELETE');
}

/** Whoever waits for the answer is told that none will come. */
function lostRequest({ label }: EventName): string | undefined {
  if (label === undefined) return undefined;
  const reason = new GatewayError(
    'REPLICA_AWAY',
    'The gateway that worked on this request is gone; whether it was done is not known.',
  );
  try {
    const id: unknown = parseExact(Buffer.from(label, 'base64url').toString());
    if (typeof id !== 'string' && typeof id !== 'number') return undefined;
    return errorText(id, { code: reason.traits.rpc, message: reason.message });
  } catch {
    return undefined; // Not a label of ours.
  }
}
