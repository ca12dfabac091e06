/** Synchronous events that carry values; a listener that throws cannot stop the others. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<{ readonly tell: (payload: never) => void }>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  on<K extends keyof Events>(event: K, listener: (payload: Events[K]) => void): Disposable {
    let set = this.#listeners.get(event);
    if (set === undefined) this.#listeners.set(event, (set = new Set()));
    const own = { tell: listener };
    set.add(own);
    return { [Symbol.dispose]: () => void set.delete(own) };
  }

  emit<K extends keyof Events>(event: K, payload: Events[K]): void {
    const set = this.#listeners.get(event);
    if (set === undefined) return;
    for (const { tell } of [...set]) {
      try {
        (tell as (payload: Events[K]) => void)(payload);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
