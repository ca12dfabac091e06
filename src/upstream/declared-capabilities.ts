import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { deferred } from '../core/lib/deferred.ts';

// The capabilities that the gateway can pass on, as bits of a number.
const FORM = 1;
const URL_MODE = 2;
const SAMPLING = 4;
const ROOTS = 8;
const APPS = 16;
const ALL = FORM | URL_MODE | SAMPLING | ROOTS | APPS;

const APPS_EXTENSION = 'io.modelcontextprotocol/ui';

export const ALL_CAPABILITIES: JsonObject = toCapabilities(ALL);

/**
 * The client capabilities that servers are told. A server is started once for all clients and is told once, so it is told what at least
 * one client of this run supports. Servers then offer no tools that no client can use, and take their own way where they would have
 * asked. Until a client is known, everything counts as supported.
 */
export class DeclaredCapabilities implements Disposable {
  readonly #settled = deferred<void>();
  readonly #timer: NodeJS.Timeout;
  #known: number | undefined;
  #capabilities = ALL_CAPABILITIES;

  /** `waitMs` is the maximum time for which servers wait for the first client, whose capabilities are not known before. */
  constructor(waitMs: number) {
    this.#timer = setTimeout(() => this.#settled.resolve(), waitMs);
  }

  get capabilities(): JsonObject {
    return this.#capabilities;
  }

  /** Resolves when a client is known, or when none has appeared in time. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Adds what a client supports; returns whether that was more than before. It runs for every request of a modern client. */
  add(client: JsonObject): boolean {
    const supported = readCapabilities(client);
    if (this.#known !== undefined && (supported & ~this.#known) === 0) return false;
    this.#known = (this.#known ?? 0) | supported;
    this.#capabilities = toCapabilities(this.#known);
    this[Symbol.dispose]();
    return true;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#settled.resolve();
  }
}

/** Returns what a client supports of the capabilities that the gateway can pass on. */
export function passedCapabilities(client: JsonObject): JsonObject {
  return toCapabilities(readCapabilities(client));
}

/** Whether a server that was told `declared` would have to be told more for clients that support `wanted`. */
export function lacksCapabilities(declared: JsonObject, wanted: JsonObject): boolean {
  return (readCapabilities(wanted) & ~readCapabilities(declared)) !== 0;
}

function readCapabilities({ elicitation, sampling, roots, extensions }: JsonObject): number {
  let found = 0;
  if (isJsonObject(elicitation)) {
    const hasUrl = isJsonObject(elicitation['url']);
    if (hasUrl) found |= URL_MODE;
    // Older clients declare `elicitation: {}`, which means forms.
    if (!hasUrl || isJsonObject(elicitation['form'])) found |= FORM;
  }
  if (isJsonObject(sampling)) found |= SAMPLING;
  if (isJsonObject(roots)) found |= ROOTS;
  if (isJsonObject(extensions) && isJsonObject(extensions[APPS_EXTENSION])) found |= APPS;
  return found;
}

function toCapabilities(supported: number): JsonObject {
  const has = (part: number): boolean => (supported & part) !== 0;
  return {
    ...((has(FORM) || has(URL_MODE)) && {
      elicitation: { ...(has(FORM) && { form: {} }), ...(has(URL_MODE) && { url: {} }) },
    }),
    ...(has(SAMPLING) && { sampling: {} }),
    ...(has(ROOTS) && { roots: {} }),
    // Servers offer pages for MCP Apps only to clients that can show them.
    ...(has(APPS) && { extensions: { [APPS_EXTENSION]: { mimeTypes: ['text/html;profile=mcp-app'] } } }),
  };
}
