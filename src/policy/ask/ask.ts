import { Cancellation, orCancelled } from '../../lib/cancellation.ts';
import type { ClientBehind } from '../../model/client-behind.ts';
import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { Ask } from '../permission.ts';
import { askedCall, nameOf, questionText } from './asked-call.ts';
import type { Answer, AskedCall, WaitingCalls } from './waiting-calls.ts';

interface AskOptions {
  readonly waiting: WaitingCalls;
  readonly by: readonly ('person' | 'client')[];
  readonly waitMs: number;
  /** Whether a person can reach this process. */
  readonly isReachable: boolean;
  /** Of the rules. */
  readonly policy: string;
}

/** Lets a call wait for a person, here or behind the client; resolves when it may go on, and fails when it may not. */
export function ask({ waiting, by, waitMs, isReachable, policy }: AskOptions): Ask {
  return async (call, decision) => {
    const asked = askedCall(call, { policy, ...decision });
    if (asked === undefined) return;
    const client = by.includes('client') && canAnswer(call.behind) ? call.behind : undefined;
    const isPersonAsked = by.includes('person') && isReachable;
    if (client === undefined && !isPersonAsked) throw notApproved(asked, 'nobody');
    const ended = new Cancellation();
    const person = isPersonAsked ? waiting.wait(asked, waitMs, ended) : undefined;
    if (isPersonAsked && person === undefined) throw notApproved(asked, 'too-many');
    const isOver = (): void => ended.cancel(call.cancellation.reason ?? new Error('The call is over.'));
    call.cancellation.onCancel(isOver);
    // A person's thinking is not the server's slowness.
    if (isPersonAsked) call.behind?.limit?.asking(true);
    try {
      const answers = [
        ...(person === undefined ? [] : [person.answer]),
        ...(client === undefined ? [] : [elicited(client, asked, { waitMs, cancellation: ended })]),
      ];
      const answer = await orCancelled(Promise.race(answers), call.cancellation);
      if (answer !== 'approved') throw notApproved(asked, answer);
    } finally {
      call.cancellation.offCancel(isOver);
      // Who has gone away may come back for the answer; who has one needs no other.
      if (call.cancellation.reason === undefined) person?.withdraw();
      ended.cancel(new Error('Somebody has answered.'));
      if (isPersonAsked) call.behind?.limit?.asking(false);
    }
  };
}

function canAnswer(behind: ClientBehind | undefined): boolean {
  const able = behind?.capabilities['elicitation'];
  // Without further words forms are meant.
  return isJsonObject(able) && (Object.keys(able).length === 0 || 'form' in able);
}

async function elicited(
  client: ClientBehind,
  asked: AskedCall,
  { waitMs, cancellation }: { readonly waitMs: number; readonly cancellation: Cancellation },
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Answer>((resolve) => (timer = setTimeout(() => resolve('late'), waitMs).unref()));
  const params = { message: questionText(asked), requestedSchema: { type: 'object', properties: {} } };
  const answered = client
    .ask('elicitation/create', params, cancellation)
    .then(({ action }): Answer => (action === 'accept' ? 'approved' : 'refused'));
  try {
    return await Promise.race([answered, late]);
  } catch {
    return 'refused'; // A client that cannot ask its person has not asked.
  } finally {
    clearTimeout(timer);
  }
}

type Refusal = Exclude<Answer, 'approved'> | 'nobody' | 'too-many';

const SAID: Readonly<Record<Refusal, string>> = {
  refused: 'a person refused it',
  late: 'nobody answered in time',
  nobody: 'a person would have to agree, and nobody can be asked here',
  'too-many': 'too many calls wait for a person already',
};

function notApproved({ entry, rule, message }: AskedCall, reason: Refusal): GatewayError {
  const why = message === undefined ? '' : ` ${message}`;
  return new GatewayError(
    'NOT_APPROVED',
    `${nameOf(entry)} was not called: ${SAID[reason]} (rule "${rule}").${why}`,
    {
      details: { upstream: entry.upstream, reason, rule },
    },
  );
}
