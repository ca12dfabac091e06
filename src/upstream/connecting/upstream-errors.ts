import { existsSync } from 'node:fs';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { FailureReason } from '../../core/failure-reason.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { sanitizeText } from '../../core/lib/sanitize-text.ts';
import type { Era } from '../../core/server-facts.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import { HttpStatusError, UnexpectedResponseError, UnsentError } from '../../protocol/client-transport.ts';
import type { UpstreamState } from '../upstream-state.ts';
import { classifyOutput } from './classify-output.ts';
import type { OutputFinding } from './classify-output.ts';

/** The state of a server's process at the time of a failure. */
export interface ProcessHints {
  /** A description such as `exited with code 3`; absent while the process runs, or if there is none. */
  readonly exit?: string | undefined;
  readonly stderr: readonly string[];
  /** The first line on standard output that is not a message, shortened. */
  readonly stdout?: string | undefined;
}

const SPAWN_CODES: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ENOEXEC', 'ENOTDIR']);
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

/** The parts of an error about a server: what happened and why, then the command that fixes it, then the output that shows it. */
interface Failure {
  readonly code: ErrorCode;
  readonly reason: FailureReason;
  readonly sentence: string;
  readonly fix: string;
}

/** Converts the error of a connection attempt. Only this module interprets errors of Node and HTTP; other code reads error codes. */
export function classifyConnectError(
  cause: unknown,
  upstream: UpstreamName,
  hints: ProcessHints,
): GatewayError {
  if (cause instanceof GatewayError && !(cause instanceof UnexpectedResponseError)) return cause;
  const found = findConnectFailure(cause, upstream, hints);
  // The other reasons already say what the output says.
  const quote = found.reason === 'exited' || found.reason === 'timeout' ? quoteOutput(hints) : '';
  return toError(found, upstream, { cause, quote, details: { ...hints } });
}

function findConnectFailure(cause: unknown, upstream: UpstreamName, hints: ProcessHints): Failure {
  const [server, edit, restart] = nameInSentences(upstream);
  if (cause instanceof UnexpectedResponseError) return describeUnexpected(cause, upstream);
  if (cause instanceof HttpStatusError) return describeStatus(cause, upstream);
  if (cause instanceof RpcError)
    return {
      code: 'UPSTREAM_REFUSED',
      reason: 'rejected',
      sentence: `${server} refused the connection: ${sanitizeText(cause.message)}`,
      fix: `Correct its settings: ${edit}`,
    };
  const code = errorCode(cause) ?? '';
  if (SPAWN_CODES.has(code)) return describeSpawnError(cause, upstream);
  const network = describeNetworkError(cause, upstream);
  if (network !== undefined) return network;
  if (hints.exit === undefined)
    return {
      code: 'UPSTREAM_UNAVAILABLE',
      reason: 'unavailable',
      sentence: `${server} cannot be reached: ${errorMessage(cause)}`,
      fix: `Try again: ${restart}`,
    };
  const found = classifyOutput(hints.stderr);
  if (found !== undefined) return describeOutput(found, hints.exit, upstream);
  return {
    code: 'UPSTREAM_UNAVAILABLE',
    reason: 'exited',
    sentence: `${server} ${hints.exit} before it was ready.`,
    fix: `Correct its command or settings: ${edit}`,
  };
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
    `Server "${upstream}" ${event} during the request; the request may or may not have been executed, so it was not repeated.${quoteOutput(hints)}`,
    { cause, details: { upstream, ...hints } },
  );
}

/** Converts the error of one request whose connection still works, as is common over HTTP. */
export function classifyRequestError(cause: unknown, upstream: UpstreamName): GatewayError {
  if (cause instanceof UnexpectedResponseError) {
    const text = `Server "${upstream}" answered ${cause.received}, which is not a JSON-RPC message.`;
    return new GatewayError(cause.code, text, { cause, details: { upstream } });
  }
  if (cause instanceof HttpStatusError) return toError(describeStatus(cause, upstream), upstream, { cause });
  const text = `Server "${upstream}" did not answer: ${errorMessage(cause)}`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', text, { cause, details: { upstream } });
}

