import type { AdminCall, AdminCallEvent, AdminProblem } from '../../../src/admin/contract/contract.ts';
import type { Api } from './api.ts';
import { eventsIn } from './events-in.ts';
import { Problem, problemFrom } from './problem.ts';

type Told = Exclude<AdminCallEvent, { readonly event: 'result' | 'error' }>;
type Result = Extract<AdminCallEvent, { readonly event: 'result' }>['data'];

/** The answer of a tool, and the very text that it came as: numbers of many digits are only right there. */
export interface Called {
  readonly result: Result;
  readonly text: string;
  readonly ms: number;
}

interface CallOptions {
  readonly signal: AbortSignal;
  /** Progress, messages and questions while it runs; a question is answered with `POST /api/answer`. */
  readonly onEvent?: (event: Told) => void;
}

/** Calls a tool and hears of its progress; giving up the signal cancels the call. */
export async function callTool(api: Api, call: AdminCall, options: CallOptions): Promise<Called> {
  const begun = performance.now();
  const headers = { accept: 'text/event-stream' };
  const response = await api.send('POST /api/call', call, { headers, signal: options.signal });
  if (response.body === null) throw new Problem({ message: 'The gateway gave no answer.' });
  for await (const { event, data } of eventsIn(response.body)) {
    const value: unknown = JSON.parse(data);
    // What each event carries is what the contract says.
    if (event === 'result') return { result: value as Result, text: data, ms: performance.now() - begun };
    if (event === 'error') throw problemFrom(response.status, value as AdminProblem);
    options.onEvent?.({ event, data: value } as Told);
  }
  throw new Problem({
    code: 'GATEWAY_LOST',
    message: 'The gateway ended before the call was answered.',
    advice: 'Whether the tool has done something is not known; look before you call it again.',
  });
}
