import type { ExitCode } from '../../model/errors.ts';
import { GatewayError } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { onLine } from '../line/on-line.ts';
import { counted } from './listing.ts';

interface AuditOptions extends GlobalOptions {
  readonly expect?: string;
}

/** Checks the chain of the record; a broken one is an error. */
export function audit({ config, expect }: AuditOptions, context: CliContext): Promise<ExitCode> {
  return onLine({ ...(config !== undefined && { config }) }, context, async (line) => {
    const { out } = context;
    const verdict = await out.during('Reading the record', () =>
      line.client.ask('GET /api/audit/verify', expect === undefined ? {} : { expect }, line),
    );
    const { ok, checked, unchained, head, problem } = verdict;
    if (out.style.format === 'json') out.json(verdict);
    else if (ok) {
      out.line(`${out.paint.green('whole')}  ${counted(checked, 'chained record')}`);
      if (head !== undefined) out.line(`head   ${head}`);
      if (unchained > 0)
        out.note(
          `${counted(unchained, 'record')} without a hash: audit.chain was not set when they were made.`,
        );
    }
    if (ok) return 0;
    const at = problem?.seq === undefined ? '' : ` Record ${problem.seq}:`;
    const error = new GatewayError(
      'STORE_CORRUPT',
      `The record is not what was written.${at} ${problem?.message ?? ''}`,
      { details: { ...verdict } },
    );
    if (out.style.format !== 'json') out.problem(error);
    return error.traits.exit;
  });
}
