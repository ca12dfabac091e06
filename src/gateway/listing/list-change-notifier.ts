import type { Catalog } from '../../catalog/catalog.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { diffLists } from '../catalog-view.ts';
import type { ChangedLists } from '../catalog-view.ts';

/** Delay of a notification in milliseconds. Changes within this time are reported together. */
const DELAY_MS = 50;
const POLICY_CHANGE: ChangedLists = { tools: true, prompts: true, resources: true, isPolicyChange: true };

/** Reports changed lists. Listings that arrive in quick succession, as at the start, cause one notification. */
export class ListChangeNotifier implements Disposable {
  readonly #catalog: Pick<Catalog, 'current'>;
  readonly #notify: (changed: ChangedLists) => void;
  #timer: NodeJS.Timeout | undefined;
  #isPolicyChange = false;

  constructor(catalog: Pick<Catalog, 'current'>, notify: (changed: ChangedLists) => void) {
    this.#catalog = catalog;
    this.#notify = notify;
  }

  /** Compares the catalog with `before` after `DELAY_MS`. If a comparison is already pending, its older `before` is used. */
  schedule(before: Snapshot): void {
    this.#timer ??= setTimeout(() => {
      const changed = this.#isPolicyChange ? POLICY_CHANGE : diffLists(before, this.#catalog.current);
      this.#timer = undefined;
      this.#isPolicyChange = false;
      if (changed.tools || changed.prompts || changed.resources) this.#notify(changed);
    }, DELAY_MS);
  }

  /** Reports all lists as changed, because each caller may see other entries than before. */
  policyChanged(): void {
    this.#isPolicyChange = true;
    this.schedule(this.#catalog.current);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
