/** What one gateway has of a limit that all share, and what it could use. */
export interface Holder {
  readonly share: number;
  readonly wanted: number;
}

interface Allotment {
  readonly limit: number;
  /** `inUse` cannot be given away before it is over. */
  readonly own: Holder & { readonly inUse: number };
  /** In an order that is the same for everybody. */
  readonly others: readonly Holder[];
  /** How many of the others come before us in that order. */
  readonly position: number;
  /** Grows with time, so that what cannot be divided goes round. */
  readonly turn: number;
}

/**
 * The share that a gateway may have from now on. All shares together never exceed the limit, as long as they are decided one after the
 * other: it grows only into what nobody has.
 */
export function allot({ limit, own, others, position, turn }: Allotment): number {
  const wanted = others.map((other) => other.wanted).toSpliced(position, 0, own.wanted);
  const target = fairShares(limit, wanted, turn)[position] ?? 0;
  if (target <= own.share) return Math.max(target, Math.min(own.inUse, own.share));
  const free = limit - others.reduce((sum, { share }) => sum + share, 0);
  return Math.min(target, Math.max(own.share, free));
}

/** Who wants little gets that, the others the same; what is not wanted is divided, too, so that it is there at once. */
function fairShares(limit: number, wanted: readonly number[], turn: number): readonly number[] {
  const shares = wanted.map(() => 0);
  let left = limit;
  let open = [...wanted.keys()].filter((at) => (wanted[at] ?? 0) > 0);
  for (;;) {
    const level = Math.floor(left / open.length);
    const modest = open.filter((at) => (wanted[at] ?? 0) <= level);
    if (modest.length === 0) break;
    for (const at of modest) {
      shares[at] = wanted[at] ?? 0;
      left -= shares[at];
    }
    open = open.filter((at) => !modest.includes(at));
  }
  const last = open.length > 0 ? open : [...wanted.keys()];
  last.forEach((at, index) => {
    const isEarly = (index + turn) % last.length < left % last.length;
    shares[at] = (shares[at] ?? 0) + Math.floor(left / last.length) + (isEarly ? 1 : 0);
  });
  return shares;
}
