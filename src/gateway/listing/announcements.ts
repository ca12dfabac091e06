import type { Catalog } from '../../catalog/catalog.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { changedLists } from '../view.ts';
import type { ChangedLists } from '../view.ts';

const AFTER_MS = 50;
const EVERY_LIST: ChangedLists = { tools: true, prompts: true, resources: true, byRules: true };

/** Tells of changes of the lists; servers that are listed one after the other, as at a start, are one change for clients. */
export class Announcements implements Disposable {
  readonly #catalog: Pick<Catalog, 'current'>;
  readonly #tell: (changed: ChangedLists) => void;
  #timer: NodeJS.Timeout | undefined;
  #isByRules = false;

  constructor(catalog: Pick<Catalog, 'current'>, tell: (changed: ChangedLists) => void) {
    this.#catalog = catalog;
    this.#tell = tell;
  }

  /** The catalog was this before. */
  soon(before: Snapshot): void {
    this.#timer ??= setTimeout(() => {
      const isByRules = this.#isByRules;
      this.#timer = undefined;
      this.#isByRules = false;
      const changed = isByRules ? EVERY_LIST : changedLists(before, this.#catalog.current);
      if (changed.tools || changed.prompts || changed.resources) this.#tell(changed);
    }, AFTER_MS);
  }

  /** Callers may see other things than before, each other ones. */
  byRules(): void {
    this.#isByRules = true;
    this.soon(this.#catalog.current);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
