import type { Payload } from '../../../lib/payload.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { Work } from '../../line/on-line.ts';
import type { EntryNamed } from './entry-named.ts';
import { surplusWord } from './surplus-word.ts';

/** The tool that is meant, listed if need be. What cannot be found is explained by what keeps it away, if anything does. */
export async function foundTool(
  line: Work,
  named: EntryNamed['named'],
  /** Of arguments, for whoever gives a word that is none. */
  takes?: string,
): Promise<Payload> {
  try {
    return await line.client.pass('GET /api/describe', named, line);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'ENTRY_NOT_FOUND') throw error;
    throw (await surplusWord(line, named, error, takes)) ?? (await explained(line, named)) ?? error;
  }
}

async function explained(
  line: Work,
  { name, server }: EntryNamed['named'],
): Promise<GatewayError | undefined> {
  const servers = await line.client.ask('GET /api/servers', {}, line);
  const found = await line.client.ask('GET /api/explain', { name }, line);
  const where = servers.find((each) => each.name === (server ?? found.server));
  if (where?.problem !== undefined) {
    const { code, message } = where.problem;
    return new GatewayError(code, message, { details: { server: where.name } });
  }
  if (found.verdict !== 'hidden' && found.verdict !== 'disabled') return undefined;
  return new GatewayError(
    'ENTRY_NOT_FOUND',
    [`${name} is ${found.verdict}.`, ...found.reasons, ...mended(found.fixes)].join(' '),
    {
      details: { verdict: found.verdict },
    },
  );
}

function mended(fixes: readonly string[]): readonly string[] {
  return fixes.length === 0 ? [] : [`To mend it: ${fixes.join(', or: ')}`];
}
