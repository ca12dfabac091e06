import type { AdminChange } from '../../../admin/contract/approval-contract.ts';
import { harmless, inOneLine } from '../../harmless.ts';
import type { CliContext } from '../../context.ts';

const SHOWN = 40;

/** A difference as people read it: the place, what was there, what is there now. */
export function changeLines(
  changes: readonly AdminChange[],
  { dim, green, red }: CliContext['out']['paint'],
): readonly string[] {
  const lines = changes
    .slice(0, SHOWN)
    .flatMap(({ where, before, after }) => [
      dim(inOneLine(where)),
      ...sided('-', before).map((line) => red(line)),
      ...sided('+', after).map((line) => green(line)),
    ]);
  const rest = changes.length - SHOWN;
  return rest > 0 ? [...lines, dim(`… and ${rest} more differences; --json has them all`)] : lines;
}

function sided(sign: string, text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  return harmless(text)
    .split('\n')
    .map((line) => `${sign} ${line}`);
}
