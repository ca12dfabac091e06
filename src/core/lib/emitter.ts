/** Emits events to its listeners synchronously. If a listener throws, `onError` gets the error and the other listeners are still called. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<{ readonly call: (payload: never) => void }>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  /** Registers a listener until the returned object is disposed. */
  on<K extends keyof Events>(event: K, listener: (payload: Events[K]) => void): Disposable {
    let registrations = this.#listeners.get(event);
    if (registrations === undefined) this.#listeners.set(event, (registrations = new Set()));
    // The wrapper makes each registration distinct, so that a function can be registered more than once.
    const registration = { call: listener };
    registrations.add(registration);
    return { [Symbol.dispose]: () => void registrations.delete(registration) };
  }

  emit<K extends keyof Events>(event: K, payload: Events[K]): void {
    const registrations = this.#listeners.get(event);
    if (registrations === undefined) return;
    for (const { call } of [...registrations]) {
      try {
        (call as (payload: Events[K]) => void)(payload);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
