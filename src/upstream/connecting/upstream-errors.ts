import { GatewayError, RpcError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { sanitizeText } from '../../core/lib/sanitize-text.ts';
import type { Era } from '../../core/server-facts.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import { HttpStatusError, UnexpectedResponseError, UnsentError } from '../../protocol/client-transport.ts';
import type { UpstreamState } from '../upstream-state.ts';

/** The state of a server's process at the time of a failure. */
export interface ProcessHints {
  /** A description such as `exited with code 3`; absent while the process runs, or if there is none. */
  readonly exit?: string | undefined;
  readonly stderr: readonly string[];
}

type MakeError = (code: GatewayError['code'], sentence: string) => GatewayError;

const SPAWN_CODES: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ENOEXEC', 'ENOTDIR']);
const NETWORK_CODES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens at its address'],
  ['ENOTFOUND', 'its host name is not known'],
  ['EAI_AGAIN', 'its host name is not known'],
]);
/** Messages of operating systems, interpreters and package runners about a missing file or package. */
const MISSING_FILE =
  /cannot find (?:module|package)|no such file|was not found|can't open file|no module named|is not recognized|ENOENT|E404/i;
/** Errors of modern servers about the gateway's own request rather than about the call of the client. */
const GATEWAY_REQUEST_ERRORS: ReadonlyMap<number, string> = new Map([
  [
    RPC_ERROR_CODES.headerMismatch,
    'refused the request of the gateway, because its headers do not match its body',
  ],
  [RPC_ERROR_CODES.unsupportedVersion, 'no longer supports the negotiated protocol version'],
]);
/** The number of lines of standard error that an error message quotes. */
const LAST_LINES = 5;

/** Converts the error of a connection attempt. Only this module interprets errors of Node and HTTP; other code reads error codes. */
export function classifyConnectError(
  cause: unknown,
  upstream: UpstreamName,
  hints: ProcessHints,
): GatewayError {
  const make: MakeError = (code, sentence) =>
    new GatewayError(code, `Server "${upstream}" ${sentence}${quoteStderr(hints)}`, {
      cause,
      details: processDetails(upstream, hints),
    });
  if (cause instanceof UnexpectedResponseError)
    return make(cause.code, `does not speak MCP at its address: it ${describeResponse(cause)}`);
  if (cause instanceof GatewayError) return cause;
  if (cause instanceof HttpStatusError) return classifyStatus(cause, make);
  if (cause instanceof RpcError)
    return make('UPSTREAM_REFUSED', `refused the connection: ${sanitizeText(cause.message)}`);
  const code = errorCode(cause) ?? '';
  if (SPAWN_CODES.has(code))
    return make('UPSTREAM_REFUSED', `cannot be started: ${describeSpawnError(cause)}.`);
  const unreachable = NETWORK_CODES.get(code);
  if (unreachable !== undefined) return make('UPSTREAM_UNAVAILABLE', `cannot be reached: ${unreachable}.`);
  if (hints.exit !== undefined) return make('UPSTREAM_UNAVAILABLE', `${hints.exit} before it was ready.`);
  return make('UPSTREAM_UNAVAILABLE', `cannot be reached: ${errorMessage(cause)}`);
}

/** Converts the error of a request whose connection was lost. */
export function classifyConnectionLoss(
  cause: unknown,
  upstream: UpstreamName,
  hints: ProcessHints,
): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const event = hints.exit ?? 'closed the connection';
  return new GatewayError(
    'UPSTREAM_CLOSED',
    `Server "${upstream}" ${event} during the request; the request may or may not have been executed, so it was not repeated.${quoteStderr(hints)}`,
    { cause, details: processDetails(upstream, hints) },
  );
}

/** Converts the error of one request whose connection still works, as is common over HTTP. */
export function classifyRequestError(cause: unknown, upstream: UpstreamName): GatewayError {
  const make: MakeError = (code, sentence) =>
    new GatewayError(code, `Server "${upstream}" ${sentence}`, { cause, details: { upstream } });
  if (cause instanceof UnexpectedResponseError) return make(cause.code, describeResponse(cause));
  if (cause instanceof HttpStatusError) return classifyStatus(cause, make);
  return make('UPSTREAM_UNAVAILABLE', `did not answer: ${errorMessage(cause)}`);
}

/** Returns the server's error unchanged, unless it concerns the gateway's own request and would mean nothing to the client. */
export function classifyRpcError(error: RpcError, upstream: UpstreamName, era: Era): RpcError | GatewayError {
  const sentence = era === 'modern' ? GATEWAY_REQUEST_ERRORS.get(error.body.code) : undefined;
  if (sentence === undefined) return error;
  const text = `Server "${upstream}" ${sentence}: ${sanitizeText(error.message)}`;
  return new GatewayError('UPSTREAM_PROTOCOL', text, { cause: error, details: { upstream } });
}

