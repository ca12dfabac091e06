import { toProblem, Problem } from '../../api/problem.ts';
import { pluralize } from '../../lib/format.ts';
import type { Store } from '../../store/store.ts';
import { toReference, type ReviewItem } from './review-item.ts';
import { itemTitle } from './review-text.ts';

export type Decision = 'accept' | 'refuse';

/** Approves or refuses an item in the version that was shown. Returns false if the user did not confirm. */
export async function decide(item: ReviewItem, decision: Decision, store: Store): Promise<boolean> {
  return item.kind === 'call' ? decideCall(item, decision, store) : decideHeld([item], decision, store);
}

/** Approves or refuses all items, or none if one of them has changed. Returns false if the user did not confirm. */
export async function decideHeld(
  items: readonly Extract<ReviewItem, { kind: 'held' }>[],
  decision: Decision,
  store: Store,
): Promise<boolean> {
  const { api, approvals, notices } = store;
  const findings = items.reduce((sum, { held }) => sum + held.findings.length, 0);
  const [first] = items;
  const subject =
    items.length === 1 && first !== undefined
      ? itemTitle(first.held)
      : pluralize(items.length, 'entry', 'entries');
  const needsConfirmation = decision === 'accept' && (findings > 0 || items.length > 1);
  if (needsConfirmation && !(await confirmApproval(subject, findings, store))) return false;
  try {
    const response = await api.request('POST /api/approvals', {
      decision,
      items: items.map(({ held }) => toReference(held)),
    });
    approvals.update(() => response);
    notices.showMessage(describeDecision(subject, decision, first?.held.kind === 'server'));
    return true;
  } catch (error) {
    // Loads the current items, so that the user sees them before deciding again.
    await approvals.load();
    const { code } = toProblem(error);
    if (code !== 'REVISION_CONFLICT') throw error;
    throw new Problem({
      code,
      message: `${subject} changed after you opened it; nothing was ${decision === 'accept' ? 'approved' : 'refused'}.`,
      advice: 'Review the current version, then decide.',
      cause: error,
    });
  }
}

function confirmApproval(subject: string, findings: number, { notices }: Store): Promise<boolean> {
  return notices.confirm({
    title: `Approve ${subject}?`,
    text:
      findings > 0
        ? `The scanner found ${pluralize(findings, 'passage')} that may mislead a model. Models will read all of this text.`
        : 'All of them are approved as they are offered now, including those that you have not opened.',
    action: 'Approve',
    isDangerous: findings > 0,
  });
}

function describeDecision(subject: string, decision: Decision, isServer: boolean): string {
  if (decision === 'refuse') return `${subject} refused.`;
  return isServer
    ? `${subject} approved. It starts now, and its entries can be reviewed next.`
    : `${subject} approved.`;
}

async function decideCall(
  { call }: Extract<ReviewItem, { kind: 'call' }>,
  decision: Decision,
  { api, approvals, notices }: Store,
): Promise<boolean> {
  try {
    await api.request('POST /api/approve', { call: call.id, decision });
    notices.showMessage(`${call.name} ${decision === 'accept' ? 'approved' : 'refused'}.`);
    return true;
  } catch (error) {
    if (toProblem(error).code !== 'ENTRY_NOT_FOUND') throw error;
    throw new Problem({
      code: 'ENTRY_NOT_FOUND',
      message: 'The call is no longer held; nothing was decided.',
      advice: 'It expired, or someone else decided.',
      cause: error,
    });
  } finally {
    await approvals.load();
  }
}
