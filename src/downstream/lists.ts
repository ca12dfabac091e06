import type { Exposure } from '../exposure/exposure.ts';
import type { View } from '../gateway/view.ts';
import { Payload } from '../lib/payload.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import { resultForEra } from './to-wire.ts';

type Reader = (view: View, exposure: Exposure, revealed: ReadonlySet<string>) => JsonObject;

const READERS: Readonly<Record<string, Reader>> = {
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

/** Lists, and how we introduce ourselves, are written once per view, exposure and era, and kept as long as the view. */
export class ListTexts {
  readonly #texts = new WeakMap<View, Map<string, Payload>>();

  isList(method: string): boolean {
    return Object.hasOwn(READERS, method);
  }

  get(method: string, view: View, exposure: Exposure, { era, revealed = NONE, meta }: ListOptions): Payload {
    // What is listed for one session only is not kept for all.
    if (revealed.size > 0 && method === 'tools/list') return write(method, view, exposure, { era, revealed });
    return this.#written(view, exposure, `${method} ${era}`, () =>
      kept(write(method, view, exposure, { era, meta })),
    );
  }

  /** `version` is what it is written for. */
  introduction(view: View, exposure: Exposure, version: string, write: () => Payload): Payload {
    return this.#written(view, exposure, `introduction ${version}`, write);
  }

  #written(view: View, exposure: Exposure, what: string, write: () => Payload): Payload {
    let texts = this.#texts.get(view);
    if (texts === undefined) this.#texts.set(view, (texts = new Map<string, Payload>()));
    const key = `${what} ${exposure.kind} ${exposure.client ?? ''}`;
    let payload = texts.get(key);
    if (payload === undefined) texts.set(key, (payload = write()));
    return payload;
  }
}

interface ListOptions {
  readonly era: Era;
  /** Names of tools that are listed for this session only. */
  readonly revealed?: ReadonlySet<string>;
  /** Of one server alone; the same for the whole view. */
  readonly meta?: JsonObject | undefined;
}

/** Short ones leave together with whatever else is written, which bytes do not. */
const LONG = 32 * 1024;

function kept(list: Payload): Payload {
  return list.text.length < LONG ? list : list.encoded();
}

const NONE: ReadonlySet<string> = new Set();

function write(
  method: string,
  view: View,
  exposure: Exposure,
  { era, revealed = NONE, meta }: ListOptions,
): Payload {
  const read = READERS[method];
  const entries = read === undefined ? {} : read(view, exposure, revealed);
  const list = Payload.of(meta === undefined ? entries : { ...entries, _meta: meta });
  return resultForEra(list, era, { isCacheable: true });
}
