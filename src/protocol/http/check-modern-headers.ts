import { Buffer, isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

import type { RpcErrorBody } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { META_KEYS, MODERN_VERSION, RPC_ERROR_CODES } from '../era.ts';
import { buildParamHeaders } from './param-headers.ts';
import type { HeaderParam } from './param-headers.ts';

interface ModernMessage {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** The param that `Mcp-Name` repeats, by method. Both must agree, because proxies route by the header and the gateway reads the body. */
const NAME_PARAMS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);
// A header value between these two markers is encoded in base64.
const SENTINEL_START = '=?base64?';
const SENTINEL_END = '?=';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns the error for a modern request whose headers are missing or contradict the body; undefined if they are correct. */
export function checkModernRequest(
  message: ModernMessage,
  headers: IncomingHttpHeaders,
): RpcErrorBody | undefined {
  const meta = readMeta(message);
  const version = meta?.[META_KEYS.protocolVersion];
  if (typeof version !== 'string') return missingMeta(META_KEYS.protocolVersion);
  const versionHeader = headers['mcp-protocol-version'];
  if (versionHeader !== version) return mismatch('MCP-Protocol-Version', versionHeader);
  if (version !== MODERN_VERSION) return unsupported(version);
  if (!isJsonObject(meta?.[META_KEYS.clientCapabilities])) return missingMeta(META_KEYS.clientCapabilities);
  const methodHeader = headers['mcp-method'];
  if (methodHeader !== message.method) return mismatch('Mcp-Method', methodHeader);
  return checkName(message, headers['mcp-name']);
}

/** Checks a notification, whose headers are optional but must not contradict the body. */
export function checkModernNotification(
  message: ModernMessage,
  headers: IncomingHttpHeaders,
): RpcErrorBody | undefined {
  const versionHeader = headers['mcp-protocol-version'];
  const version = readMeta(message)?.[META_KEYS.protocolVersion] ?? versionHeader;
  if (typeof version !== 'string') return missingMeta(META_KEYS.protocolVersion);
  if (versionHeader !== undefined && versionHeader !== version) {
    return mismatch('MCP-Protocol-Version', versionHeader);
  }
  if (version !== MODERN_VERSION) return unsupported(version);
  const methodHeader = headers['mcp-method'];
  const isMismatch = methodHeader !== undefined && methodHeader !== message.method;
  return isMismatch ? mismatch('Mcp-Method', methodHeader) : undefined;
}

/** Returns the error for a call whose `Mcp-Param-*` headers do not repeat its annotated arguments. */
export function checkParamHeaders(
  params: readonly HeaderParam[],
  args: unknown,
  headers: IncomingHttpHeaders,
): RpcErrorBody | undefined {
  if (params.length === 0) return undefined;
  const expected = buildParamHeaders(params, args);
  for (const { header } of params) {
    const name = `Mcp-Param-${header}`;
    const received = headers[name.toLowerCase()];
    const value = expected[name];
    const isMatch = value === undefined ? received === undefined : matches(received, value);
    if (!isMatch) return mismatch(name, received);
  }
  return undefined;
}

/** Returns the HTTP status for an error response to a modern request. */
export function httpStatusForError(error: RpcErrorBody): number {
  switch (error.code) {
    case RPC_ERROR_CODES.methodNotFound:
      return 404;
    case RPC_ERROR_CODES.headerMismatch:
    case RPC_ERROR_CODES.missingClientCapability:
    case RPC_ERROR_CODES.unsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

function readMeta(message: ModernMessage): JsonObject | undefined {
  const meta = message.params?.['_meta'];
  return isJsonObject(meta) ? meta : undefined;
}

function checkName(message: ModernMessage, header: string | string[] | undefined): RpcErrorBody | undefined {
  const field = NAME_PARAMS.get(message.method);
  if (field === undefined) return undefined;
  const value = message.params?.[field];
  if (typeof value !== 'string') return undefined; // The handler of the method reports the invalid param.
  return matches(header, value) ? undefined : mismatch('Mcp-Name', header);
}

function matches(header: string | string[] | undefined, value: string): boolean {
  if (header === value && !isEncoded(value)) return true;
  return typeof header === 'string' && decodeHeaderValue(header) === value;
}

function isEncoded(value: string): boolean {
  return value.startsWith(SENTINEL_START) && value.endsWith(SENTINEL_END);
}

function decodeHeaderValue(header: string): string | undefined {
  if (!isEncoded(header)) return header;
  const text = header.slice(SENTINEL_START.length, -SENTINEL_END.length);
  if (!BASE64.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function mismatch(header: string, value: string | string[] | undefined): RpcErrorBody {
  const problem = value === undefined ? 'is missing' : 'does not match the body';
  return {
    code: RPC_ERROR_CODES.headerMismatch,
    message: `The header ${header} ${problem}.`,
    data: { header },
  };
}

function missingMeta(key: string): RpcErrorBody {
  return {
    code: RPC_ERROR_CODES.invalidParams,
    message: `params._meta must contain ${key}.`,
    data: { missing: [key] },
  };
}

function unsupported(requested: string): RpcErrorBody {
  return {
    code: RPC_ERROR_CODES.unsupportedVersion,
    message: 'This protocol version is not supported.',
    data: { supported: [MODERN_VERSION], requested },
  };
}
