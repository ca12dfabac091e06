import { asProblem, Problem } from '../../api/problem.ts';
import { plural } from '../../lib/format.ts';
import type { Store } from '../../store/store.ts';
import { namedOf, type ReviewItem } from './review-item.ts';
import { titleOf } from './review-words.ts';

export type Decision = 'accept' | 'refuse';

/** Decides about what was shown, and nothing else; false when nothing was decided. */
export async function decide(item: ReviewItem, decision: Decision, store: Store): Promise<boolean> {
  return item.kind === 'call' ? decideCall(item, decision, store) : decideHeld([item], decision, store);
}

/** About all of them or none. */
export async function decideHeld(
  items: readonly Extract<ReviewItem, { kind: 'held' }>[],
  decision: Decision,
  { api, approvals, notices }: Store,
): Promise<boolean> {
  const found = items.reduce((sum, { held }) => sum + held.findings.length, 0);
  const [first] = items;
  const what =
    items.length === 1 && first !== undefined
      ? titleOf(first.held)
      : plural(items.length, 'entry', 'entries');
  if (decision === 'accept' && (found > 0 || items.length > 1)) {
    const agrees = await notices.confirm({
      title: `Approve ${what}?`,
      text:
        found > 0
          ? `The scanner found ${plural(found, 'passage')} that may mislead a model. Models will read every word of it.`
          : 'All of them are approved as they are offered now, also those that you have not opened.',
      action: 'Approve',
      isDangerous: found > 0,
    });
    if (!agrees) return false;
  }
  try {
    const answer = await api.ask('POST /api/approvals', {
      decision,
      items: items.map(({ held }) => namedOf(held)),
    });
    approvals.put(() => answer);
    notices.say(saidOf(what, decision, first?.held.kind === 'server'));
    return true;
  } catch (error) {
    // What waits now is shown before anybody decides again.
    await approvals.load();
    const problem = asProblem(error);
    if (problem.code !== 'REVISION_CONFLICT') throw error;
    throw new Problem({
      code: problem.code,
      message: `${what} is not what you looked at any more; nothing was ${decision === 'accept' ? 'approved' : 'refused'}.`,
      advice: 'Look at what is offered now, then decide.',
      cause: error,
    });
  }
}

function saidOf(what: string, decision: Decision, isServer: boolean): string {
  if (decision === 'refuse') return `${what} refused.`;
  return isServer
    ? `${what} approved. It is started now; what it offers is looked at next.`
    : `${what} approved.`;
}

async function decideCall(
  { call }: Extract<ReviewItem, { kind: 'call' }>,
  decision: Decision,
  { api, approvals, notices }: Store,
): Promise<boolean> {
  try {
    await api.ask('POST /api/approve', { call: call.id, decision });
    notices.say(decision === 'accept' ? `${call.name} may go on.` : `${call.name} was refused.`);
    return true;
  } catch (error) {
    if (asProblem(error).code !== 'ENTRY_NOT_FOUND') throw error;
    throw new Problem({
      code: 'ENTRY_NOT_FOUND',
      message: 'The call does not wait any more; nothing was decided.',
      advice: 'Its time was over, or somebody else has decided.',
      cause: error,
    });
  } finally {
    await approvals.load();
  }
}
