import { findSimilar } from '../../core/lib/find-similar.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { ApplyResult } from '../../setup/manage/change-results.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { describeStorage, noteApplied, openConfigAndChanges } from './setup/server-changes.ts';

/** Removes servers. If one of the names is unknown, none is removed. */
export async function runRemove(
  options: GlobalOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const names = [...new Set(words)];
  await assertServersExist(names, options, context);
  let applied: ApplyResult = { state: 'unchanged' };
  for (const name of names) {
    // The configuration is read again for each server, because the previous removal has changed it.
    const { changes, config } = await openConfigAndChanges(options.config, context);
    applied = (await changes.remove(name)).applied;
    const { place, ...storage } = describeStorage(config.file, applied);
    if (out.style.format === 'text') out.line(`Removed ${name} from ${place}`);
    else if (name === names.at(-1))
      out.json({ removed: names.length === 1 ? name : names, config: config.file, ...storage });
    if (name === names.at(-1)) noteApplied(applied, config, context);
  }
  return 0;
}

async function assertServersExist(
  names: readonly string[],
  { config: flag }: GlobalOptions,
  context: CliContext,
): Promise<void> {
  // A single removal reports an unknown name itself.
  if (names.length === 1) return;
  const { changes, config } = await openConfigAndChanges(flag, context);
  const known = [...new Set([...config.document.servers.keys(), ...(await changes.names())])];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const hints = unknown.map((name) => {
    const [similar] = findSimilar(name, known, 1);
    return `There is no server "${name.slice(0, 200)}".${similar === undefined ? '' : ` Did you mean ${similar}?`}`;
  });
  throw new GatewayError('ENTRY_NOT_FOUND', `${hints.join(' ')} Nothing was removed.`, {
    details: { kind: 'server', servers: unknown },
  });
}
