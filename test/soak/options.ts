import { parseArgs } from 'node:util';

export interface SoakOptions {
  readonly seed: number;
  readonly minutes: number;
}

export const usage = `npm run soak -- [--seed N] [--minutes M]

  --seed N      runs the plan of that seed (default: a random seed)
  --minutes M   approximate duration (default: 2); it can run for hours`;

/** Parses the command line; throws an error with a message for the user if it is invalid. */
export function readSoakOptions(argv: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: { seed: { type: 'string' }, minutes: { type: 'string' } },
    strict: true,
  });
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  const minutes = Number(values.minutes ?? 2);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed must be a whole number.');
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');
  return { seed, minutes };
}
