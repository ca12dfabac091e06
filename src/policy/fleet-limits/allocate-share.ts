/** The share of a limit that one gateway holds at present, and the share that it could use. */
interface ShareHolder {
  readonly share: number;
  readonly wanted: number;
}

interface Allocation {
  readonly limit: number;
  /** `inUse` is the part of the share that running calls occupy. It cannot be given away until they end. */
  readonly own: ShareHolder & { readonly inUse: number };
  /** The other gateways, in an order that is the same on all gateways. */
  readonly others: readonly ShareHolder[];
  /** Number of other gateways that precede this one in that order. */
  readonly position: number;
  /** Grows with time, so that an indivisible remainder rotates among the gateways. */
  readonly turn: number;
}

/**
 * Returns the share that a gateway may have from now on. Gateways must allocate one after the other. The sum of all shares then never
 * exceeds the limit, because a share grows only into capacity that no other gateway holds.
 */
export function allocateShare({ limit, own, others, position, turn }: Allocation): number {
  const wanted = others.map((other) => other.wanted).toSpliced(position, 0, own.wanted);
  const target = fairShares(limit, wanted, turn)[position] ?? 0;
  // A share shrinks to the fair share, but not below the part in use.
  if (target <= own.share) return Math.max(target, Math.min(own.inUse, own.share));
  const free = limit - others.reduce((sum, { share }) => sum + share, 0);
  return Math.min(target, Math.max(own.share, free));
}

/**
 * Divides the limit fairly: gateways that want little get what they want, and the others get equal shares. Capacity that no gateway
 * wants is divided as well, so that it is available at once when calls arrive.
 */
function fairShares(limit: number, wanted: readonly number[], turn: number): readonly number[] {
  const shares = wanted.map(() => 0);
  let left = limit;
  let unsatisfied = [...wanted.keys()].filter((index) => (wanted[index] ?? 0) > 0);
  for (;;) {
    // When no gateway is unsatisfied any more, the division by 0 does no harm: `modest` is empty, and the loop ends.
    const equalShare = Math.floor(left / unsatisfied.length);
    const modest = unsatisfied.filter((index) => (wanted[index] ?? 0) <= equalShare);
    if (modest.length === 0) break;
    for (const index of modest) {
      shares[index] = wanted[index] ?? 0;
      left -= shares[index];
    }
    unsatisfied = unsatisfied.filter((index) => !modest.includes(index));
  }
  // The rest is divided equally. If that leaves a remainder, `turn` selects the receivers that get one more.
  const receivers = unsatisfied.length > 0 ? unsatisfied : [...wanted.keys()];
  receivers.forEach((index, order) => {
    const getsRemainder = (order + turn) % receivers.length < left % receivers.length;
    shares[index] = (shares[index] ?? 0) + Math.floor(left / receivers.length) + (getsRemainder ? 1 : 0);
  });
  return shares;
}
