import { metaKeys } from './eras.mjs';
import { violation } from './note.mjs';
import { RpcError } from './rpc-error.mjs';

const named = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Compares the headers of a modern POST with its body, as every modern server must. */
export function checkModernHeaders(headers, message, server) {
  const { method, params } = message;
  mustMatch(headers, 'mcp-protocol-version', params._meta[metaKeys.version]);
  mustMatch(headers, 'mcp-method', method);
  if (named.has(method)) mustMatch(headers, 'mcp-name', params.name ?? params.uri);
  if (method !== 'tools/call') return;
  const properties = server.tools.find(({ name }) => name === params.name)?.inputSchema?.properties ?? {};
  for (const [key, schema] of Object.entries(properties)) {
    const header = schema['x-mcp-header'];
    const value = params.arguments?.[key];
    if (header !== undefined && value !== undefined)
      mustMatch(headers, `mcp-param-${header.toLowerCase()}`, String(value));
  }
}

function mustMatch(headers, name, expected) {
  const given = headers[name];
  if (given !== undefined && decode(given) === expected) return;
  violation('header-mismatch', { name, given, expected });
  throw new RpcError(-32020, `Header ${name} is missing or does not match the body.`, { status: 400 });
}

/** Values that are not ASCII are encoded as `=?base64?…?=`. */
function decode(value) {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const text = Buffer.from(encoded, 'base64').toString();
  return Buffer.from(text).toString('base64') === encoded ? text : undefined;
}

/** Logs violations in the headers of a legacy POST or GET; real servers are at least as strict. */
export function checkLegacyHeaders(request, link) {
  const version = request.headers['mcp-protocol-version'];
  if (link.version !== undefined && link.version >= '2025-06-18' && version !== link.version) {
    violation('protocol-version-header', { given: version, agreed: link.version });
  }
}

/** Returns the status and text for a POST that is rejected before its body is read, or undefined. */
export function refusalOf(request) {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    violation('content-type', { given: request.headers['content-type'] });
    return { status: 415, text: 'The body must be application/json.' };
  }
  const accept = request.headers.accept ?? '';
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
    violation('accept', { given: accept });
    return { status: 406, text: 'Accept must list application/json and text/event-stream.' };
  }
  return undefined;
}

export function takesGzip(request, options) {
  return options.has('gzip') && (request.headers['accept-encoding'] ?? '').includes('gzip');
}
