import { sendEmpty } from '../../wire/http/http-server.ts';
import { refuse } from '../inbound.ts';
import type { EndpointDeps, Inbound } from '../inbound.ts';
import type { Told } from './between/session-line.ts';
import type { Session } from './session.ts';

/** What needs no answer is for us, or for the gateway that asked or works on what it is about. */
export function tellSession(
  inbound: Inbound,
  { sessions }: Pick<EndpointDeps, 'sessions'>,
  session: Session,
  message: Told,
): void {
  const accepted = (): void => sendEmpty(inbound.response, 202, inbound.headers);
  const forwarded = sessions.line?.forward(session, message);
  if (forwarded === undefined) {
    session.receive(message);
    return accepted();
  }
  forwarded.then(accepted, (error: unknown) => {
    const text = error instanceof Error ? error.message : 'The gateway that asked is gone.';
    refuse(inbound, 400, text);
  });
}
