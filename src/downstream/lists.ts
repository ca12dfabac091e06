import type { Exposure } from '../exposure/exposure.ts';
import type { View } from '../gateway/view.ts';
import { Payload } from '../lib/payload.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import { resultForEra } from './to-wire.ts';

const READERS: Readonly<Record<string, (view: View, exposure: Exposure) => JsonObject>> = {
  'tools/list': (view, exposure) => ({ tools: exposure.tools(view) }),
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

/** Lists are written once per view, exposure and era, and kept as long as the view. */
export class ListTexts {
  readonly #texts = new WeakMap<View, Map<string, Payload>>();

  isList(method: string): boolean {
    return Object.hasOwn(READERS, method);
  }

  get(method: string, view: View, exposure: Exposure, era: Era): Payload {
    let texts = this.#texts.get(view);
    if (texts === undefined) this.#texts.set(view, (texts = new Map<string, Payload>()));
    const key = `${method} ${exposure.kind} ${era}`;
    let payload = texts.get(key);
    if (payload === undefined) {
      const read = READERS[method];
      const list = Payload.of(read === undefined ? {} : read(view, exposure));
      payload = resultForEra(list, era, { isCacheable: true });
      texts.set(key, payload);
    }
    return payload;
  }
}
