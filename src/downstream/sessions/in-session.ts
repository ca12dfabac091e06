import { LEGACY_VERSIONS } from '../../wire/era.ts';
import type { RequestId } from '../../wire/message.ts';
import { refuse, refuseBusy } from '../inbound.ts';
import type { EndpointDeps, Inbound } from '../inbound.ts';
import type { Session } from './session.ts';
import type { Found } from './sessions.ts';

/** Refuses a request that names no session of its caller; goes on at once with one that is served here already. */
export function inSession(
  inbound: Inbound,
  { sessions, log }: Pick<EndpointDeps, 'sessions' | 'log'>,
  id: RequestId | null,
  then: (session: Session) => void,
): void {
  const { headers } = inbound.request;
  const version = headers['mcp-protocol-version'];
  if (typeof version === 'string' && !LEGACY_VERSIONS.includes(version))
    return refuse(inbound, 400, 'This MCP-Protocol-Version is not supported.', id);
  const sessionId = headers['mcp-session-id'];
  if (typeof sessionId !== 'string')
    return refuse(inbound, 400, 'The header Mcp-Session-Id is missing; begin with initialize.', id);
  const go = (found: Found): void => {
    if (found === 'busy') return refuseBusy(inbound, id);
    if (found === 'unknown')
      return refuse(inbound, 404, 'There is no such session; begin with initialize.', id);
    then(found);
  };
  const found = sessions.find(sessionId, inbound);
  if (!(found instanceof Promise)) return go(found);
  found
    .then((session) => {
      if (!inbound.response.destroyed) go(session);
    })
    .catch((error: unknown) => {
      log.error('A session could not be taken up again.', { error: String(error) });
      refuse(inbound, 500, 'The session could not be taken up again.', id);
    });
}
