import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { joinCommand } from '../../lib/command-line.ts';
import { plural, relative } from '../../lib/format.ts';

/** What is run or reached, in one line. */
export function reachedAs({ transport }: AdminServer): string {
  if (transport === undefined) return '';
  return transport.kind === 'http' ? transport.url : joinCommand([transport.command, ...transport.args]);
}

/** `Tried 6 times, next in 42 s`; empty where nothing is tried by itself. */
export function retryWords({ problem }: AdminServer, now: number): string {
  if (problem?.attempts === undefined) return '';
  const tried = `Tried ${plural(problem.attempts, 'time')}`;
  if (problem.retryAt === undefined) return tried;
  return problem.retryAt <= now ? `${tried}, again now` : `${tried}, next ${relative(problem.retryAt, now)}`;
}

/** What it offers besides tools; empty where that is nothing. */
export function otherOffers({ prompts, resources }: AdminServer): string {
  return [prompts > 0 && plural(prompts, 'prompt'), resources > 0 && plural(resources, 'resource')]
    .filter((part) => part !== false)
    .join(', ');
}
