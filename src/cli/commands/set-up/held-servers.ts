import type { AdminHeld } from '../../../admin/contract/approval-contract.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import { trustIn } from '../../../manage/entry-in.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';
import { inOneLine } from '../../harmless.ts';
import { openLine } from '../../line/line.ts';
import { configChange } from './config-change.ts';
import type { ConfigChange } from './config-change.ts';
import { serverVerbs } from './server-verbs.ts';

interface OfConfig {
  /** Of `--config`. */
  readonly config: string | undefined;
  readonly context: CliContext;
}

/** Which of these servers wait for a person, whole or in parts; nothing of them is started to find out. */
export async function heldServers(names: readonly string[], of: OfConfig): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const waiting = new Set((await heldNow(of)).map(({ server }) => server));
  return names.filter((name) => waiting.has(name));
}

async function heldNow({ config, context }: OfConfig): Promise<readonly AdminHeld[]> {
  try {
    await using line = await openLine(context, { config, reach: 'any' });
    const { held } = await line.client.ask('GET /api/approvals', {});
    return held.filter(({ reason }) => reason !== 'refused');
  } catch {
    return []; // What is wrong with the configuration or its gateway is told by what uses them.
  }
}

/** Those of them that were added without a person, as their entries say; only these are held as a whole. */
export function addedByOthers(
  names: readonly string[],
  { document }: Pick<ConfigChange, 'document'>,
): readonly string[] {
  return names.filter((name) => {
    const entry = document.servers.get(name);
    return isJsonObject(entry) && trustIn(entry) === 'manual';
  });
}

/**
 * A person has agreed to have these servers, which somebody else had added before: they are taken as if that person had added
 * them. Gives those that are held all the same.
 */
export async function takeHeld(names: readonly string[], of: OfConfig): Promise<readonly string[]> {
  for (const name of names) {
    // Read anew for each, since the one before has changed it.
    const change = await configChange(of.config, of.context);
    if (addedByOthers([name], change).length === 0) continue;
    const verbs = await serverVerbs(change, { context: of.context, isPerson: true });
    await verbs.update(name, { trust: null });
  }
  return heldServers(names, of);
}

/** Tells a person who may think that everything is ready what waits, of servers as a whole and of parts of others. */
export async function tellWaiting(of: OfConfig): Promise<void> {
  const { out } = of.context;
  const held = await heldNow(of);
  const whole = new Set(held.filter(({ kind }) => kind === 'server').map(({ server }) => server));
  const inParts = new Set(held.map(({ server }) => server).filter((server) => !whole.has(server)));
  const tell = (servers: ReadonlySet<string>, what: string, means: string): void => {
    if (servers.size === 0) return;
    const names = [...servers].map(inOneLine).join(', ');
    out.prose(`Waiting for your approval: ${what}${names}; ${means}: trunkline approvals`);
  };
  tell(whole, '', `nothing of ${whole.size === 1 ? 'it' : 'them'} can be called before`);
  tell(inParts, 'parts of ', 'these cannot be used before');
}

/** Says which servers wait, with the command that lets each of them go on. */
export function tellHeld(
  names: readonly string[],
  { out }: CliContext,
  why = `${names.join(', ')} ${names.length === 1 ? 'waits' : 'wait'} for a person.`,
): void {
  if (names.length === 0) return;
  out.note(`${why} To agree:`);
  for (const name of names) out.note(`  trunkline approvals accept ${shellWord(name)} --all`);
}
