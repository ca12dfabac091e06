import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { joinCommand } from '../../lib/command-line.ts';
import { formatRelative, pluralize } from '../../lib/format.ts';

/** Returns the command or URL of a server. */
export function describeTransport({ transport }: AdminServer): string {
  if (transport === undefined) return '';
  return transport.kind === 'http' ? transport.url : joinCommand([transport.command, ...transport.args]);
}

/** Describes the retries, for example `Tried 6 times, next in 42 s`. Returns an empty string if the gateway does not retry. */
export function describeRetry({ problem }: AdminServer, now: number): string {
  if (problem?.attempts === undefined) return '';
  const tried = `Tried ${pluralize(problem.attempts, 'time')}`;
  if (problem.retryAt === undefined) return tried;
  return problem.retryAt <= now
    ? `${tried}, retrying now`
    : `${tried}, next ${formatRelative(problem.retryAt, now)}`;
}

/** Returns the numbers of prompts and resources as text. Returns an empty string if there are none. */
export function describeOtherEntries({ prompts, resources }: AdminServer): string {
  return [prompts > 0 && pluralize(prompts, 'prompt'), resources > 0 && pluralize(resources, 'resource')]
    .filter((part) => part !== false)
    .join(', ');
}
