import { adHocName } from '../../config/ad-hoc-name.ts';
import type { AdHocServer } from '../../config/ad-hoc.ts';
import { isHttpUrl, notHttpUrl } from '../../config/references.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { readHeader } from '../read-header.ts';
import { openLine } from './line.ts';
import type { Line, LineOptions } from './line.ts';

/** The line of one command, for as long as the command runs. */
export interface Work extends Line {
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Set when the command line names the only server there is; its tools then go by their own names. */
  readonly only: string | undefined;
}

/** Opens a line, works on it, closes it; Ctrl-C cancels what runs. */
export async function onLine(
  options: AdHocOptions,
  context: CliContext,
  work: (line: Work) => Promise<ExitCode>,
  { reach }: Pick<LineOptions, 'reach'> = {},
): Promise<ExitCode> {
  const server = adHocServer(options);
  const interrupted = new AbortController();
  context.onStopSignal(() => interrupted.abort());
  try {
    const world = server === undefined ? context : withHeaders(context, options.header ?? []);
    const line = await openLine(world, {
      config: options.config,
      reach,
      ...(server !== undefined && { servers: [server] }),
    });
    try {
      return await work({
        ...line,
        signal: interrupted.signal,
        only: server?.name,
      });
    } finally {
      await line[Symbol.asyncDispose]();
    }
  } catch (error) {
    if (interrupted.signal.aborted)
      throw new GatewayError('CALL_CANCELLED', 'Interrupted.', { cause: error });
    if (!(error instanceof RpcError)) throw error;
    const { code, message } = error.body;
    throw new GatewayError('UPSTREAM_REFUSED', `The server answered with error ${code}: ${message}`, {
      cause: error,
      details: { rpc: error.body },
    });
  }
}

export function adHocServer({ url, header, rest }: AdHocOptions): AdHocServer | undefined {
  if (url !== undefined && rest !== undefined)
    throw new GatewayError('USAGE', 'Give --url or a command after --, not both.');
  if (header !== undefined && url === undefined)
    throw new GatewayError(
      'USAGE',
      '--header goes with --url; servers of the configuration have "headers" there.',
    );
  if (url !== undefined) {
    if (!isHttpUrl(url))
      throw new GatewayError('USAGE', `--url ${notHttpUrl}, and "${url.slice(0, 60)}" does not.`);
    return { name: adHocName({ url }), url, headers: references(header ?? []) };
  }
  if (rest === undefined) return undefined;
  const [command, ...args] = rest;
  if (command === undefined || command === '')
    throw new GatewayError('USAGE', 'A command must follow --, such as: -- npx -y some-server');
  return { name: adHocName({ command }), command, args };
}

/** Headers are mostly secrets, so what is remembered of this server only has references to them. */
function references(headers: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.map((header, at) => [readHeader(header).name, `\${env:${variable(at)}}`]),
  );
}

export function withHeaders(context: CliContext, headers: readonly string[]): CliContext {
  const values = headers.map((header, at) => [variable(at), readHeader(header).value] as const);
  return { ...context, env: { ...context.env, ...Object.fromEntries(values) } };
}

function variable(at: number): string {
  return `TRUNKLINE_HEADER_${at + 1}`;
}
