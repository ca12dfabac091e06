import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { configChange, entryOf, tellRunning } from './set-up/config-change.ts';

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
  const change = await configChange(options.config, context);
  const entry = entryOf(change, name);
  if (!isJsonObject(entry))
    throw new GatewayError('CONFIG_INVALID', `mcpServers.${name} in ${change.file} is not an object.`);
  const wasOn = (entry['enabled'] ?? entry['disabled'] !== true) === true;
  const path = ['mcpServers', name] as const;
  // Being used is the default, so nothing has to say it.
  if (wasOn !== isOn)
    await change.save([
      { path: [...path, 'disabled'], value: undefined },
      { path: [...path, 'enabled'], value: isOn ? undefined : false },
    ]);
  const state = isOn ? 'enabled' : 'disabled';
  if (out.style.format === 'json') out.json({ server: name, enabled: isOn, changed: wasOn !== isOn });
  else out.line(wasOn === isOn ? `${name} is ${state} already` : `${name} is ${state} now`);
  if (wasOn !== isOn) await tellRunning(change, context);
  return 0;
}
