import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { sanitize, toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';

interface CheckOptions extends GlobalOptions {
  readonly as: string;
  readonly profile?: string;
  readonly group?: readonly string[];
  readonly role?: readonly string[];
  readonly tier?: 'read' | 'write' | 'destructive';
}

/** The exit code if the policy hides the name from the caller. */
const HIDDEN: ExitCode = 6;

/** Prints which rule decides about a name for a caller. */
export function runPolicyCheck(
  { as, profile, group = [], role = [], tier, ...options }: CheckOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  return withGateway(options, context, async (gateway) => {
    const { out } = context;
    const found = await gateway.client.request(
      'GET /api/explain',
      {
        name,
        as,
        profile,
        groups: group.length > 0 ? group.join(',') : undefined,
        roles: role.length > 0 ? role.join(',') : undefined,
        tier,
      },
      gateway,
    );
    const { decision } = found;
    if (decision === undefined)
      throw new GatewayError('ENTRY_NOT_FOUND', found.reasons[0] ?? `No server offers "${name}".`, {
        details: { near: found.near },
      });
    if (out.style.format === 'json') out.json({ name, ...decision });
    else {
      const paint = { allow: out.paint.green, ask: out.paint.yellow, hide: out.paint.red }[decision.verdict];
      out.line(
        `${out.paint.bold(toOneLine(name))}  ${paint(decision.verdict)}  by ${toOneLine(decision.rule)}`,
      );
      if (decision.message !== undefined) out.line(`  ${sanitize(decision.message)}`);
      if (found.verdict === 'held') for (const reason of found.reasons) out.line(`  ${sanitize(reason)}`);
    }
    return decision.verdict === 'hide' ? HIDDEN : 0;
  });
}
