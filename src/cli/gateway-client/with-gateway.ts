import { adHocServerName } from '../../config/ad-hoc-server-name.ts';
import type { AdHocServer } from '../../config/ad-hoc-config.ts';
import { isHttpUrl, HTTP_URL_HINT } from '../../config/resolve-references.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { parseHeader } from '../parse-header.ts';
import { openGatewayConnection } from './gateway-connection.ts';
import type { GatewayConnection, GatewayConnectionOptions } from './gateway-connection.ts';

/** The connection of one command to its gateway. It is closed when the command ends. */
export interface CommandConnection extends GatewayConnection {
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** The name of the server given on the command line, if there is one. Its tools then keep their original names. */
  readonly onlyServer: string | undefined;
}

/** Connects to the gateway, runs the work and closes the connection. Ctrl-C cancels running requests. */
export async function withGateway(
  options: AdHocOptions,
  context: CliContext,
  work: (gateway: CommandConnection) => Promise<ExitCode>,
  { gateway, startGateway }: Pick<GatewayConnectionOptions, 'gateway' | 'startGateway'> = {},
): Promise<ExitCode> {
  const server = readAdHocServer(options);
  const interrupted = new AbortController();
  context.onStopSignal(() => interrupted.abort());
  try {
    const ownContext = server === undefined ? context : withHeaderVariables(context, options.header ?? []);
    const connection = await openGatewayConnection(ownContext, {
      config: options.config,
      gateway,
      startGateway,
      servers: server && [server],
    });
    try {
      return await work({
        ...connection,
        signal: interrupted.signal,
        onlyServer: server?.name,
      });
    } finally {
      await connection[Symbol.asyncDispose]();
    }
  } catch (error) {
    if (interrupted.signal.aborted)
      throw new GatewayError('CALL_CANCELLED', 'The command was interrupted.', { cause: error });
    if (!(error instanceof RpcError)) throw error;
    const { code, message } = error.body;
    throw new GatewayError('UPSTREAM_REFUSED', `The server answered with error ${code}: ${message}`, {
      cause: error,
      details: { rpc: error.body },
    });
  }
}

/** Returns the server that `--url` or the command after `--` describes, or undefined if neither is given. */
export function readAdHocServer({ url, header, rest }: AdHocOptions): AdHocServer | undefined {
  if (url !== undefined && rest !== undefined)
    throw new GatewayError('USAGE', '--url cannot be combined with a command after --. Give one of them.');
  if (header !== undefined && url === undefined)
    throw new GatewayError(
      'USAGE',
      '--header requires --url. For a configured server, set "headers" in its entry: trunkline edit',
    );
  if (url !== undefined) {
    if (!isHttpUrl(url))
      throw new GatewayError('USAGE', `--url ${HTTP_URL_HINT}, but is "${url.slice(0, 60)}".`);
    return { name: adHocServerName({ url }), url, headers: headerReferences(header ?? []) };
  }
  if (rest === undefined) return undefined;
  const [command, ...args] = rest;
  if (command === undefined || command === '')
    throw new GatewayError('USAGE', 'A command must follow --, for example: -- npx -y some-server');
  return { name: adHocServerName({ command }), command, args };
}

/** Returns references to variables instead of header values, because headers are often secrets and the entry is stored in the state. */
function headerReferences(headers: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.map((header, at) => [parseHeader(header).name, `\${env:${headerVariable(at)}}`]),
  );
}

/** Returns a context whose environment contains the variables that `headerReferences` refers to. */
export function withHeaderVariables(context: CliContext, headers: readonly string[]): CliContext {
  const values = headers.map((header, at) => [headerVariable(at), parseHeader(header).value] as const);
  return { ...context, env: { ...context.env, ...Object.fromEntries(values) } };
}

function headerVariable(at: number): string {
  return `TRUNKLINE_HEADER_${at + 1}`;
}
