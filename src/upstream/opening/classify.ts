import { GatewayError, RpcError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Era } from '../../model/server-facts.ts';
import { RPC } from '../../wire/era.ts';
import { ForeignAnswerError, HttpStatusError, UnsentError } from '../../wire/stream.ts';
import type { UpstreamState } from '../state.ts';

/** What could be learned about the process when something went wrong. */
export interface ProcessHints {
  /** `exited with code 3`; absent while it lives or where there is no process. */
  readonly exit?: string;
  readonly stderr: readonly string[];
}

const SPAWN_CODES: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ENOEXEC', 'ENOTDIR']);
const NETWORK_CODES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens at its address'],
  ['ENOTFOUND', 'its host name is not known'],
  ['EAI_AGAIN', 'its host name is not known'],
]);

/** The only place that looks at Node's and HTTP's errors; everything above sees codes of ours. */
export function classifyConnect(cause: unknown, upstream: UpstreamName, hints: ProcessHints): GatewayError {
  const make = (code: GatewayError['code'], sentence: string): GatewayError =>
    new GatewayError(code, `Server "${upstream}" ${sentence}${lastWords(hints)}`, {
      cause,
      details: { upstream, ...hints },
    });
  if (cause instanceof ForeignAnswerError)
    return make(cause.code, `does not speak MCP at its address: it ${answered(cause)}`);
  if (cause instanceof GatewayError) return cause;
  if (cause instanceof HttpStatusError) return classifyStatus(cause, make);
  if (cause instanceof RpcError) return make('UPSTREAM_REFUSED', `refused the connection: ${cause.message}`);
  const code = errorCode(cause) ?? '';
  if (SPAWN_CODES.has(code)) return make('UPSTREAM_REFUSED', `cannot be started: ${spawnProblem(cause)}.`);
  const unreachable = NETWORK_CODES.get(code);
  if (unreachable !== undefined) return make('UPSTREAM_UNAVAILABLE', `cannot be reached: ${unreachable}.`);
  if (hints.exit !== undefined) return make('UPSTREAM_UNAVAILABLE', `${hints.exit} before it was ready.`);
  return make('UPSTREAM_UNAVAILABLE', `cannot be reached: ${messageOf(cause)}`);
}

/** A connection that was there went away while a request was under way. */
export function classifyLoss(cause: unknown, upstream: UpstreamName, hints: ProcessHints): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const what = hints.exit ?? 'closed the connection';
  return new GatewayError(
    'UPSTREAM_CLOSED',
    `Server "${upstream}" ${what} during the request; it may or may not have been executed, so it was not repeated.${lastWords(hints)}`,
    { cause, details: { upstream, ...hints } },
  );
}

/** One exchange failed although the connection as such lives on, as happens over HTTP. */
export function classifyExchange(cause: unknown, upstream: UpstreamName): GatewayError {
  const make = (code: GatewayError['code'], sentence: string): GatewayError =>
    new GatewayError(code, `Server "${upstream}" ${sentence}`, { cause, details: { upstream } });
  if (cause instanceof ForeignAnswerError) return make(cause.code, answered(cause));
  if (cause instanceof HttpStatusError) return classifyStatus(cause, make);
  return make('UPSTREAM_UNAVAILABLE', `did not answer: ${messageOf(cause)}`);
}

const OF_THE_HOP: ReadonlyMap<number, string> = new Map([
  [RPC.headerMismatch, 'refused a request of ours, because its headers do not fit its body'],
  [RPC.unsupportedVersion, 'no longer speaks the protocol version that was agreed with it'],
]);

/** What a server has against the way we asked is between it and us, and says nothing to the client. */
export function classifyHop(error: RpcError, upstream: UpstreamName, era: Era): RpcError | GatewayError {
  const sentence = era === 'modern' ? OF_THE_HOP.get(error.body.code) : undefined;
  if (sentence === undefined) return error;
  const text = `Server "${upstream}" ${sentence}: ${error.message.slice(0, 300)}`;
  return new GatewayError('UPSTREAM_PROTOCOL', text, { cause: error, details: { upstream } });
}

/** The next attempt is too far away to wait for it. */
export function untilRetry(state: UpstreamState & { at: 'waiting' }, now: number): GatewayError {
  const { code, message, details } = state.error;
  const seconds = Math.ceil((state.retryAt - now) / 1000);
  return new GatewayError(code, `${message} The next attempt is in ${seconds} s.`, {
    cause: state.error,
    details: { ...details, retryAt: state.retryAt },
  });
}

export function tooSlow(upstream: UpstreamName, connectMs: number): GatewayError {
  const text = `Server "${upstream}" was not ready within ${connectMs / 1000} s (timeouts.connect).`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', text, { details: { upstream } });
}

/** The server no longer knows our session, or was never reached: the request was not read and can be made again. */
export function isSessionLost(error: unknown): error is HttpStatusError | UnsentError {
  return error instanceof UnsentError || (error instanceof HttpStatusError && error.sessionLost);
}

/** What is under way beside the refused request may well be answered. */
export function isUnread(cause: unknown): boolean {
  return isSessionLost(cause) || (cause instanceof GatewayError && cause.code === 'UPSTREAM_NEEDS_AUTH');
}

function classifyStatus(
  error: HttpStatusError,
  make: (code: GatewayError['code'], sentence: string) => GatewayError,
): GatewayError {
  const { status } = error;
  if (status === 401)
    return make(
      'UPSTREAM_NEEDS_AUTH',
      'does not take the Authorization header of its entry (HTTP 401); correct it, or leave it out and sign in.',
    );
  if (status === 403) return make('UPSTREAM_NEEDS_AUTH', 'refuses our credentials (HTTP 403).');
  if (status === 408 || status === 429 || status >= 500)
    return make('UPSTREAM_UNAVAILABLE', `is not available (HTTP ${status}).`);
  return make('UPSTREAM_REFUSED', `does not speak MCP at its address (HTTP ${status}).`);
}

function answered(error: ForeignAnswerError): string {
  return `answered ${error.answered}, not with a message.`;
}

function spawnProblem(cause: unknown): string {
  const { path, syscall, code } = cause as NodeJS.ErrnoException;
  const command = path ?? syscall?.replace(/^spawn /, '') ?? 'its command';
  if (code === 'ENOENT') return `the command "${command}" was not found, or its "cwd" does not exist`;
  return `the command "${command}" cannot be executed (${code})`;
}

/** The end of what it said, and before that the line that names the error: a trace is longer than its message. */
function lastWords({ stderr }: ProcessHints): string {
  if (stderr.length === 0) return '';
  const last = stderr.slice(-LAST_LINES);
  const named = stderr.slice(0, -LAST_LINES).find((line) => /error|fatal|panic/i.test(line));
  return ` Its last words on standard error: ${[...(named === undefined ? [] : [named]), ...last].join(' | ')}`;
}

const LAST_LINES = 5;

function errorCode(cause: unknown): string | undefined {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

export function stopping(): GatewayError {
  return new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.');
}
