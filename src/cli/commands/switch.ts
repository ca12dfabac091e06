import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { tellApplied, verbsOf } from './set-up/server-verbs.ts';

export function enable(
  options: GlobalOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  return switchServer(true, options, context, words);
}

export function disable(
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
  const { verbs, change } = await verbsOf(options.config, context);
  const { changed, applied } = await (isOn ? verbs.enable(name) : verbs.disable(name));
  const isChanged = changed.length > 0;
  const state = isOn ? 'enabled' : 'disabled';
  if (out.style.format === 'json') out.json({ server: name, enabled: isOn, changed: isChanged });
  else out.line(isChanged ? `${name} is ${state} now` : `${name} is ${state} already`);
  tellApplied(applied, change, context);
  return 0;
}
