import { connectToGateway } from '../../app/shared-gateway/connect-to-gateway.ts';
import { findOrStartGateway } from '../../app/shared-gateway/find-or-start-gateway.ts';
import { findGatewayRecord } from '../../app/shared-gateway/gateway-record.ts';
import { formatConfigName } from '../../config/file/inline-config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { findReachableGateways } from '../gateway-client/reachable-gateways.ts';
import { locateConfig } from '../locate-config.ts';
import { createFindOrStartOptions } from './serve-through-shared-gateway.ts';
import { waitForExit } from './stop.ts';

/** Replaces the background gateway by one with the environment of this shell. Its clients continue with their next request. */
export async function restartGateway(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out, version } = context;
  const location = await locateConfig(options.config, context, { canCreate: false });
  const { file, text, stateDir } = location;
  const [running] = await findReachableGateways(stateDir);
  if (running === undefined) {
    if (out.style.format === 'json') out.json({ restarted: false, config: file });
    else out.prose(`No gateway is running for ${formatConfigName(file)}`);
    return 0;
  }
  const { kind, pid, socket } = running.record;
  if (kind === 'http')
    throw new GatewayError(
      'USAGE',
      `The gateway (process ${pid}) was started with serve --http. End it with trunkline stop, and start it again as before.`,
    );
  // A gateway is not stopped for a configuration with which no other one can start.
  await loadConfig({ file, text, version });
  const findOrStart = await createFindOrStartOptions(location, {}, context);
  {
    using _ = out.progress('Restarting the gateway');
    (await connectToGateway(socket, { stop: true })).socket.destroy();
    await waitForExit(pid);
    // A client may have started the next gateway first.
    const hello = { ...findOrStart.hello, replace: 'always' } as const;
    (await findOrStartGateway({ ...findOrStart, hello })).socket.destroy();
  }
  const record = findGatewayRecord(stateDir);
  if (out.style.format === 'json') out.json({ restarted: true, config: file, pid: record?.pid });
  else out.line(`Restarted the gateway of ${formatConfigName(file)} with the environment of this shell.`);
  return 0;
}