/** Adds the fix to an error about a reference whose value is missing. Returns any other error unchanged. */
export function explainMissingSecret(error: unknown, upstream: UpstreamName): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'SECRET_MISSING') return error;
  const { cause, details } = error;
  if (details['reason'] !== undefined) return error;
  const [server, edit] = nameInSentences(upstream);
  const { field, problem, fix: knownFix } = details;
  const sentence =
    typeof field === 'string' && typeof problem === 'string'
      ? `${server}, ${field}: ${problem}.`
      : `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
  const fix = typeof knownFix === 'string' ? knownFix : `Correct the setting: ${edit}`;
  return toError({ code: error.code, reason: 'secret-missing', sentence, fix }, upstream, { cause, details });
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
  const [server, edit] = nameInSentences(upstream);
  const sentence = `${server} was not ready within ${connectMs / 1000} s.`;
  const fix = `If it needs longer, raise "timeouts.connect": ${edit}`;
  return toError({ code: 'UPSTREAM_UNAVAILABLE', reason: 'timeout', sentence, fix }, upstream, {});
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

/** Builds the error. Its details hold the parts of the message, for output that shows the fix in a place of its own. */
function toError(
  { code, reason, sentence, fix }: Failure,
  upstream: UpstreamName,
  { cause, quote = '', details }: { cause?: unknown; quote?: string; details?: JsonObject },
): GatewayError {
  return new GatewayError(code, `${sentence} ${fix}${quote}`, {
    cause,
    details: { ...details, upstream, reason, summary: sentence + quote, fix },
  });
}

/** Returns the server as the subject of a sentence, and the commands that edit and restart it. */
function nameInSentences(upstream: UpstreamName): readonly [server: string, edit: string, restart: string] {
  const word = quoteShellWord(upstream);
  return [`Server "${upstream}"`, `trunkline edit ${word}`, `trunkline restart ${word}`];
}

function describeOutput(
  { reason, program, subject }: OutputFinding,
  exit: string,
  upstream: UpstreamName,
): Failure {
  const [server, edit, restart] = nameInSentences(upstream);
  switch (reason) {
    case 'package-not-found': {
      const sentence = `${program} cannot find ${subject ?? 'the package'}.`;
      return { code: 'UPSTREAM_REFUSED', reason, sentence, fix: `Check the name: ${edit}` };
    }
    case 'registry-refused': {
      const sentence = `${program} is not allowed to read the package of server "${upstream}".`;
      return { code: 'UPSTREAM_REFUSED', reason, sentence, fix: `Sign in with npm login, then: ${restart}` };
    }
    case 'registry-unreachable': {
      const sentence = `${program} cannot reach the registry with the package of server "${upstream}".`;
      return {
        code: 'UPSTREAM_UNAVAILABLE',
        reason,
        sentence,
        fix: `Check the network connection, then: ${restart}`,
      };
    }
    case 'engine-not-running': {
      const sentence = `${server} cannot be started: ${program} is not running.`;
      return { code: 'UPSTREAM_UNAVAILABLE', reason, sentence, fix: `Start ${program}, then: ${restart}` };
    }
    default: {
      const missing = subject ?? 'a file or program that it needs';
      // Without a known program, the line may be a warning that has nothing to do with the exit, so the server is tried again.
      return {
        code: program === '' ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_REFUSED',
        reason,
        sentence: `${server} ${exit} before it was ready: ${missing} is missing.`,
        fix: `Install it and run ${restart}, or correct "args": ${edit}`,
      };
    }
  }
}

/** Adds the working directory to the error of a failed start if the directory does not exist. Node reports that like a missing program. */
export function withMissingFolder(error: unknown, cwd: string | undefined): unknown {
  if (cwd !== undefined && errorCode(error) === 'ENOENT' && !existsSync(cwd))
    return Object.assign(error as Error, { cwd });
  return error;
}

function describeSpawnError(cause: unknown, upstream: UpstreamName): Failure {
  const { path, syscall, code, cwd } = cause as NodeJS.ErrnoException & { readonly cwd?: string };
  const [server, edit, restart] = nameInSentences(upstream);
  const error = 'UPSTREAM_REFUSED';
  if (cwd !== undefined) {
    const sentence = `${server} cannot be started: its folder "${cwd}" does not exist.`;
    const fix = `Create it and run ${restart}, or correct "cwd": ${edit}`;
    return { code: error, reason: 'folder-missing', sentence, fix };
  }
  const command = path ?? syscall?.replace(/^spawn /, '') ?? 'its command';
  if (code === 'ENOENT') {
    const sentence = `${server} cannot be started: the program "${command}" was not found.`;
    const fix = `Install it and run ${restart}, or correct "command": ${edit}`;
    return { code: error, reason: 'program-missing', sentence, fix };
  }
  const sentence = `${server} cannot be started: the program "${command}" cannot be executed (${code}).`;
  return { code: error, reason: 'program-missing', sentence, fix: `Correct "command": ${edit}` };
}

function describeNetworkError(cause: unknown, upstream: UpstreamName): Failure | undefined {
  const [server, edit, restart] = nameInSentences(upstream);
  const code = 'UPSTREAM_UNAVAILABLE';
  switch (errorCode(cause)) {
    case 'ECONNREFUSED': {
      const [first = cause] = cause instanceof AggregateError ? (cause.errors as readonly unknown[]) : [];
      const { address, port } = first as { readonly address?: string; readonly port?: number };
      const where = address === undefined || port === undefined ? 'its address' : `${address}:${port}`;
      const sentence = `${server} cannot be reached: nothing listens at ${where}.`;
      const fix = `Start it and run ${restart}, or correct "url": ${edit}`;
      return { code, reason: 'connection-refused', sentence, fix };
    }
    case 'ENOTFOUND':
    case 'EAI_AGAIN': {
      const { hostname } = cause as { readonly hostname?: string };
      const host = hostname === undefined ? 'its host name' : `the host name ${sanitizeText(hostname)}`;
      const sentence = `${server} cannot be reached: ${host} is not known.`;
      const fix = `Check the network and run ${restart}, or correct "url": ${edit}`;
      return { code, reason: 'host-unknown', sentence, fix };
    }
    default:
      return undefined;
  }
}

function describeStatus({ status }: HttpStatusError, upstream: UpstreamName): Failure {
  const [server, edit, restart] = nameInSentences(upstream);
  if (status === 401)
    return {
      code: 'UPSTREAM_NEEDS_AUTH',
      reason: 'credentials-refused',
      sentence: `${server} does not accept the configured Authorization header (HTTP 401).`,
      fix: `Correct the header, or remove it and sign in: ${edit}`,
    };
  if (status === 403)
    return {
      code: 'UPSTREAM_NEEDS_AUTH',
      reason: 'credentials-refused',
      sentence: `${server} does not accept the credentials (HTTP 403).`,
      fix: `Check its headers and the rights of the account: ${edit}`,
    };
  if (status === 408 || status === 429 || status >= 500)
    return {
      code: 'UPSTREAM_UNAVAILABLE',
      reason: 'unavailable',
      sentence: `${server} is not available (HTTP ${status}).`,
      fix: `Try again later: ${restart}`,
    };
  return {
    code: 'UPSTREAM_REFUSED',
    reason: 'wrong-url',
    sentence: `${server} does not speak MCP at its URL (HTTP ${status}).`,
    fix: `Correct the URL: ${edit}`,
  };
}

function describeUnexpected(
  { code, received, isWebPage }: UnexpectedResponseError,
  upstream: UpstreamName,
): Failure {
  const [server, edit, restart] = nameInSentences(upstream);
  if (isWebPage)
    return {
      code,
      reason: 'web-page',
      sentence: `${server} answers with a web page instead of MCP: the URL is wrong, or the network requires a sign-in in a browser (captive portal).`,
      fix: `Sign in to the network and run ${restart}, or correct "url": ${edit}`,
    };
  return {
    code,
    reason: 'wrong-url',
    sentence: `${server} does not speak MCP at its URL: it answered ${received}, which is not a JSON-RPC message.`,
    fix: `Correct the URL: ${edit}`,
  };
}

/** Returns the output of a process in parentheses, because it may end without a full stop. */
function quoteOutput(hints: ProcessHints): string {
  const lines = lastStderrLines(hints);
  const errors =
    lines.length === 0 ? '' : ` (It wrote to standard error: ${lines.map(sanitizeText).join(' | ')})`;
  const { stdout } = hints;
  return stdout === undefined ? errors : `${errors} (It wrote to standard output: ${sanitizeText(stdout)})`;
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
