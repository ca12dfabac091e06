import { createInterface } from 'node:readline';
import type { AdminSearchHit } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import type { CommandConnection } from '../gateway-client/with-gateway.ts';
import { reportMissingServers } from './list-command.ts';
import { selectTierPaint } from './select-tier-paint.ts';

interface SearchOptions extends AdHocOptions {
  readonly limit?: number;
  readonly server?: string;
}

/** Finds tools by what they do. `-` reads one query per line from standard input. */
export function runSearch(
  options: SearchOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const query = words.join(' ').trim();
  if (query === '')
    throw new GatewayError(
      'USAGE',
      'Missing argument: query. Describe what the tool should do, for example: trunkline search send a message',
    );
  return withGateway(options, context, async (gateway) => {
    if (query === '-') return searchEach(gateway, options, context);
    const { out } = context;
    const hits = await out.withProgress('Searching', () => searchTools(gateway, query, options));
    await reportMissingServers(gateway, options, context);
    if (out.style.format === 'json') out.json(hits);
    else await out.paged(() => printHits(hits, context));
    return 0;
  });
}

async function searchEach(
  gateway: CommandConnection,
  options: SearchOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdin, stdout, out } = context;
  const { signal } = gateway;
  let isFirst = true;
  // Ctrl-C also ends the wait for the next line.
  for await (const text of createInterface({ input: stdin, crlfDelay: Infinity, signal })) {
    // The reader of the pipe may have closed it.
    if (signal.aborted || stdout.destroyed || stdout.errored !== null) break;
    const query = text.trim();
    // An empty query is answered, too, so that every input line has an output line.
    const hits = query === '' ? [] : await searchTools(gateway, query, options);
    // Missing servers are reported once, with the first query.
    if (isFirst && query !== '') await reportMissingServers(gateway, options, context);
    isFirst &&= query === '';
    out.jsonText(JSON.stringify({ query, hits }));
  }
  signal.throwIfAborted();
  return 0;
}

async function searchTools(
  gateway: CommandConnection,
  q: string,
  { limit, server }: SearchOptions,
): Promise<readonly AdminSearchHit[]> {
  const hits = await gateway.client.request('GET /api/search', { q, limit, server }, gateway);
  return gateway.onlyServer === undefined ? hits : hits.map((hit) => ({ ...hit, name: hit.original }));
}

function printHits(hits: readonly AdminSearchHit[], { out }: CliContext): void {
  if (hits.length === 0) out.line('No tools found.');
  out.table(
    hits.map(({ name, tier, description, title }) => [
      { text: name, paint: out.paint.bold },
      { text: tier, paint: selectTierPaint(tier, out.paint) },
      toOneLine(description, title),
    ]),
    { hasNameColumn: true },
  );
}
