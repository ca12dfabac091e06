import type { AdminLock } from '../../admin/contract/approval-contract.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { harmless, inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import { changeLines } from './approvals/change-lines.ts';

interface LockOptions extends GlobalOptions {
  readonly check?: boolean;
}

const DIFFERS: ExitCode = 6;

/** Writes down what all servers offer, for review; or only says whether that is what the file has. */
export function lock(options: LockOptions, context: CliContext): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const { out } = context;
    const isCheck = options.check === true;
    const found = await out.during('Listing all servers', () => line.client.ask('GET /api/lock', {}, line));
    const { file, exists, text, entries, differences } = found;
    const isSame = exists && differences.length === 0;
    // Readable by all who may read the configuration's folder: it is made to be committed.
    if (!isCheck && !isSame) await writeFileAtomic(file, text, 0o644);
    if (out.style.format === 'json')
      out.json({ file, entries, differences, [isCheck ? 'same' : 'written']: isCheck ? isSame : !isSame });
    else {
      if (exists) printDifferences(found, context);
      out.line(sentence(found, { isCheck, isSame }));
    }
    return isCheck && !isSame ? DIFFERS : 0;
  });
}

function sentence(
  { file, exists, entries, differences }: AdminLock,
  { isCheck, isSame }: { readonly isCheck: boolean; readonly isSame: boolean },
): string {
  const where = harmless(file);
  if (isSame) return `${where} has what the servers offer: ${entries} entries.`;
  if (!isCheck)
    return `Wrote ${entries} entries to ${where}. Review it, and commit it beside the configuration.`;
  return exists
    ? `${where} differs in ${differences.length} entries from what the servers offer.`
    : `There is no ${where}; trunkline lock writes it.`;
}

function printDifferences({ differences }: AdminLock, { out }: CliContext): void {
  for (const { server, kind, name, difference, changes } of differences) {
    const what = kind === 'words' ? 'what it says of itself' : `${kind} ${inOneLine(name)}`;
    out.line(`${out.paint.bold(`${inOneLine(server)}: ${what}`)}  ${out.paint.yellow(difference)}`);
    for (const each of changeLines(changes, out.paint)) out.line(`  ${each}`);
  }
}
