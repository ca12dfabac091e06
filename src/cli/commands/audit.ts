import type { ExitCode } from '../../core/errors.ts';
import { GatewayError } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import { formatCount } from '../../core/lib/format-count.ts';

interface AuditOptions extends GlobalOptions {
  readonly expect?: string;
}

/** Verifies the hash chain of the audit log. A broken chain is an error. */
export function runAudit({ config, expect }: AuditOptions, context: CliContext): Promise<ExitCode> {
  return withGateway({ config }, context, async (gateway) => {
    const { out } = context;
    const verdict = await out.withProgress('Reading the audit log', () =>
      gateway.client.request('GET /api/audit/verify', expect === undefined ? {} : { expect }, gateway),
    );
    const { ok, checked, unchained, head, problem } = verdict;
    if (out.style.format === 'json') out.json(verdict);
    else if (ok) {
      out.line(`${out.paint.green('intact')}  ${formatCount(checked, 'chained record')}`);
      if (head !== undefined) out.line(`head    ${head}`);
      if (unchained > 0)
        out.note(
          `Not checked: ${formatCount(unchained, 'record')} without a hash, written while audit.chain was not set.`,
        );
    }
    if (ok) return 0;
    const at = problem?.seq === undefined ? '' : ` Record ${problem.seq}:`;
    const error = new GatewayError(
      'STORE_CORRUPT',
      `The audit log was changed after it was written.${at} ${problem?.message ?? ''}`,
      { details: { ...verdict } },
    );
    if (out.style.format !== 'json') out.problem(error);
    return error.traits.exit;
  });
}
