/**
 * Returns a signal that aborts with a `TimeoutError` after a time, or together with another signal. It replaces
 * `AbortSignal.any([signal, AbortSignal.timeout(ms)])`, because Node 20 collects a timeout to which only `any` refers, and then the timeout
 * never comes. Disposing of it stops the timer.
 */
export function startTimeout(
  ms: number,
  signal?: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')),
    ms,
  );
  return {
    signal: signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
