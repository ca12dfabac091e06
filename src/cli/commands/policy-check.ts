import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { harmless, inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';

interface CheckOptions extends GlobalOptions {
  readonly as: string;
  readonly profile?: string;
  readonly group?: readonly string[];
  readonly role?: readonly string[];
  readonly tier?: 'read' | 'write' | 'destructive';
}

const HIDDEN: ExitCode = 6;

/** What the rules say about a name for a caller, and which of them. */
export function policyCheck(
  { as, profile, group = [], role = [], tier, ...options }: CheckOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const { out } = context;
    const found = await line.client.ask(
      'GET /api/explain',
      {
        ...{ name, as },
        ...(profile !== undefined && { profile }),
        ...(group.length > 0 && { groups: group.join(',') }),
        ...(role.length > 0 && { roles: role.join(',') }),
        ...(tier !== undefined && { tier }),
      },
      line,
    );
    const { decision } = found;
    if (decision === undefined)
      throw new GatewayError('ENTRY_NOT_FOUND', found.reasons[0] ?? `Nobody offers "${name}".`, {
        details: { near: found.near },
      });
    if (out.style.format === 'json') out.json({ name, ...decision });
    else {
      const paint = { allow: out.paint.green, ask: out.paint.yellow, hide: out.paint.red }[decision.verdict];
      out.line(
        `${out.paint.bold(inOneLine(name))}  ${paint(decision.verdict)}  by ${inOneLine(decision.rule)}`,
      );
      if (decision.message !== undefined) out.line(`  ${harmless(decision.message)}`);
      if (found.verdict === 'held') for (const reason of found.reasons) out.line(`  ${harmless(reason)}`);
    }
    return decision.verdict === 'hide' ? HIDDEN : 0;
  });
}
