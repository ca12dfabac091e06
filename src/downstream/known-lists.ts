import type { ChangedLists, View } from '../gateway/view.ts';
import type { Fingerprint } from '../model/ids.ts';

type Kind = keyof ChangedLists;

const LISTS: Readonly<Record<Kind, readonly string[]>> = {
  tools: ['tools/list'],
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
};
// The keys of the table are the kinds, by its type.
const KINDS = Object.keys(LISTS) as Kind[];

/** What a client has been told when it listed, so that a change it has seen is not announced to it afterwards. */
export class KnownLists {
  readonly #known = new Map<string, Fingerprint>();

  listed(method: string, view: View): void {
    const kind = KINDS.find((candidate) => LISTS[candidate].includes(method));
    if (kind !== undefined) this.#known.set(method, view.digests[kind]);
  }

  /** The notifications that a change is worth to this client. */
  news(changed: ChangedLists, view: View): readonly string[] {
    return KINDS.filter((kind) => changed[kind] && this.#isNews(kind, view)).map(
      (kind) => `notifications/${kind}/list_changed`,
    );
  }

  #isNews(kind: Kind, view: View): boolean {
    const known = LISTS[kind].flatMap((method) => this.#known.get(method) ?? []);
    return known.length === 0 || known.some((digest) => digest !== view.digests[kind]);
  }
}
