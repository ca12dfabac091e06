import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { configChange, entryOf, tellRunning } from './set-up/config-change.ts';

export async function remove(
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const change = await configChange(options.config, context);
  entryOf(change, name);
  await change.save([{ path: ['mcpServers', name], value: undefined }]);
  if (out.style.format === 'json') out.json({ removed: name, config: change.file });
  else out.line(`Removed ${name} from ${change.file}`);
  await tellRunning(change, context);
  return 0;
}
