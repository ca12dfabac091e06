import type { Exposure } from '../../exposure/exposure.ts';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Era } from '../../core/server-facts.ts';
import { encodeResultForEra } from '../encode-response.ts';

interface ListOptions {
  readonly era: Era;
  /** Names of tools that are listed for this session only. */
  readonly revealed?: ReadonlySet<string>;
  /** The `_meta` of a single server, which is the same for the whole view. */
  readonly meta?: JsonObject | undefined;
}

type ListReader = (view: CatalogView, exposure: Exposure, revealed: ReadonlySet<string>) => JsonObject;

const LIST_READERS: Readonly<Record<string, ListReader>> = {
  'tools/list': (view, exposure, revealed) => ({ tools: exposure.tools(view, revealed) }),
  'prompts/list': (view) => ({
    prompts: view.prompts.map((entry) => ({ ...entry.definition, name: entry.name })),
  }),
  'resources/list': (view) => ({
    resources: view.resources.map((entry) => ({ ...entry.definition, uri: entry.uri })),
  }),
  'resources/templates/list': (view) => ({
    resourceTemplates: view.templates.map((entry) => ({
      ...entry.definition,
      uriTemplate: entry.uriTemplate,
    })),
  }),
};

const NO_TOOLS: ReadonlySet<string> = new Set();
/** Lists of at least this length are cached as bytes. Shorter ones stay text, which can be joined with other messages in one write. */
const MIN_ENCODED_CHARS = 32 * 1024;

/** Caches the serialized lists and the gateway's description per view, exposure and era, as long as the view exists. */
export class ListCache {
  readonly #texts = new WeakMap<CatalogView, Map<string, Payload>>();

  get(
    method: string,
    view: CatalogView,
    exposure: Exposure,
    { era, revealed = NO_TOOLS, meta }: ListOptions,
  ): Payload {
    // A list that only one session sees is not cached.
    if (revealed.size > 0 && method === 'tools/list')
      return writeList(method, view, exposure, { era, revealed });
    return this.#getOrWrite(view, exposure, `${method} ${era}`, () => {
      const list = writeList(method, view, exposure, { era, meta });
      return list.text.length < MIN_ENCODED_CHARS ? list : list.encoded();
    });
  }

  /** `version` names the era and the protocol version of the client. */
  getDescription(view: CatalogView, exposure: Exposure, version: string, write: () => Payload): Payload {
    return this.#getOrWrite(view, exposure, `description ${version}`, write);
  }

  #getOrWrite(view: CatalogView, exposure: Exposure, content: string, write: () => Payload): Payload {
    let texts = this.#texts.get(view);
    if (texts === undefined) this.#texts.set(view, (texts = new Map<string, Payload>()));
    const key = `${content} ${exposure.kind} ${exposure.client ?? ''}`;
    let payload = texts.get(key);
    if (payload === undefined) texts.set(key, (payload = write()));
    return payload;
  }
}

function writeList(
  method: string,
  view: CatalogView,
  exposure: Exposure,
  { era, revealed = NO_TOOLS, meta }: ListOptions,
): Payload {
  const read = LIST_READERS[method];
  const entries = read === undefined ? {} : read(view, exposure, revealed);
  const list = Payload.of(meta === undefined ? entries : { ...entries, _meta: meta });
  return encodeResultForEra(list, era, { isCacheable: true });
}
