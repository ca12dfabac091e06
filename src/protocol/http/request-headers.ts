import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { META_KEYS } from '../era.ts';
import type { OutgoingMessage } from '../client-transport.ts';

type HeaderRecord = Readonly<Record<string, string>>;
/** Returns the configured and authentication headers. Called before every request, so that a refreshed token is used at once. */
export type HeaderProvider = () => HeaderRecord | Promise<HeaderRecord>;

/** Headers that the transport sets itself; a configured value would break the request. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
]);
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Caches the headers that all requests share as a flat list, which `node:http` writes without building a map. The list is rebuilt only
 * when the provider returns another object.
 */
export class BaseHeaders {
  readonly #url: URL;
  readonly #provider: HeaderProvider;
  #provided: HeaderRecord | undefined;
  #lines: readonly string[] = [];

  constructor(url: URL, provider: HeaderProvider) {
    this.#url = url;
    this.#provider = provider;
  }

  /** Calls back synchronously unless the provider returns a promise. A promise per call would cost more than all other steps. */
  get(onReady: (lines: readonly string[]) => void, onError: (error: Error) => void): void {
    let provided: HeaderRecord | Promise<HeaderRecord>;
    try {
      provided = this.#provider();
    } catch (error) {
      return onError(asError(error));
    }
    if (!isPromise(provided)) return onReady(this.#flatten(provided));
    provided.then(
      (record) => onReady(this.#flatten(record)),
      (error: unknown) => onError(asError(error)),
    );
  }

  #flatten(provided: HeaderRecord): readonly string[] {
    if (provided === this.#provided) return this.#lines;
    const lines: string[] = [];
    const names = new Set<string>();
    const add = (name: string, value: string): void => {
      if (names.has(name.toLowerCase())) return;
      names.add(name.toLowerCase());
      lines.push(name, value);
    };
    for (const [name, value] of Object.entries(provided))
      if (!RESERVED.has(name.toLowerCase())) add(name, value);
    add('Host', this.#url.host);
    add('User-Agent', 'trunkline');
    const { username, password } = this.#url;
    if (username !== '' || password !== '') {
      const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      add('Authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
    }
    // Compression is not requested from a server on the same host, because it would cost more than it saves.
    if (!LOOPBACK.test(this.#url.hostname)) lines.push('Accept-Encoding', 'gzip, br');
    this.#provided = provided;
    this.#lines = lines;
    return lines;
  }
}

/** Returns the headers that the modern era requires for a POST; they let a load balancer route without reading the body. */
export function buildModernHeaders(message: OutgoingMessage, protocol: string): string[] {
  const lines = ['MCP-Protocol-Version', protocol];
  if (message.kind === 'response') return lines;
  lines.push('Mcp-Method', encodeHeaderValue(message.method));
  if (message.kind === 'notification') return lines;
  const name = calledName(message.method, message.params);
  if (name !== undefined) lines.push('Mcp-Name', encodeHeaderValue(name));
  if (message.headers !== undefined) {
    for (const [key, value] of Object.entries(message.headers)) lines.push(key, encodeHeaderValue(value));
  }
  return lines;
}

/** Returns the version that a modern request names in its `_meta`; the header must be the same. */
export function readRequestVersion(message: OutgoingMessage): string | undefined {
  if (message.kind !== 'request') return undefined;
  const meta = message.params?.['_meta'];
  const version = isJsonObject(meta) ? meta[META_KEYS.protocolVersion] : undefined;
  return typeof version === 'string' ? version : undefined;
}

function calledName(method: string, params: JsonObject | undefined): string | undefined {
  const name =
    method === 'tools/call' || method === 'prompts/get'
      ? params?.['name']
      : method === 'resources/read'
        ? params?.['uri']
        : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Returns the value itself if a header can contain it unambiguously, else the base64 form that the protocol defines. */
function encodeHeaderValue(value: string): string {
  const isPlain = /^[!-~](?:[\t -~]*[!-~])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

function isPromise(value: HeaderRecord | Promise<HeaderRecord>): value is Promise<HeaderRecord> {
  return typeof value.then === 'function';
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The header provider failed.', { cause: error });
}
