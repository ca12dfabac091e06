import type { AdminCall, AdminCallEvent, AdminProblem } from '../../../src/admin/contract/contract.ts';
import type { Api } from './api.ts';
import { Problem, parseProblem } from './problem.ts';
import { readServerSentEvents } from './read-server-sent-events.ts';

type CallUpdate = Exclude<AdminCallEvent, { readonly event: 'result' | 'error' }>;
type Result = Extract<AdminCallEvent, { readonly event: 'result' }>['data'];

export interface ToolCallResult {
  readonly result: Result;
  /** The JSON text of the result as received. Parsing it would round numbers with many digits. */
  readonly text: string;
  readonly ms: number;
}

interface CallToolOptions {
  /** Cancels the call when it is aborted. */
  readonly signal: AbortSignal;
  /** Receives progress, log messages and questions; a question is answered with `POST /api/answer`. */
  readonly onEvent?: (event: CallUpdate) => void;
}

/** Calls a tool and reports its progress. */
export async function callTool(
  api: Api,
  call: AdminCall,
  { signal, onEvent }: CallToolOptions,
): Promise<ToolCallResult> {
  const startedAt = performance.now();
  const headers = { accept: 'text/event-stream' };
  const response = await api.send('POST /api/call', call, { headers, signal });
  if (response.body === null) throw new Problem({ message: 'The gateway sent an empty response.' });
  for await (const { event, data } of readServerSentEvents(response.body)) {
    const value: unknown = JSON.parse(data);
    // The contract defines the data of each event.
    if (event === 'result') return { result: value as Result, text: data, ms: performance.now() - startedAt };
    if (event === 'error') throw parseProblem(response.status, value as AdminProblem);
    onEvent?.({ event, data: value } as CallUpdate);
  }
  throw new Problem({
    code: 'GATEWAY_LOST',
    message: 'The gateway stopped before it returned the result.',
    advice: 'The tool may or may not have run. Check before you call it again.',
  });
}
