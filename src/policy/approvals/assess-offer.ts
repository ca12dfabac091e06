import type { HeldReason } from '../../core/held.ts';
import type { Fingerprint } from '../../core/ids.ts';
import { isDecisionAbout } from './approval-subject.ts';
import type { ApprovalKind, ApprovalSubject } from './approval-subject.ts';

/**
 * The `trust` setting of a server. `first-sight` approves everything that a new server offers, `scan` approves everything without
 * findings, and `manual` approves nothing by itself.
 */
export type TrustMode = 'first-sight' | 'manual' | 'scan';

/** The criteria that decide which approval subjects of a server are held. */
export interface AssessmentCriteria {
  readonly trust: TrustMode;
  /** Whether the server was never seen with its present configuration. */
  readonly isFirstSight: boolean;
  readonly approved: (kind: ApprovalKind, name: string) => Fingerprint | undefined;
  readonly refused: (kind: ApprovalKind, name: string) => Fingerprint | undefined;
  /** Set if there is a lockfile; then only its entries are approved. */
  readonly locked?: ((kind: ApprovalKind, name: string) => Fingerprint | undefined) | undefined;
  /** Whether the scanner finds nothing suspicious; called only for the trust mode `scan`. */
  readonly isClean: (subject: ApprovalSubject) => boolean;
}

export interface OfferAssessment {
  readonly held: readonly { readonly subject: ApprovalSubject; readonly reason: HeldReason }[];
  /** The subjects that this assessment approves. */
  readonly newlyApproved: readonly ApprovalSubject[];
}

/** Divides the approval subjects of a server into those that are approved already, approved by this assessment, and held. */
export function assessOffer(
  subjects: readonly ApprovalSubject[],
  criteria: AssessmentCriteria,
): OfferAssessment {
  const held: { subject: ApprovalSubject; reason: HeldReason }[] = [];
  const newlyApproved: ApprovalSubject[] = [];
  for (const subject of subjects) {
    const outcome = assessSubject(subject, criteria);
    if (outcome === 'already-approved') continue;
    if (outcome === 'approve') newlyApproved.push(subject);
    else held.push({ subject, reason: outcome });
  }
  return { held, newlyApproved };
}

function assessSubject(
  subject: ApprovalSubject,
  criteria: AssessmentCriteria,
): HeldReason | 'approve' | 'already-approved' {
  const { kind, name } = subject;
  if (isDecisionAbout(subject, criteria.refused(kind, name))) return 'refused';
  if (criteria.locked !== undefined) {
    const locked = criteria.locked(kind, name);
    if (isDecisionAbout(subject, locked)) return 'already-approved';
    return locked === undefined ? 'new' : 'changed';
  }
  const approved = criteria.approved(kind, name);
  if (isDecisionAbout(subject, approved)) return 'already-approved';
  if (criteria.trust === 'scan') return criteria.isClean(subject) ? 'approve' : 'suspicious';
  if (criteria.trust === 'first-sight' && criteria.isFirstSight) return 'approve';
  return approved === undefined ? 'new' : 'changed';
}
