import { createInterface } from 'node:readline';
import type { AdminHit } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import type { Work } from '../line/on-line.ts';
import { tellMissing } from './listing.ts';
import { tierPaint } from './tier.ts';

interface SearchOptions extends AdHocOptions {
  readonly limit?: number;
  readonly server?: string;
}

/** Tools by what they do; `-` answers one query after the other. */
export function search(
  options: SearchOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const query = words.join(' ').trim();
  if (query === '') throw new GatewayError('USAGE', 'Say what you look for: trunkline search send a message');
  return onLine(options, context, async (line) => {
    if (query === '-') return searchEach(line, options, context);
    const { out } = context;
    const hits = await out.during('Searching', () => find(line, query, options));
    await tellMissing(line, options, context);
    if (out.style.format === 'json') out.json(hits);
    else print(hits, context);
    return 0;
  });
}

async function searchEach(line: Work, options: SearchOptions, context: CliContext): Promise<ExitCode> {
  const { stdin, stdout, out } = context;
  const { signal } = line;
  let isFirst = true;
  // Ctrl-C also ends the wait for a line that nobody types.
  for await (const text of createInterface({ input: stdin, crlfDelay: Infinity, signal })) {
    // Whoever reads the answers may have had enough of them.
    if (signal.aborted || stdout.destroyed || stdout.errored !== null) break;
    const query = text.trim();
    // Also an empty one has its answer, so that the lines of both sides belong together.
    const hits = query === '' ? [] : await find(line, query, options);
    // Said once, for all that follow.
    if (isFirst && query !== '') await tellMissing(line, options, context);
    isFirst &&= query === '';
    out.line(JSON.stringify({ query, hits }));
  }
  signal.throwIfAborted();
  return 0;
}

async function find(line: Work, q: string, { limit, server }: SearchOptions): Promise<readonly AdminHit[]> {
  const hits = await line.client.ask(
    'GET /api/search',
    { q, ...(limit !== undefined && { limit }), ...(server !== undefined && { server }) },
    line,
  );
  return line.only === undefined ? hits : hits.map((hit) => ({ ...hit, name: hit.original }));
}

function print(hits: readonly AdminHit[], { out }: CliContext): void {
  if (hits.length === 0) out.line('Nothing found.');
  out.table(
    hits.map(({ name, tier, description, title }) => [
      { text: name, paint: out.paint.bold },
      { text: tier, paint: tierPaint(tier, out.paint) },
      inOneLine(description, title),
    ]),
    { isNamed: true },
  );
}
