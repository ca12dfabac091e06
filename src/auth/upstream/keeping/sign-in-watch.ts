import type { Logger } from '../../../observe/log.ts';
import { type Place, placeKey } from '../place.ts';
import type { TokenVault } from '../token-vault.ts';

interface WatchDeps {
  readonly vault: TokenVault;
  readonly place: Place;
  readonly log: Logger;
  /** Something was saved since the last look; true when it is what is waited for. */
  readonly onSaved: () => Promise<boolean>;
}

const LOOK_EVERY_MS = 500;

/** Looks for a sign-in while somebody waits for one: at once for those of this process, soon for those of others. */
export class SignInWatch implements Disposable {
  readonly #deps: WatchDeps;
  #timer: NodeJS.Timeout | undefined;
  #own: Disposable | undefined;
  #isOver = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#timer !== undefined || this.#isOver) return;
    const { vault, place, log } = this.#deps;
    let seen: number | undefined | 'nothing' = 'nothing';
    const look = async (): Promise<void> => {
      const at = (await vault.savedAt([place.upstream])).get(placeKey(place));
      if (at === seen || this.#isOver) return;
      seen = at;
      await this.#saved();
    };
    const safely = (work: () => Promise<void>): Promise<void> =>
      work().catch((error: unknown) => log.debug('Cannot look for sign-ins.', { reason: String(error) }));
    void safely(look);
    this.#timer = setInterval(() => void safely(look), LOOK_EVERY_MS).unref();
    this.#own = vault.onSaved(place, () => safely(() => this.#saved()));
  }

  async #saved(): Promise<void> {
    if (this.#isOver || !(await this.#deps.onSaved())) return;
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#own?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#stop();
  }
}
