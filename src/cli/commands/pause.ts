import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { onLine } from '../line/on-line.ts';

/** Lets the gateway refuse every call; without one that runs, the next one does. */
export function pause(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return onLine(
    options,
    context,
    async ({ client, signal, config }) => {
      const { pausedSince } = await client.ask('POST /api/pause', {}, { signal });
      if (context.out.style.format === 'json') context.out.json({ paused: true, pausedSince, config });
      else
        context.out.line('Paused: calls are refused until trunkline resume. Lists are answered as always.');
      return 0;
    },
    { reach: 'any' },
  );
}

export function resume(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return onLine(
    options,
    context,
    async ({ client, signal, config }) => {
      await client.ask('POST /api/resume', {}, { signal });
      if (context.out.style.format === 'json') context.out.json({ paused: false, config });
      else context.out.line('Resumed: calls reach the servers again.');
      return 0;
    },
    { reach: 'any' },
  );
}
