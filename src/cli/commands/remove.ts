import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { describeStorage, noteApplied, openConfigAndChanges } from './setup/server-changes.ts';

export async function runRemove(
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const { changes, config } = await openConfigAndChanges(options.config, context);
  const { applied } = await changes.remove(name);
  const { place, ...storage } = describeStorage(config.file, applied);
  if (out.style.format === 'json') out.json({ removed: name, config: config.file, ...storage });
  else out.line(`Removed ${name} from ${place}`);
  noteApplied(applied, config, context);
  return 0;
}
