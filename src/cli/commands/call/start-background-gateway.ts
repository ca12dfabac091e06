import { findGatewayRecord } from '../../../app/shared-gateway/gateway-record.ts';
import type { CliContext } from '../../context.ts';
import type { GatewayConnection } from '../../gateway-client/gateway-connection.ts';
import { connectToRecord } from '../../gateway-client/reachable-gateways.ts';
import type { ConfigLocation } from '../../locate-config.ts';

/**
 * Starts the background gateway and connects to it. Returns undefined if the command must work without one: in scripts, which must leave no process behind; with `TRUNKLINE_STANDALONE`; for a configuration without a file; if this configuration already has a gateway; or if none can be started.
 */
export async function startBackgroundGateway(
  context: CliContext,
  location: ConfigLocation,
): Promise<GatewayConnection | undefined> {
  const { env, out, stdout, stderr } = context;
  const isPerson = stdout.isTTY === true && stderr.isTTY === true && (env['CI'] ?? '') === '';
  const canBeShared = location.text === undefined || location.isTextFromEnvironment === true;
  const isStandalone = (env['TRUNKLINE_STANDALONE'] ?? '') !== '';
  if (!isPerson || !canBeShared || isStandalone || findGatewayRecord(location.stateDir) !== undefined)
    return undefined;
  const [{ findOrStartGateway }, { createFindOrStartOptions }] = await Promise.all([
    import('../../../app/shared-gateway/find-or-start-gateway.ts'),
    import('../serve-through-shared-gateway.ts'),
  ]);
  const options = await createFindOrStartOptions(location, {}, context);
  // Best effort: without a background gateway, the command runs a gateway in its own process, and reports problems of the configuration.
  const pipe = await findOrStartGateway(options).catch(() => undefined);
  const record = findGatewayRecord(location.stateDir);
  const connection = record && (await connectToRecord(record))?.connection;
  if (pipe === undefined || connection === undefined) {
    pipe?.socket.destroy();
    return undefined;
  }
  out.note(
    'Started a gateway in the background, which makes further calls fast. Stop it with: trunkline stop',
  );
  return {
    ...connection,
    // The pipe keeps the gateway running during the command.
    [Symbol.asyncDispose]: () => Promise.resolve(void pipe.socket.destroy()),
  };
}
