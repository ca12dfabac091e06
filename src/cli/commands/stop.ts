import { connectToGateway } from '../../app/shared-gateway/connect-to-gateway.ts';
import { listGatewayRecords } from '../../app/shared-gateway/gateway-record.ts';
import { isProcessAlive } from '../../core/lib/is-process-alive.ts';
import { formatConfigName } from '../../config/file/inline-config.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';
import type { ReachableGateway } from '../gateway-client/reachable-gateways.ts';
import { findReachableGateways, otherGatewaysToJson } from '../gateway-client/reachable-gateways.ts';

/** Longer than the longest shutdown time that the configuration allows. */
const STOP_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 20;

/** Stops the gateway of this configuration. As with SIGTERM, running calls are answered first. */
export async function runStop(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const { file, stateDir } = await locateConfig(options.config, context, {
    canCreate: false,
    isGatewayEnough: true,
  });
  const pid = await requestStop(stateDir);
  if (pid === undefined) {
    print({ stopped: false, config: file }, `No gateway is running for ${formatConfigName(file)}`);
    return 0;
  }
  {
    using _ = out.progress('Stopping the gateway');
    await waitForExit(pid);
  }
  const others = await findReachableGateways(stateDir);
  print(
    { stopped: true, config: file, pid, ...otherGatewaysToJson(others) },
    `Stopped the gateway of ${formatConfigName(file)}${formatStillRunning(others)}`,
  );
  return 0;

  function print(value: object, text: string): void {
    if (out.style.format === 'json') out.json(value);
    else out.prose(text);
  }
}

/** Returns the process id of the first gateway that accepts the request, or undefined if no gateway runs. */
export async function requestStop(stateDir: string): Promise<number | undefined> {
  for (const { socket, pid } of listGatewayRecords(stateDir)) {
    const connection = await connectToGateway(socket, { stop: true }).catch(() => undefined);
    if (connection === undefined) continue;
    connection.socket.destroy();
    return pid;
  }
  return undefined;
}

function formatStillRunning(others: readonly ReachableGateway[]): string {
  const pids = others.map(({ record }) => record.pid).join(', ');
  if (others.length === 0) return '';
  return others.length === 1
    ? `. Another gateway is still running: process ${pids}`
    : `. Other gateways are still running: processes ${pids}`;
}

/** Waits until a gateway that was asked to stop has exited. */
export async function waitForExit(pid: number): Promise<void> {
  for (const until = Date.now() + STOP_TIMEOUT_MS; Date.now() < until;) {
    if (!isProcessAlive(pid)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
  throw new GatewayError(
    'CALL_TIMEOUT',
    `The gateway (process ${pid}) is still running after ${STOP_TIMEOUT_MS / 1000} s. End it with: kill -9 ${pid}`,
  );
}
