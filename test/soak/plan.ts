import type { SoakOptions } from './options.ts';
import type { Random } from './random.ts';

/** Everything that can go wrong while the gateway goes on; `faults/` does each of them. */
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
  /** After the beginning of its round. */
  readonly atMs: number;
  readonly lastsMs: number;
  /** Picks among what the fault can be done to. */
  readonly luck: Random;
}

export interface Plan {
  readonly rounds: readonly (readonly PlannedFault[])[];
  /** How gateways end after the rounds, one after the other, under load. */
  readonly ends: readonly ('stop' | 'kill')[];
}

export const roundMs = 7000;
const faultsPerRound = 6;
/** What a round takes with the quiet after it, and what an end takes. */
const wholeRoundMs = 11_000;
const endMs = 8000;

/** The same seed has the same first rounds, however long it runs. */
export function planOf({ minutes }: SoakOptions, random: Random): Plan {
  const allMs = minutes * 60_000;
  const endCount = Math.max(2, Math.round((allMs * 0.2) / endMs));
  const roundCount = Math.max(3, Math.round((allMs * 0.8) / wholeRoundMs));
  const deck: FaultKind[] = [];
  const shuffles = random.fork('deck');
  const rounds = Array.from({ length: roundCount }, (_, at) => {
    const luck = random.fork(`round ${at}`);
    // Dealt from a deck, so that a short run has had each of them, too.
    while (deck.length < faultsPerRound) deck.push(...shuffles.shuffled(faultKinds));
    return deck.splice(0, faultsPerRound).map((kind, number) => ({
      kind,
      atMs: luck.integer(100, roundMs - 1500),
      lastsMs: luck.integer(300, 3000),
      luck: luck.fork(`fault ${number}`),
    }));
  });
  const ends = Array.from({ length: endCount }, (_, at) =>
    at % 2 === 0 ? ('kill' as const) : ('stop' as const),
  );
  return { rounds, ends };
}
