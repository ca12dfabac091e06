import { dirname, resolve } from 'node:path';
import { isTrusted, trustConfig } from '../../../../config/file/config-trust.ts';
import { resolveLocations } from '../../../../config/find-config.ts';
import { GatewayError } from '../../../../core/errors.ts';
import { quoteShellWord } from '../../../../core/lib/quote-shell-word.ts';
import type { CliContext } from '../../../context.ts';
import { openEditableConfig } from '../editable-config.ts';
import type { EditableConfig } from '../editable-config.ts';
import { isInteractive } from '../terminal-prompt.ts';
import type { AddOptions } from './add-flags.ts';

/** Opens the configuration that `--scope` or `--config` selects. */
export async function openScopedConfig(
  { scope, config: flag }: AddOptions,
  context: CliContext,
): Promise<EditableConfig> {
  if (scope === undefined) return openEditableConfig(flag, context);
  const fromVariable = context.env['TRUNKLINE_CONFIG'];
  if (flag !== undefined && flag !== fromVariable)
    throw new GatewayError(
      'USAGE',
      '--scope and --config both select the configuration. Remove one of them.',
    );
  if (scope === 'project') return openEditableConfig(resolve(context.cwd, 'trunkline.jsonc'), context);
  return openEditableConfig(flag ?? resolveLocations(context).configFile, context);
}

/** Reports what `--scope` meant. Trusts a project's configuration that a person at a terminal has just created. */
export async function finishScope(
  { scope }: AddOptions,
  { file, document }: EditableConfig,
  context: CliContext,
): Promise<void> {
  const { out } = context;
  if (scope === 'local')
    out.note(
      'Trunkline has no scope "local", so the server is in your own configuration, which applies in every folder. To limit it to this folder, use --scope project.',
    );
  if (scope !== 'project') return;
  const { stateDir } = resolveLocations(context);
  if (document.isNew && isInteractive(context)) await trustConfig(file, stateDir);
  if (await isTrusted(file, stateDir))
    out.note(
      `The server is available in ${dirname(file)} only. Others who use this folder must trust the file first: trunkline trust`,
    );
  else
    out.note(
      `${file} is not trusted, so it is not used yet. Read it, then run: trunkline trust ${quoteShellWord(file)}`,
    );
}
