import type { CatalogView, ChangedLists } from '../../gateway/catalog-view.ts';

type ListKind = keyof CatalogView['digests'];
/** One digest per list, which stays the same while the client sees the same entries. */
interface Digests {
  readonly digests: Readonly<Record<ListKind, string>>;
}

const METHODS: Readonly<Record<ListKind, readonly string[]>> = {
  tools: ['tools/list'],
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
};
// The type of the table guarantees that its keys are the kinds.
const KINDS = Object.keys(METHODS) as ListKind[];

/** Tracks the lists that a client has received, to avoid announcing a change that the client has already seen. */
export class ReceivedLists {
  /** Digests of the lists that the client has received, by method. */
  readonly #received = new Map<string, string>();
  #visible: Readonly<Record<ListKind, string>> | undefined;
  readonly #hasOtherReplicas: boolean;
  #mayHaveListedBefore = true;

  /** `hasOtherReplicas` means that the client may also list at other replicas. */
  constructor({ hasOtherReplicas = false }: { readonly hasOtherReplicas?: boolean } = {}) {
    this.#hasOtherReplicas = hasOtherReplicas;
  }

  /**
   * Records what the caller may see at the start of its session. A new client needs no announcements before it has requested a list. A client
   * that may have requested one before, at another replica or before a restart, needs an announcement of every change from now on.
   */
  start(visible: Digests, { mayHaveListedBefore }: { readonly mayHaveListedBefore: boolean }): void {
    this.#visible = visible.digests;
    this.#mayHaveListedBefore = mayHaveListedBefore || this.#hasOtherReplicas;
  }

  recordListing(method: string, view: Digests): void {
    const kind = KINDS.find((candidate) => METHODS[candidate].includes(method));
    if (kind !== undefined) this.#received.set(method, view.digests[kind]);
  }

  /** Records that the client was just told to list its tools again. Earlier changes need no further announcement. */
  recordToolsAnnouncement(view: Digests): void {
    this.recordListing('tools/list', view);
  }

  /** Forgets everything, since the client may have received lists from another replica. */
  reset(): void {
    this.#received.clear();
    this.#visible = undefined;
    this.#mayHaveListedBefore = true;
  }

  /** Returns the notifications that this client needs. `view` is what the exposure shows; `visible` is all that the caller may see. */
  notificationsFor(changed: ChangedLists, view: Digests, visible: Digests = view): readonly string[] {
    const before = this.#visible;
    this.#visible = visible.digests;
    const isUnchanged = (kind: ListKind): boolean =>
      before?.[kind] === visible.digests[kind] && !(kind === 'tools' && changed.isPolicyChange === true);
    const announced = KINDS.filter((kind) => changed[kind] && this.#isNews(kind, view, isUnchanged(kind)));
    // The client may list at another replica, which this one does not notice, so an announced list counts as received.
    if (this.#hasOtherReplicas)
      for (const kind of announced)
        for (const method of METHODS[kind]) this.#received.set(method, view.digests[kind]);
    return announced.map((kind) => `notifications/${kind}/list_changed`);
  }

  /**
   * Returns whether the list differs from the one that the client has received. If the client has received none here but may have listed
   * elsewhere, a change of the entries that its caller may see counts instead.
   */
  #isNews(kind: ListKind, view: Digests, isUnchanged: boolean): boolean {
    const received = METHODS[kind].flatMap((method) => this.#received.get(method) ?? []);
    if (received.length === 0) return this.#mayHaveListedBefore && !isUnchanged;
    return received.some((digest) => digest !== view.digests[kind]);
  }
}
