import type { AdminLock } from '../../admin/contract/approval-contract.ts';
import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';
import { errorTable } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { sanitize, toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import { formatChanges } from './approvals/format-changes.ts';

interface LockOptions extends GlobalOptions {
  readonly check?: boolean;
}

/** The exit code of `--check` if the lockfile is missing or differs. */
const DIFFERS: ExitCode = 6;

/** Writes the definitions that all servers offer to the lockfile. With `--check`, only compares them with the file. If the definitions of a server cannot be fetched, the command continues. */
export function runLock(options: LockOptions, context: CliContext): Promise<ExitCode> {
  return withGateway(options, context, async (gateway) => {
    const { out } = context;
    const isCheck = options.check === true;
    const found = await out.withProgress('Fetching the tools of all servers', () =>
      gateway.client.request('GET /api/lock', {}, gateway),
    );
    const { file, exists, text, entries, differences, missing } = found;
    const isSame = exists && differences.length === 0;
    // The lockfile is readable by everyone, because it is meant to be committed.
    if (!isCheck && !isSame) await writeFileAtomic(file, text, 0o644);
    if (out.style.format === 'json')
      out.json({
        file,
        entries,
        differences,
        missing,
        [isCheck ? 'same' : 'written']: isCheck ? isSame : !isSame,
      });
    else {
      if (exists) printDifferences(found, context);
      out.line(formatResult(found, { isCheck, isSame }));
    }
    for (const { message } of missing) out.note(`Not compared: ${message}`);
    if (isCheck && !isSame) return DIFFERS;
    // The check is incomplete if the definitions of a server could not be fetched.
    return isCheck && missing.length > 0 ? errorTable.UPSTREAM_UNAVAILABLE.exit : 0;
  });
}

function formatResult(
  { file, exists, entries, differences }: AdminLock,
  { isCheck, isSame }: { readonly isCheck: boolean; readonly isSame: boolean },
): string {
  const where = sanitize(file);
  if (isSame) return `${where} matches what the servers offer (${entries} entries).`;
  if (!isCheck)
    return `Wrote ${entries} entries to ${where}. Review the file and commit it with the configuration.`;
  return exists
    ? `${where} differs from what the servers offer in ${differences.length} entries.`
    : `${where} does not exist. Create it with: trunkline lock`;
}

function printDifferences({ differences }: AdminLock, { out }: CliContext): void {
  for (const { server, kind, name, difference, changes } of differences) {
    const what = kind === 'words' ? 'title, description and instructions' : `${kind} ${toOneLine(name)}`;
    out.line(`${out.paint.bold(`${toOneLine(server)}: ${what}`)}  ${out.paint.yellow(difference)}`);
    for (const line of formatChanges(changes, out.paint).lines) out.line(`  ${line}`);
  }
}
