import { BodyTooLargeError, readBounded } from '../../core/lib/read-bounded.ts';
import { startTimeout } from '../../core/lib/start-timeout.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { parseRegistryServer } from './registry-server.ts';
import type { RegistryServer } from './registry-server.ts';

export const OFFICIAL_REGISTRY_URL = 'https://registry.modelcontextprotocol.io';

/** The total time for all requests of a search or of a lookup. */
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 8 * 1024 * 1024;
const PAGE_SIZE = 100;
const MAX_PAGES = 5;
/** A longer cursor ends a search, because it becomes part of the next URL. */
const MAX_CURSOR_CHARS = 4096;

interface RegistryClientOptions {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** A client of the official MCP registry's API. */
export class RegistryClient {
  readonly #baseUrl: string;
  readonly #options: RegistryClientOptions;
  readonly #timeoutMs: number;
  /** The API version, such as `v0.1`. It is undefined until the first successful response, unless the URL of the registry contains it. */
  #apiVersion: string | undefined;

  constructor(url: string, options: RegistryClientOptions) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new GatewayError(
        'USAGE',
        `The URL of the registry must begin with https:// or http://, but is "${url}".`,
      );
    }
    const [, baseUrl = url, apiVersion] = /^(.*?)(?:\/(v\d[\d.]*))?\/*$/s.exec(url) ?? [];
    this.#baseUrl = baseUrl;
    this.#apiVersion = apiVersion;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  /** Returns the newest versions of the servers whose names contain the text, the best matches first. */
  async search(text: string, limit: number): Promise<readonly RegistryServer[]> {
    using timeout = startTimeout(this.#timeoutMs, this.#options.signal);
    return await this.#search(text, limit, timeout.signal);
  }

  /** Returns the newest version of one server. */
  async server(name: string): Promise<RegistryServer> {
    using timeout = startTimeout(this.#timeoutMs, this.#options.signal);
    const { signal } = timeout;
    const path = `/servers/${encodeURIComponent(name)}/versions/latest`;
    const body = await this.#get(path, { signal, isOptional: true });
    const server = body === undefined ? undefined : parseRegistryServer(body);
    if (server !== undefined && server.name === name && server.status !== 'deleted') return server;
    const similar = await this.#search(name.split('/').at(-1) ?? name, 5, signal);
    const exact = similar.find((candidate) => candidate.name === name);
    if (exact !== undefined) return exact;
    const names = similar.map((candidate) => candidate.name).join(', ');
    const hint = similar.length === 0 ? '' : ` Did you mean ${names}?`;
    throw new GatewayError('ENTRY_NOT_FOUND', `The registry has no server "${name.slice(0, 200)}".${hint}`);
  }

  async #search(text: string, limit: number, signal: AbortSignal): Promise<readonly RegistryServer[]> {
    const found = new Map<string, RegistryServer>();
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = new URLSearchParams({
        search: text,
        version: 'latest',
        limit: String(PAGE_SIZE),
      });
      if (cursor !== undefined) query.set('cursor', cursor);
      const body = await this.#get(`/servers?${query.toString()}`, { signal });
      const servers = isJsonObject(body) && Array.isArray(body['servers']) ? body['servers'] : undefined;
      if (servers === undefined) throw this.#protocolError('its response has no list of servers');
      for (const item of servers.slice(0, PAGE_SIZE)) {
        const server = parseRegistryServer(item);
        // If several entries have the same name, the first one is the newest.
        if (server !== undefined && server.status !== 'deleted' && !found.has(server.name))
          found.set(server.name, server);
      }
      const metadata = isJsonObject(body) ? body['metadata'] : undefined;
      const next = isJsonObject(metadata) ? (metadata['nextCursor'] ?? metadata['next_cursor']) : undefined;
      if (typeof next !== 'string' || next === '' || next === cursor || next.length > MAX_CURSOR_CHARS) break;
      cursor = next;
    }
    return rankServers([...found.values()], text).slice(0, limit);
  }

  /** Requests a path with each possible API version. If all respond with 404, returns undefined for an optional path and throws otherwise. */
  async #get(
    path: string,
    { signal, isOptional = false }: { readonly signal: AbortSignal; readonly isOptional?: boolean },
  ): Promise<unknown> {
    const versions = this.#apiVersion === undefined ? ['v0.1', 'v0'] : [this.#apiVersion];
    for (const version of versions) {
      const response = await this.#fetch(`${this.#baseUrl}/${version}${path}`, signal);
      if (response.status === 404) {
        await response.body?.cancel();
        continue;
      }
      if (!response.ok) {
        await response.body?.cancel();
        throw this.#protocolError(`it answered with status ${response.status}`);
      }
      this.#apiVersion = version;
      return this.#parseJson(await this.#readBody(response, signal));
    }
    if (isOptional) return undefined;
    throw this.#protocolError('it does not serve the registry API; check the URL');
  }

  async #fetch(url: string, signal: AbortSignal): Promise<Response> {
    try {
      return await this.#options.fetch(url, {
        headers: { accept: 'application/json' },
        signal,
      });
    } catch (error) {
      throw this.#connectionError(error);
    }
  }

  async #readBody(response: Response, signal: AbortSignal): Promise<string> {
    try {
      return await readBounded(response.body, MAX_BYTES, signal);
    } catch (error) {
      if (error instanceof BodyTooLargeError) throw this.#protocolError('its response is larger than 8 MB');
      throw this.#connectionError(error);
    }
  }

  #parseJson(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#protocolError('its response is not JSON');
    }
  }

  #connectionError(error: unknown): GatewayError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const reason =
      error instanceof Error && error.name === 'TimeoutError'
        ? `no response within ${this.#timeoutMs / 1000} s`
        : code;
    return new GatewayError(
      'UPSTREAM_UNAVAILABLE',
      `The registry at ${this.#baseUrl} cannot be reached${reason === '' ? '' : `: ${reason}`}. To use another registry, set TRUNKLINE_REGISTRY, or add --registry URL to the command.`,
      { cause: error },
    );
  }

  #protocolError(problem: string): GatewayError {
    return new GatewayError(
      'UPSTREAM_PROTOCOL',
      `The registry at ${this.#baseUrl} cannot be used: ${problem}.`,
    );
  }
}

/** Puts matches in the short name first, then those in the description, then those in the publisher's namespace. */
function rankServers(servers: readonly RegistryServer[], text: string): readonly RegistryServer[] {
  const query = text.toLowerCase();
  const rank = ({ name, description }: RegistryServer): number => {
    const shortName = (name.split('/').at(-1) ?? name).toLowerCase();
    if (shortName === query) return 0;
    if (shortName.includes(query)) return 1;
    return description.toLowerCase().includes(query) ? 2 : 3;
  };
  return servers.toSorted((a, b) => rank(a) - rank(b));
}
