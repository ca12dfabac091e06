import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';

/** Makes the gateway refuse every call. If no gateway runs, the next one to start refuses calls. */
export function runPause(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return withGateway(
    options,
    context,
    async ({ client, signal, config }) => {
      const { pausedSince } = await client.request('POST /api/pause', {}, { signal });
      if (context.out.style.format === 'json') context.out.json({ paused: true, pausedSince, config });
      else
        context.out.line('Paused: calls are refused, listings still work. Continue with: trunkline resume');
      return 0;
    },
    { gateway: 'any' },
  );
}

export function runResume(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return withGateway(
    options,
    context,
    async ({ client, signal, config }) => {
      await client.request('POST /api/resume', {}, { signal });
      if (context.out.style.format === 'json') context.out.json({ paused: false, config });
      else context.out.line('Resumed: calls reach the servers again.');
      return 0;
    },
    { gateway: 'any' },
  );
}
