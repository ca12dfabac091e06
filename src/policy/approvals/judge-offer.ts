import type { HeldReason } from '../../model/held.ts';
import type { Fingerprint } from '../../model/ids.ts';
import type { ApprovalKind, Subject } from './subject.ts';

export type Trust = 'first-sight' | 'manual' | 'scan';

/** What an offer is judged by. */
export interface Grounds {
  readonly trust: Trust;
  /** Nothing of the server was seen before, or its configuration was another one then. */
  readonly isFirstSight: boolean;
  readonly approved: (kind: ApprovalKind, name: string) => Fingerprint | undefined;
  readonly refused: (kind: ApprovalKind, name: string) => Fingerprint | undefined;
  /** With a lockfile, what it has is approved and nothing else is. */
  readonly locked?: ((kind: ApprovalKind, name: string) => Fingerprint | undefined) | undefined;
  /** Whether the scanner finds nothing; asked where `scan` is trusted only. */
  readonly isClean: (subject: Subject) => boolean;
}

export interface Verdict {
  readonly held: readonly { readonly subject: Subject; readonly reason: HeldReason }[];
  /** What is approved by this very look. */
  readonly taken: readonly Subject[];
}

/** Every part of an offer is approved, approved now, or held. */
export function judgeOffer(subjects: readonly Subject[], grounds: Grounds): Verdict {
  const held: { subject: Subject; reason: HeldReason }[] = [];
  const taken: Subject[] = [];
  for (const subject of subjects) {
    const reason = reasonToHold(subject, grounds);
    if (reason === undefined) continue;
    if (reason === 'take') taken.push(subject);
    else held.push({ subject, reason });
  }
  return { held, taken };
}

function reasonToHold(subject: Subject, grounds: Grounds): HeldReason | 'take' | undefined {
  const { kind, name, fingerprint } = subject;
  if (grounds.refused(kind, name) === fingerprint) return 'refused';
  if (grounds.locked !== undefined) {
    const locked = grounds.locked(kind, name);
    if (locked === fingerprint) return undefined;
    return locked === undefined ? 'new' : 'changed';
  }
  const approved = grounds.approved(kind, name);
  if (approved === fingerprint) return undefined;
  if (grounds.trust === 'scan') return grounds.isClean(subject) ? 'take' : 'suspicious';
  if (grounds.trust === 'first-sight' && grounds.isFirstSight) return 'take';
  return approved === undefined ? 'new' : 'changed';
}
