import { Buffer, isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

import type { RpcErrorBody } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { META, MODERN_VERSION, RPC } from '../era.ts';
import { paramHeaders } from './param-headers.ts';
import type { HeaderParam } from './param-headers.ts';

interface ModernMessage {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** What `Mcp-Name` repeats, so that whoever routes by headers and whoever reads the body see the same request. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);
const SENTINEL_START = '=?base64?';
const SENTINEL_END = '?=';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Why a modern request must be answered with 400 before anybody looks at it; undefined when all is well. */
export function modernRequestProblem(
  message: ModernMessage,
  headers: IncomingHttpHeaders,
): RpcErrorBody | undefined {
  const meta = metaOf(message);
  const version = meta?.[META.protocolVersion];
  if (typeof version !== 'string') return missingMeta(META.protocolVersion);
  const versionHeader = headers['mcp-protocol-version'];
  if (versionHeader !== version) return mismatch('MCP-Protocol-Version', versionHeader);
  if (version !== MODERN_VERSION) return unsupported(version);
  if (!isJsonObject(meta?.[META.clientCapabilities])) return missingMeta(META.clientCapabilities);
  const methodHeader = headers['mcp-method'];
  if (methodHeader !== message.method) return mismatch('Mcp-Method', methodHeader);
  return nameProblem(message, headers['mcp-name']);
}

/** The revision asks no headers of a notification; what is there must still not contradict the body. */
export function modernNotificationProblem(
  message: ModernMessage,
  headers: IncomingHttpHeaders,
): RpcErrorBody | undefined {
  const versionHeader = headers['mcp-protocol-version'];
  const version = metaOf(message)?.[META.protocolVersion] ?? versionHeader;
  if (typeof version !== 'string') return missingMeta(META.protocolVersion);
  if (versionHeader !== undefined && versionHeader !== version) {
    return mismatch('MCP-Protocol-Version', versionHeader);
  }
  if (version !== MODERN_VERSION) return unsupported(version);
  const methodHeader = headers['mcp-method'];
  const isContradicted = methodHeader !== undefined && methodHeader !== message.method;
  return isContradicted ? mismatch('Mcp-Method', methodHeader) : undefined;
}

/** Why the headers of a call do not repeat its annotated arguments; undefined when they do. */
export function paramProblem(
  params: readonly HeaderParam[],
  args: unknown,
  headers: IncomingHttpHeaders,
): RpcErrorBody | undefined {
  if (params.length === 0) return undefined;
  const expected = paramHeaders(params, args);
  for (const { header } of params) {
    const name = `Mcp-Param-${header}`;
    const [given, value] = [headers[name.toLowerCase()], expected[name]];
    const isRight = value === undefined ? given === undefined : repeats(given, value);
    if (!isRight) return mismatch(name, given);
  }
  return undefined;
}

/** Errors of a modern request that HTTP repeats as its status. */
export function modernStatus(error: RpcErrorBody): number {
  switch (error.code) {
    case RPC.methodNotFound:
      return 404;
    case RPC.headerMismatch:
    case RPC.missingClientCapability:
    case RPC.unsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

function metaOf(message: ModernMessage): JsonObject | undefined {
  const meta = message.params?.['_meta'];
  return isJsonObject(meta) ? meta : undefined;
}

function nameProblem(
  message: ModernMessage,
  header: string | string[] | undefined,
): RpcErrorBody | undefined {
  const field = NAMED_BY.get(message.method);
  if (field === undefined) return undefined;
  const value = message.params?.[field];
  if (typeof value !== 'string') return undefined; // Whoever answers says what is wrong with the body.
  return repeats(header, value) ? undefined : mismatch('Mcp-Name', header);
}

function repeats(header: string | string[] | undefined, value: string): boolean {
  if (header === value && !isEncoded(value)) return true;
  return typeof header === 'string' && decoded(header) === value;
}

function isEncoded(value: string): boolean {
  return value.startsWith(SENTINEL_START) && value.endsWith(SENTINEL_END);
}

function decoded(header: string): string | undefined {
  if (!isEncoded(header)) return header;
  const text = header.slice(SENTINEL_START.length, -SENTINEL_END.length);
  if (!BASE64.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function mismatch(header: string, value: string | string[] | undefined): RpcErrorBody {
  const problem = value === undefined ? 'is missing' : 'does not match the body';
  return { code: RPC.headerMismatch, message: `The header ${header} ${problem}.`, data: { header } };
}

function missingMeta(key: string): RpcErrorBody {
  return {
    code: RPC.invalidParams,
    message: `params._meta must contain ${key}.`,
    data: { missing: [key] },
  };
}

function unsupported(requested: string): RpcErrorBody {
  return {
    code: RPC.unsupportedVersion,
    message: 'This protocol version is not supported.',
    data: { supported: [MODERN_VERSION], requested },
  };
}
