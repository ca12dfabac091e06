import type { Payload } from '../../lib/payload.ts';
import type { Told } from './caller-behind.ts';
import type { AdminCallEvent } from '../contract/contract.ts';
import type { OpenQuestions } from './open-questions.ts';
import { problemOf } from '../problem.ts';

/** Somebody waits for these. */
const KEPT: ReadonlySet<string> = new Set(['result', 'error', 'question']);

/** Runs a call and answers with what it tells, as server-sent events; cancelled when nobody reads them any more. */
export function callEvents(
  run: (told: Told) => Promise<Payload>,
  { signal, questions }: { readonly signal: AbortSignal; readonly questions: OpenQuestions | undefined },
): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, {
    highWaterMark: 64,
  });
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  let isOpen = true;
  const send = (event: AdminCallEvent['event'], data: string): void => {
    // What is told to nobody, or faster than it is read, is left out; the result is not.
    if (!isOpen || ((writer.desiredSize ?? 0) <= 0 && !KEPT.has(event))) return;
    writer.write(encoder.encode(`event: ${event}\ndata: ${data}\n\n`)).catch(() => (isOpen = false));
  };
  signal.addEventListener('abort', () => (isOpen = false), { once: true });
  const told: Told = {
    progress: (progress) => send('progress', JSON.stringify(progress)),
    log: (message) => send('log', JSON.stringify(message)),
    ...(questions !== undefined && {
      ask: (params, cancellation) =>
        questions.ask((id) => send('question', JSON.stringify({ id, params })), cancellation),
    }),
  };
  void run(told)
    .then((payload) => send('result', payload.text))
    .catch((error: unknown) => send('error', JSON.stringify(problemOf(error).problem)))
    .then(() => writer.close())
    .catch(() => {}); // Whoever asked has gone away.
  return new Response(readable, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}
