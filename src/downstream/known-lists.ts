import type { ChangedLists } from '../gateway/view.ts';

type Kind = Exclude<keyof ChangedLists, 'byRules'>;
/** One per list, equal while the client sees the same. */
interface Digests {
  readonly digests: Readonly<Record<Kind, string>>;
}

const LISTS: Readonly<Record<Kind, readonly string[]>> = {
  tools: ['tools/list'],
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
};
// The keys of the table are the kinds, by its type.
const KINDS = Object.keys(LISTS) as Kind[];

/** What a client has been told when it listed, so that a change it has seen is not announced to it afterwards. */
export class KnownLists {
  readonly #known = new Map<string, string>();
  #seen: Readonly<Record<Kind, string>> | undefined;
  readonly #isShared: boolean;

  /** Where others serve the same client as well, it may have listed there since. */
  constructor({ isShared = false }: { readonly isShared?: boolean } = {}) {
    this.#isShared = isShared;
  }

  /** What the caller may see as it comes: before it has listed anything, only a change of that is news. */
  met(view: Digests): void {
    this.#seen = view.digests;
  }

  listed(method: string, view: Digests): void {
    const kind = KINDS.find((candidate) => LISTS[candidate].includes(method));
    if (kind !== undefined) this.#known.set(method, view.digests[kind]);
  }

  /** The client has just been told that its tools are others, so that nothing older needs to be announced. */
  toldOfTools(view: Digests): void {
    this.listed('tools/list', view);
  }

  /** The client may have listed something else since, elsewhere. */
  forget(): void {
    this.#known.clear();
    this.#seen = undefined;
  }

  /** The notifications that a change is worth to this client; `seen` is what its caller may see, however it is shown. */
  news(changed: ChangedLists, view: Digests, seen: Digests = view): readonly string[] {
    const before = this.#seen;
    this.#seen = seen.digests;
    const isElsewhere = (kind: Kind): boolean =>
      before?.[kind] === seen.digests[kind] && !(kind === 'tools' && changed.byRules === true);
    const news = KINDS.filter((kind) => changed[kind] && this.#isNews(kind, view, isElsewhere(kind)));
    // What it lists elsewhere is what it has been told of here.
    if (this.#isShared)
      for (const kind of news) for (const method of LISTS[kind]) this.#known.set(method, view.digests[kind]);
    return news.map((kind) => `notifications/${kind}/list_changed`);
  }

  #isNews(kind: Kind, view: Digests, isElsewhere: boolean): boolean {
    const known = LISTS[kind].flatMap((method) => this.#known.get(method) ?? []);
    return known.length === 0 ? !isElsewhere : known.some((digest) => digest !== view.digests[kind]);
  }
}