/** Returns whether the server certainly has not executed the request, because it lost the session or the request was never sent. */
export function isSessionLost(error: unknown): error is HttpStatusError | UnsentError {
  return error instanceof UnsentError || (error instanceof HttpStatusError && error.isSessionLost);
}

/** Returns whether the server may still answer the other requests of a lost connection. */
export function canOtherRequestsFinish(cause: unknown): boolean {
  return isSessionLost(cause) || (cause instanceof GatewayError && cause.code === 'UPSTREAM_NEEDS_AUTH');
}

/** Returns the error for a call that does not wait, because the next attempt is too far away. */
export function retryPendingError(state: UpstreamState & { kind: 'waiting' }, now: number): GatewayError {
  const { code, message, details } = state.error;
  const seconds = Math.ceil((state.retryAt - now) / 1000);
  return new GatewayError(code, `${message} The next attempt is in ${seconds} s.`, {
    cause: state.error,
    details: { ...details, retryAt: state.retryAt },
  });
}

export function connectTimeoutError(upstream: UpstreamName, connectMs: number): GatewayError {
  const text = `Server "${upstream}" was not ready within ${connectMs / 1000} s (timeouts.connect).`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', text, { details: { upstream } });
}

/** Returns the error for the first start of a server whose package launcher was idle for `idleMs`, or else worked for longer than `maxMs`. */
export function installTimeoutError(
  upstream: UpstreamName,
  { idleMs, maxMs }: { readonly idleMs: number | undefined; readonly maxMs: number },
): GatewayError {
  const text =
    idleMs === undefined
      ? `was not ready within ${maxMs / 1000} s, although its launcher was working. The launcher keeps running for a while; run its command in a terminal to see what it does.`
      : `was not ready, and its launcher did nothing for ${idleMs / 1000} s (timeouts.connect).`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', `Server "${upstream}" ${text}`, { details: { upstream } });
}

/** Returns the error for a request that does not wait until a server is installed. */
export function installingError(upstream: UpstreamName): GatewayError {
  const text = `Server "${upstream}" is still being installed, which can take minutes when it starts for the first time. Try again later.`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', text, { details: { upstream, isInstalling: true } });
}

export function shuttingDownError(): GatewayError {
  return new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.');
}

function classifyStatus({ status }: HttpStatusError, make: MakeError): GatewayError {
  if (status === 401)
    return make(
      'UPSTREAM_NEEDS_AUTH',
      'does not accept the configured Authorization header (HTTP 401). Correct the header, or remove it and sign in.',
    );
  if (status === 403) return make('UPSTREAM_NEEDS_AUTH', 'does not accept the credentials (HTTP 403).');
  if (status === 408 || status === 429 || status >= 500)
    return make('UPSTREAM_UNAVAILABLE', `is not available (HTTP ${status}).`);
  return make('UPSTREAM_REFUSED', `does not speak MCP at its address (HTTP ${status}).`);
}

function describeResponse(error: UnexpectedResponseError): string {
  return `answered ${error.received}, which is not a JSON-RPC message.`;
}

function describeSpawnError(cause: unknown): string {
  const { path, syscall, code } = cause as NodeJS.ErrnoException;
  const command = path ?? syscall?.replace(/^spawn /, '') ?? 'its command';
  if (code === 'ENOENT') return `the command "${command}" was not found, or its "cwd" does not exist`;
  return `the command "${command}" cannot be executed (${code})`;
}

/** Adds `isProgramMissing` if the process ended because something that it needs is not installed. */
function processDetails(upstream: UpstreamName, hints: ProcessHints): JsonObject {
  const isProgramMissing = lastStderrLines(hints).some((line) => MISSING_FILE.test(line));
  return { upstream, ...hints, ...(isProgramMissing && { isProgramMissing }) };
}

function quoteStderr(hints: ProcessHints): string {
  const lines = lastStderrLines(hints);
  return lines.length === 0 ? '' : ` It wrote to standard error: ${lines.map(sanitizeText).join(' | ')}`;
}

/** Returns the first line of standard error that names an error, then the last lines, which may be a usage text or a stack trace. */
function lastStderrLines({ stderr }: ProcessHints): readonly string[] {
  const last = stderr.slice(-LAST_LINES);
  const errorLine = stderr.find((line) => /error|fatal|panic/i.test(line));
  return errorLine === undefined ? last : [errorLine, ...last.filter((line) => line !== errorLine)];
}

function errorCode(cause: unknown): string | undefined {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function errorMessage(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
