import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { META } from '../era.ts';
import type { Outgoing } from '../stream.ts';

type HeaderRecord = Readonly<Record<string, string>>;
/** Asked before every request, so that a renewed token is used at once; answer at once where possible. */
export type HeaderSource = () => HeaderRecord | Promise<HeaderRecord>;

/** Headers that say what we send and understand; a configured value would only break the exchange. */
const OURS: ReadonlySet<string> = new Set([
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
 * The headers that are the same for every request, as the flat list that `node:http` writes without building a map.
 * They are made anew only when the source gives another object.
 */
export class BaseHeaders {
  readonly #url: URL;
  readonly #source: HeaderSource;
  #given: HeaderRecord | undefined;
  #lines: readonly string[] = [];

  constructor(url: URL, source: HeaderSource) {
    this.#url = url;
    this.#source = source;
  }

  /** Calls back at once unless the source needs time: a promise per call would cost more than the rest of this. */
  get(then: (lines: readonly string[]) => void, fail: (error: Error) => void): void {
    let given: HeaderRecord | Promise<HeaderRecord>;
    try {
      given = this.#source();
    } catch (error) {
      return fail(asError(error));
    }
    if (!isPromise(given)) return then(this.#flat(given));
    given.then(
      (record) => then(this.#flat(record)),
      (error: unknown) => fail(asError(error)),
    );
  }

  #flat(given: HeaderRecord): readonly string[] {
    if (given === this.#given) return this.#lines;
    const lines: string[] = [];
    const names = new Set<string>();
    const add = (name: string, value: string): void => {
      if (names.has(name.toLowerCase())) return;
      names.add(name.toLowerCase());
      lines.push(name, value);
    };
    for (const [name, value] of Object.entries(given)) if (!OURS.has(name.toLowerCase())) add(name, value);
    add('Host', this.#url.host);
    add('User-Agent', 'trunkline');
    const { username, password } = this.#url;
    if (username !== '' || password !== '') {
      const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      add('Authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
    }
    // On the same machine compression costs more than it saves.
    if (!LOOPBACK.test(this.#url.hostname)) lines.push('Accept-Encoding', 'gzip, br');
    this.#given = given;
    this.#lines = lines;
    return lines;
  }
}

/** What the modern era wants in the headers of a POST, so that a balancer need not read the body. */
export function modernHeaders(message: Outgoing, protocol: string): string[] {
  const lines = ['MCP-Protocol-Version', protocol];
  if (message.kind === 'answer') return lines;
  lines.push('Mcp-Method', headerValue(message.method));
  if (message.kind === 'notification') return lines;
  const name = nameOf(message.method, message.params);
  if (name !== undefined) lines.push('Mcp-Name', headerValue(name));
  if (message.headers !== undefined) {
    for (const [key, value] of Object.entries(message.headers)) lines.push(key, headerValue(value));
  }
  return lines;
}

/** The version that a modern request itself names; the header must be the same. */
export function namedVersion(message: Outgoing): string | undefined {
  if (message.kind !== 'request') return undefined;
  const meta = message.params?.['_meta'];
  const version = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
  return typeof version === 'string' ? version : undefined;
}

function nameOf(method: string, params: JsonObject | undefined): string | undefined {
  const name =
    method === 'tools/call' || method === 'prompts/get'
      ? params?.['name']
      : method === 'resources/read'
        ? params?.['uri']
        : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Plain where a header can carry the value unchanged and unmistakably, otherwise as the protocol's base64 word. */
function headerValue(value: string): string {
  const isPlain = /^[!-~](?:[\t -~]*[!-~])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

function isPromise(given: HeaderRecord | Promise<HeaderRecord>): given is Promise<HeaderRecord> {
  return typeof given.then === 'function';
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The headers could not be made.', { cause: error });
}
