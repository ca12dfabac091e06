import type { Payload } from '../../../core/lib/payload.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { CommandConnection } from '../../gateway-client/with-gateway.ts';
import type { EntrySelection } from './entry-selection.ts';

const ARGUMENTS_HINT = 'Arguments are a JSON object, key=value, key:=json, @file, or - for standard input.';

/** Fetches the selected tool. If it cannot be found, the error explains why: a misplaced word, a failed server, or a rule. */
export async function fetchTool(
  gateway: CommandConnection,
  entry: EntrySelection['entry'],
  /** Describes the arguments of the command, for the error about a misplaced word. */
  hint?: string,
): Promise<Payload> {
  try {
    return await gateway.client.requestPayload('GET /api/describe', entry, gateway);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'ENTRY_NOT_FOUND') throw error;
    throw (
      (await explainSurplusWord(gateway, entry, error, hint)) ??
      (await explainMissingTool(gateway, entry)) ??
      error
    );
  }
}

/**
 * Returns an error about the second word of `TOOL WORD`, which was parsed as a server and its tool. Returns undefined unless the first word
 * is the name of an entry and not of a server.
 */
export async function explainSurplusWord(
  gateway: CommandConnection,
  { server, name }: EntrySelection['entry'],
  error: unknown,
  hint = ARGUMENTS_HINT,
): Promise<GatewayError | undefined> {
  const isUnknownServer =
    error instanceof GatewayError && error.code === 'ENTRY_NOT_FOUND' && error.details['kind'] === 'server';
  if (!isUnknownServer || server === undefined) return undefined;
  const found = await gateway.client.request('GET /api/explain', { name: server }, gateway);
  // If the lists of a server were never fetched, its entries are recognized only by the prefix of their names.
  const isEntry = found.kind === undefined ? found.server !== undefined : found.kind !== 'server';
  if (!isEntry) return undefined;
  return new GatewayError('USAGE', `"${name.slice(0, 60)}" is not an argument of ${server}. ${hint}`);
}

/** Returns the problem of the tool's server, or the rule that hides the tool. Returns undefined if there is neither. */
async function explainMissingTool(
  gateway: CommandConnection,
  { name, server: serverName }: EntrySelection['entry'],
): Promise<GatewayError | undefined> {
  const servers = await gateway.client.request('GET /api/servers', {}, gateway);
  const {
    verdict,
    server: foundServer,
    reasons,
    fixes,
  } = await gateway.client.request('GET /api/explain', { name }, gateway);
  const server = servers.find((each) => each.name === (serverName ?? foundServer));
  if (server?.problem !== undefined) {
    const { code, message } = server.problem;
    return new GatewayError(code, message, { details: { server: server.name } });
  }
  if (verdict !== 'hidden' && verdict !== 'disabled') return undefined;
  const fix = fixes.length === 0 ? [] : [`To fix this: ${fixes.join(', or: ')}`];
  return new GatewayError('ENTRY_NOT_FOUND', [`${name} is ${verdict}.`, ...reasons, ...fix].join(' '), {
    details: { verdict },
  });
}
