import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { isTerminal } from './set-up/ask.ts';
import { configChange } from './set-up/config-change.ts';
import { serverVerbs, tellApplied } from './set-up/server-verbs.ts';

export async function remove(
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const change = await configChange(options.config, context);
  const verbs = await serverVerbs(change, { context, isPerson: isTerminal(context) });
  const { applied } = await verbs.remove(name);
  if (out.style.format === 'json') out.json({ removed: name, config: change.file });
  else out.line(`Removed ${name} from ${change.file}`);
  tellApplied(applied, context);
  return 0;
}
