import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { Cancellation, rejectOnCancel } from '../../core/lib/cancellation.ts';
import type { RequestingClient } from '../../core/requesting-client.ts';
import type { ApproveCall } from '../guards/access-guards.ts';
import { createApprovalRequest, entryLabel, formatApprovalQuestion } from './call-approval-request.ts';
import type { CallApprovalRequest } from './call-approval-request.ts';
import type { CallDecision, HeldCalls } from './held-calls.ts';

interface CallApproverOptions {
  readonly heldCalls: HeldCalls;
  /** Who may decide: an operator of this gateway (`person`), the user of the calling client (`client`), or both. */
  readonly by: readonly ('person' | 'client')[];
  readonly waitMs: number;
  /** Whether an operator can reach this process, for example with `trunkline approvals`. */
  readonly isOperatorReachable: boolean;
  /** Digest of the policy. */
  readonly policy: string;
}

/** Returns a function that holds a call until an operator or the user of the client decides. The first answer counts. */
export function createCallApprover({
  heldCalls,
  by,
  waitMs,
  isOperatorReachable,
  policy,
}: CallApproverOptions): ApproveCall {
  return async (call, { rule, message }) => {
    const request = createApprovalRequest(call, { policy, rule, message });
    if (request === undefined) return;
    const { requestingClient } = call;
    const client = by.includes('client') && canElicit(requestingClient) ? requestingClient : undefined;
    const asksOperator = by.includes('person') && isOperatorReachable;
    if (client === undefined && !asksOperator) throw notApprovedError(request, 'nobody');
    const question = client === undefined ? undefined : formatApprovalQuestion(request);
    if (question?.isWhole === false && !asksOperator) throw notApprovedError(request, 'too-long');
    const ended = new Cancellation();
    const heldCall = asksOperator ? heldCalls.hold(request, waitMs, ended) : undefined;
    if (asksOperator && heldCall === undefined) throw notApprovedError(request, 'too-many');
    const onCancel = (): void => ended.cancel(call.cancellation.reason ?? new Error('The call has ended.'));
    call.cancellation.onCancel(onCancel);
    // The time that a person takes does not count towards the timeout of the call.
    if (asksOperator) requestingClient?.deadline?.setQuestionOpen(true);
    try {
      const answers = [
        ...(heldCall === undefined ? [] : [heldCall.answer]),
        ...(client === undefined || question === undefined
          ? []
          : [elicitDecision(client, question, waitMs, ended)]),
      ];
      const decision = await rejectOnCancel(Promise.race(answers), call.cancellation);
      if (decision !== 'approved') throw notApprovedError(request, decision);
    } finally {
      call.cancellation.offCancel(onCancel);
      // A cancelled call stays held, because the client may repeat it to receive the decision.
      if (call.cancellation.reason === undefined) heldCall?.withdraw();
      ended.cancel(new Error('The call has been decided.'));
      if (asksOperator) requestingClient?.deadline?.setQuestionOpen(false);
    }
  };
}

/** Whether the client supports form elicitation. An empty capability also means that it supports forms. */
function canElicit(client: RequestingClient | undefined): boolean {
  const elicitation = client?.capabilities['elicitation'];
  return isJsonObject(elicitation) && (Object.keys(elicitation).length === 0 || 'form' in elicitation);
}

async function elicitDecision(
  client: RequestingClient,
  { message, isWhole }: ReturnType<typeof formatApprovalQuestion>,
  waitMs: number,
  cancellation: Cancellation,
): Promise<CallDecision> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CallDecision>(
    (resolve) => (timer = setTimeout(() => resolve('late'), waitMs).unref()),
  );
  const params = { message, requestedSchema: { type: 'object', properties: {} } };
  const answered = client
    .ask('elicitation/create', params, cancellation)
    .then(({ action }): CallDecision | Promise<CallDecision> => {
      if (action !== 'accept') return 'refused';
      // The user has not seen all arguments, so accepting decides nothing. Until the timeout, only an operator can approve the call.
      return isWhole ? 'approved' : late;
    });
  try {
    return await Promise.race([answered, late]);
  } catch {
    return 'refused'; // The client failed to ask its user, so there is no approval.
  } finally {
    clearTimeout(timer);
  }
}

type Refusal = Exclude<CallDecision, 'approved'> | 'nobody' | 'too-many' | 'too-long';

const REFUSAL_TEXTS: Readonly<Record<Refusal, string>> = {
  refused: 'a person refused it',
  late: 'nobody answered in time',
  nobody: 'it needs the approval of a person, and nobody can be asked here',
  'too-many': 'too many calls are held for approval already',
  'too-long':
    'its arguments are too long to be shown whole to the user of the client, and no operator can be asked. Add "person" to policy.askBy, then approve it with trunkline approve, or send shorter arguments',
};

function notApprovedError({ entry, rule, message }: CallApprovalRequest, reason: Refusal): GatewayError {
  const explanation = message === undefined ? '' : ` ${message}`;
  return new GatewayError(
    'NOT_APPROVED',
    `${entryLabel(entry)} was not called: ${REFUSAL_TEXTS[reason]} (rule "${rule}").${explanation}`,
    { details: { upstream: entry.upstream, reason, rule } },
  );
}
