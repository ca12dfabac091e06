import type { AdminConfigState } from '../../../../src/admin/contract/contract.ts';
import type { Need } from './needs.ts';

export type KnownConfig = Pick<AdminConfigState, 'problem' | 'needsRestart'>;

/** What is wrong in the configuration, each with its place: the file as a whole first, then what of it is not used. */
export function configNeeds(config: KnownConfig | undefined, warnings: readonly string[]): Need[] {
  return [...problemNeed(config), ...warnings.map(warningNeed)];
}

function warningNeed(warning: string): Need {
  const [, place = '', message = warning] = /^(.+?:\d+:\d+): (.*)$/s.exec(warning) ?? [];
  const [, server, why] = /^server "(.*?)" is left out: (.*)$/s.exec(message) ?? [];
  return {
    id: `warning ${warning}`,
    title:
      server === undefined
        ? 'Something in the configuration is not as it should be'
        : `${server} is left out because of a mistake in the configuration`,
    text: why === undefined ? warning : `${place}: ${why}`,
    kind: server === undefined ? 'warn' : 'bad',
    act: { do: 'copy', text: place === '' ? warning : place },
  };
}

function problemNeed(config: KnownConfig | undefined): Need[] {
  const problem = config?.problem;
  if (problem === undefined) return [];
  const { file, line, column, message } = problem;
  const place = [file, line, line === undefined ? undefined : column]
    .filter((part) => part !== undefined)
    .join(':');
  return [
    {
      id: 'config',
      title: 'The configuration has a mistake; what ran before still runs',
      text: message,
      kind: 'bad',
      act: { do: 'copy', text: place },
    },
  ];
}

export function restartNeeds(config: KnownConfig | undefined): Need[] {
  const keys = config?.needsRestart ?? [];
  if (keys.length === 0) return [];
  const title = 'Some settings take effect with the next start';
  const act = { do: 'copy', text: keys.join(', ') } as const;
  return [{ id: 'restart', title, text: keys.join(', '), kind: 'warn', act }];
}
