import type { Payload } from '../../core/lib/payload.ts';
import { eventStreamResponse } from '../add-route.ts';
import { toAdminProblem } from '../admin-problem.ts';
import type { AdminCallEvent } from '../contract/contract.ts';
import type { CallCallbacks } from './admin-requesting-client.ts';
import type { OpenQuestions } from './open-questions.ts';

/** Events that are sent even if the reader is too slow. */
const REQUIRED_EVENTS: ReadonlySet<string> = new Set(['result', 'error', 'question']);

/** Runs a call and streams its events. Progress and log messages are dropped while the reader is too slow. */
export function streamCall(
  run: (callbacks: CallCallbacks) => Promise<Payload>,
  { signal, questions }: { readonly signal: AbortSignal; readonly questions: OpenQuestions | undefined },
): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, {
    highWaterMark: 64,
  });
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  let isOpen = true;
  const send = (event: AdminCallEvent['event'], data: string): void => {
    if (!isOpen || ((writer.desiredSize ?? 0) <= 0 && !REQUIRED_EVENTS.has(event))) return;
    writer.write(encoder.encode(`event: ${event}\ndata: ${data}\n\n`)).catch(() => (isOpen = false));
  };
  signal.addEventListener('abort', () => (isOpen = false), { once: true });
  const callbacks: CallCallbacks = {
    onProgress: (progress) => send('progress', JSON.stringify(progress)),
    onLog: (message) => send('log', JSON.stringify(message)),
    onQuestion:
      questions &&
      ((params, cancellation) =>
        questions.ask((id) => send('question', JSON.stringify({ id, params })), cancellation)),
  };
  void run(callbacks)
    .then((payload) => send('result', payload.text))
    .catch((error: unknown) => send('error', JSON.stringify(toAdminProblem(error).problem)))
    .then(() => writer.close())
    .catch(() => {}); // The client has disconnected.
  return eventStreamResponse(readable);
}
