/**
 * Returns a signal that aborts with a `TimeoutError` after `ms`, or when the other signal aborts. It replaces
 * `AbortSignal.any([signal, AbortSignal.timeout(ms)])`: Node 20 garbage-collects a timeout signal that only `any` refers to, and then it
 * never aborts. Disposing the result stops the timer.
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
