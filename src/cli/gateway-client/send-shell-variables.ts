import { explainDifferences, readClientVariables } from '../../app/shared-gateway/client-variables.ts';
import type { ExplainedDifference } from '../../app/shared-gateway/client-variables.ts';
import { connectToGateway } from '../../app/shared-gateway/connect-to-gateway.ts';
import { matchesIdentity } from '../../app/shared-gateway/gateway-identity.ts';
import type { SharedGatewayIdentity } from '../../app/shared-gateway/gateway-identity.ts';
import type { GatewayRecord } from '../../app/shared-gateway/gateway-record.ts';
import type { CliContext } from '../context.ts';

/**
 * Sends the variables of this shell that the configuration refers to: with `offer`, the gateway may use them; with `compare`, it changes
 * nothing. Returns the differences; none if the gateway uses another text, whose variables this shell must not send.
 */
export async function sendShellVariables(
  record: GatewayRecord,
  { identity, purpose }: { readonly identity: SharedGatewayIdentity; readonly purpose: 'offer' | 'compare' },
  { env }: Pick<CliContext, 'env'>,
): Promise<readonly ExplainedDifference[]> {
  const variables = readClientVariables(identity.text, env);
  if (!matchesIdentity(record, identity) || Object.keys(variables).length === 0) return [];
  // Best effort: the command itself reports a gateway that does not answer.
  const pipe = await connectToGateway(record.socket, { [purpose]: true, variables }).catch(() => undefined);
  pipe?.socket.destroy();
  return explainDifferences(pipe?.differing ?? [], { place: 'this shell', kind: record.kind });
}
