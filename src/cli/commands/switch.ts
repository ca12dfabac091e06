import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { noteApplied, openConfigAndChanges } from './setup/server-changes.ts';

export function runEnable(
  options: GlobalOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  return switchServer(true, options, context, words);
}

export function runDisable(
  options: GlobalOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  return switchServer(false, options, context, words);
}

async function switchServer(
  isOn: boolean,
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const { changes, config } = await openConfigAndChanges(options.config, context);
  const { changed, applied } = await (isOn ? changes.enable(name) : changes.disable(name));
  const isChanged = changed.length > 0;
  const state = isOn ? 'enabled' : 'disabled';
  if (out.style.format === 'json') out.json({ server: name, enabled: isOn, changed: isChanged });
  else out.line(isChanged ? `${name} is now ${state}` : `${name} is already ${state}`);
  noteApplied(applied, config, context);
  return 0;
}
