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
 * The client capabilities that the gateway declares to servers. It connects once to a server for all clients, and so declares every
 * capability that at least one client of this run has. A server then omits tools that no client can use, and does not ask questions that no
 * client can answer. Until a client is known, the gateway declares all capabilities.
 */
export class DeclaredCapabilities implements Disposable {
  readonly #settled = deferred<void>();
  readonly #timer: NodeJS.Timeout;
  #known: number | undefined;
  #capabilities = ALL_CAPABILITIES;

  /** `waitMs` is the maximum time for which servers wait until the capabilities of the first client are known. */
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

/** Whether `wanted` contains capabilities that `declared` does not contain. */
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
    elicitation: has(FORM | URL_MODE)
      ? { form: has(FORM) ? {} : undefined, url: has(URL_MODE) ? {} : undefined }
      : undefined,
    sampling: has(SAMPLING) ? {} : undefined,
    roots: has(ROOTS) ? {} : undefined,
    // Servers offer pages for MCP Apps only to clients that can show them.
    extensions: has(APPS) ? { [APPS_EXTENSION]: { mimeTypes: ['text/html;profile=mcp-app'] } } : undefined,
  };
}
