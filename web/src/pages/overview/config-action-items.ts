import type { AdminConfigState } from '../../../../src/admin/contract/contract.ts';
import type { ActionItem } from './action-items.ts';

export type KnownConfig = Pick<AdminConfigState, 'problem' | 'needsRestart'>;

/** Lists the problems of the configuration with their positions: first the file as a whole, then its entries. */
export function listConfigItems(config: KnownConfig | undefined, warnings: readonly string[]): ActionItem[] {
  return [...listFileProblem(config), ...warnings.map(toWarningItem)];
}

function listFileProblem(config: KnownConfig | undefined): ActionItem[] {
  const problem = config?.problem;
  if (problem === undefined) return [];
  const { file, line, column, message } = problem;
  const position = [file, line, line === undefined ? undefined : column]
    .filter((part) => part !== undefined)
    .join(':');
  return [
    {
      id: 'config',
      title: 'The configuration file has an error; the previous configuration stays active',
      text: message,
      kind: 'bad',
      action: { kind: 'copy', text: position },
    },
  ];
}

/** Creates the item for a warning. The button copies the position with which the warning starts: `file:line:column`. */
function toWarningItem(warning: string): ActionItem {
  const [, position = warning] = /^(.+?:\d+:\d+): /.exec(warning) ?? [];
  return {
    id: `warning ${warning}`,
    title: 'An entry in the configuration file has a problem',
    text: warning,
    kind: 'warn',
    action: { kind: 'copy', text: position },
  };
}

export function listRestartItems(config: KnownConfig | undefined): ActionItem[] {
  const settings = (config?.needsRestart ?? []).join(', ');
  if (settings === '') return [];
  const title = 'Some settings take effect after a restart';
  const action = { kind: 'copy', text: settings } as const;
  return [{ id: 'restart', title, text: settings, kind: 'warn', action }];
}
