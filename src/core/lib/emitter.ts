/** Emits events to its listeners synchronously. If a listener throws, the others are still called. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<{ readonly call: (payload: never) => void }>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  on<K extends keyof Events>(event: K, listener: (payload: Events[K]) => void): Disposable {
    let set = this.#listeners.get(event);
    if (set === undefined) this.#listeners.set(event, (set = new Set()));
    const own = { call: listener };
    set.add(own);
    return { [Symbol.dispose]: () => void set.delete(own) };
  }

  emit<K extends keyof Events>(event: K, payload: Events[K]): void {
    const set = this.#listeners.get(event);
    if (set === undefined) return;
    for (const { call } of [...set]) {
      try {
        (call as (payload: Events[K]) => void)(payload);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
