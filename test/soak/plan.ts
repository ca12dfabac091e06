import type { SoakOptions } from './options.ts';
import type { Random } from './random.ts';

/** The kinds of faults that a running gateway must survive; `faults/` implements each of them. */
export const faultKinds = [
  'kill',
  'hang',
  'slow',
  'garbage',
  'flood-stdout',
  'flood-stderr',
  'mute',
  'cut',
  'list-change',
  'config-change',
  'config-remove',
  'config-add',
  'config-broken',
  'tokens-invalid',
  'tokens-revoked',
  'disk-full',
  'clock-jump',
  'client-leaves',
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface PlannedFault {
  readonly kind: FaultKind;
  /** Time after the start of its round. */
  readonly atMs: number;
  readonly lastsMs: number;
  /** Selects the target of the fault. */
  readonly random: Random;
}

export interface Plan {
  readonly rounds: readonly (readonly PlannedFault[])[];
  /** How gateways are ended after the rounds, one after the other, under load. */
  readonly ends: readonly ('stop' | 'kill')[];
}

export const roundMs = 7000;
const faultsPerRound = 6;
/** Duration of a round with the quiet period after it, and of an end. */
const wholeRoundMs = 11_000;
const endMs = 8000;

/** Creates the plan. The same seed gives the same first rounds for every duration. */
export function planOf({ minutes }: SoakOptions, random: Random): Plan {
  const allMs = minutes * 60_000;
  const endCount = Math.max(2, Math.round((allMs * 0.2) / endMs));
  const roundCount = Math.max(3, Math.round((allMs * 0.8) / wholeRoundMs));
  const deck: FaultKind[] = [];
  const shuffles = random.fork('deck');
  const rounds = Array.from({ length: roundCount }, (_, at) => {
    const ofRound = random.fork(`round ${at}`);
    // Faults are dealt from a shuffled deck, so that even a short run has each of them.
    while (deck.length < faultsPerRound) deck.push(...shuffles.shuffled(faultKinds));
    return deck.splice(0, faultsPerRound).map((kind, number) => ({
      kind,
      atMs: ofRound.integer(100, roundMs - 1500),
      lastsMs: ofRound.integer(300, 3000),
      random: ofRound.fork(`fault ${number}`),
    }));
  });
  const ends = Array.from({ length: endCount }, (_, at) =>
    at % 2 === 0 ? ('kill' as const) : ('stop' as const),
  );
  return { rounds, ends };
}
