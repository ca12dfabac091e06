import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { keptIn, tellApplied, verbsOf } from './set-up/server-verbs.ts';

export async function remove(
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const { verbs, change } = await verbsOf(options.config, context);
  const { applied } = await verbs.remove(name);
  const { place, ...kept } = keptIn(change.file, applied);
  if (out.style.format === 'json') out.json({ removed: name, config: change.file, ...kept });
  else out.line(`Removed ${name} from ${place}`);
  tellApplied(applied, change, context);
  return 0;
}
