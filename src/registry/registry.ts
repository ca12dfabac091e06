import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import { registryServer } from './registry-server.ts';
import type { RegistryServer } from './registry-server.ts';

export const OFFICIAL_REGISTRY = 'https://registry.modelcontextprotocol.io';

const WITHIN_MS = 15_000;
const MAX_BYTES = 8 * 1024 * 1024;
const PAGE = 100;
const MAX_PAGES = 5;

interface RegistryOptions {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal;
}

/** A registry of MCP servers that speaks the official one's API. */
export class Registry {
  readonly #base: string;
  readonly #options: RegistryOptions;
  /** The newest version of the API that it has, once it answered. */
  #version: string | undefined;

  constructor(base: string, options: RegistryOptions) {
    if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
      throw new GatewayError(
        'USAGE',
        `The address of the registry must begin with https:// or http://, and is "${base}".`,
      );
    const [, bare = base, version] = /^(.*?)(?:\/(v\d[\d.]*))?\/*$/s.exec(base) ?? [];
    this.#base = bare;
    this.#version = version;
    this.#options = options;
  }

  /** The newest versions of servers whose name has the text in it, the best of all pages first. */
  async search(text: string, limit: number): Promise<readonly RegistryServer[]> {
    const found = new Map<string, RegistryServer>();
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = new URLSearchParams({
        search: text,
        version: 'latest',
        limit: String(PAGE),
      });
      if (cursor !== undefined) query.set('cursor', cursor);
      const answer = await this.#get(`/servers?${query.toString()}`);
      const servers =
        isJsonObject(answer) && Array.isArray(answer['servers']) ? answer['servers'] : undefined;
      if (servers === undefined) throw this.#strange('it has no list of servers');
      for (const each of servers.slice(0, PAGE)) {
        const server = registryServer(each);
        // The first of a name is the newest one.
        if (server !== undefined && server.status !== 'deleted' && !found.has(server.name))
          found.set(server.name, server);
      }
      const metadata = isJsonObject(answer) ? answer['metadata'] : undefined;
      const next = isJsonObject(metadata) ? (metadata['nextCursor'] ?? metadata['next_cursor']) : undefined;
      if (typeof next !== 'string' || next === '' || next === cursor) break;
      cursor = next;
    }
    return ranked([...found.values()], text).slice(0, limit);
  }

  /** The newest version of one server. */
  async server(name: string): Promise<RegistryServer> {
    const answer = await this.#get(`/servers/${encodeURIComponent(name)}/versions/latest`, 'none');
    const server = answer === undefined ? undefined : registryServer(answer);
    if (server !== undefined && server.name === name && server.status !== 'deleted') return server;
    const near = await this.search(name.split('/').at(-1) ?? name, 5);
    const exact = near.find((each) => each.name === name);
    if (exact !== undefined) return exact;
    const hint = near.length === 0 ? '' : ` Did you mean ${near.map((each) => each.name).join(', ')}?`;
    throw new GatewayError('ENTRY_NOT_FOUND', `The registry has no server "${name.slice(0, 200)}".${hint}`);
  }

  async #get(path: string, missing: 'error' | 'none' = 'error'): Promise<unknown> {
    const versions = this.#version === undefined ? ['v0.1', 'v0'] : [this.#version];
    for (const version of versions) {
      const response = await this.#fetch(`${this.#base}/${version}${path}`);
      if (response.status === 404) {
        await response.body?.cancel();
        continue;
      }
      if (!response.ok) {
        await response.body?.cancel();
        throw this.#strange(`it answered with status ${response.status}`);
      }
      this.#version = version;
      return this.#parsed(await this.#text(response));
    }
    if (missing === 'none') return undefined;
    throw this.#strange('it has no such address; is it a registry of MCP servers?');
  }

  async #fetch(url: string): Promise<Response> {
    const timeout = AbortSignal.timeout(WITHIN_MS);
    const { signal } = this.#options;
    try {
      return await this.#options.fetch(url, {
        headers: { accept: 'application/json' },
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  async #text(response: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of response.body ?? []) {
        const bytes = chunk as Uint8Array; // Bodies of responses are made of bytes.
        size += bytes.length;
        if (size > MAX_BYTES) break;
        chunks.push(bytes);
      }
    } catch (error) {
      throw this.#unreachable(error);
    }
    if (size > MAX_BYTES) throw this.#strange('its answer is larger than 8 MB');
    return Buffer.concat(chunks).toString('utf8');
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#strange('its answer is not JSON');
    }
  }

  #unreachable(error: unknown): GatewayError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const why =
      error instanceof Error && error.name === 'TimeoutError'
        ? `no answer within ${WITHIN_MS / 1000} s`
        : code;
    return new GatewayError(
      'UPSTREAM_UNAVAILABLE',
      `The registry at ${this.#base} cannot be reached${why === '' ? '' : `: ${why}`}. --registry names another one.`,
      { cause: error },
    );
  }

  #strange(what: string): GatewayError {
    return new GatewayError('UPSTREAM_PROTOCOL', `The registry at ${this.#base} cannot be used: ${what}.`);
  }
}

/** Those first that have the words in their own name, then in what they say, then in the name of their maker. */
function ranked(servers: readonly RegistryServer[], text: string): readonly RegistryServer[] {
  const wanted = text.toLowerCase();
  const rank = ({ name, description }: RegistryServer): number => {
    const own = (name.split('/').at(-1) ?? name).toLowerCase();
    if (own === wanted) return 0;
    if (own.includes(wanted)) return 1;
    return description.toLowerCase().includes(wanted) ? 2 : 3;
  };
  return servers.toSorted((a, b) => rank(a) - rank(b));
}
