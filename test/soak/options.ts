import { parseArgs } from 'node:util';

export interface SoakOptions {
  readonly seed: number;
  readonly minutes: number;
}

export const usage = `npm run soak -- [--seed N] [--minutes M]

  --seed N      plays the plan of that seed; a new one each time without it
  --minutes M   how long, about; 2 without it, and hours are as welcome`;

/** What the command line says; throws an error that says what is wrong with it. */
export function readSoakOptions(argv: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: { seed: { type: 'string' }, minutes: { type: 'string' } },
    strict: true,
  });
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  const minutes = Number(values.minutes ?? 2);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed wants a whole number.');
  if (!(minutes > 0)) throw new Error('--minutes wants a number above 0.');
  return { seed, minutes };
}
