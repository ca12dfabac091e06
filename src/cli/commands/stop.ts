import { dial } from '../../attach/dial.ts';
import { readRecords } from '../../attach/gateway-record.ts';
import { isAlive } from '../../attach/is-alive.ts';
import { shownConfig } from '../../config/file/inline.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';
import type { ReachedGateway } from '../line/line-to-record.ts';
import { linesToGateways, othersShown } from '../line/lines-to-gateways.ts';

/** Longer than a gateway may take by its own settings to let calls finish. */
const WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 20;

/** Ends the gateway of this configuration, as a signal does: what was called is answered first. */
export async function stop(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const { file, stateDir } = await foundConfig(options.config, context, { isMade: false, isReached: true });
  const pid = await askedToStop(stateDir);
  if (pid === undefined) {
    tell({ stopped: false, config: file }, `No gateway is running for ${shownConfig(file)}`);
    return 0;
  }
  {
    using _ = out.progress('Stopping the gateway');
    await gone(pid);
  }
  const others = await linesToGateways(stateDir);
  tell(
    { stopped: true, config: file, pid, ...othersShown(others) },
    `Stopped the gateway of ${shownConfig(file)}${stillRunning(others)}`,
  );
  return 0;

  function tell(value: object, text: string): void {
    if (out.style.format === 'json') out.json(value);
    else out.prose(text);
  }
}

/** The process of the first gateway that took the request; undefined when there is none. */
async function askedToStop(stateDir: string): Promise<number | undefined> {
  for (const { socket, pid } of readRecords(stateDir)) {
    const reached = await dial(socket, { stop: true }).catch(() => undefined);
    if (reached === undefined) continue;
    reached.socket.destroy();
    return pid;
  }
  return undefined;
}

function stillRunning(others: readonly ReachedGateway[]): string {
  const pids = others.map(({ record }) => record.pid).join(', ');
  if (others.length === 0) return '';
  return others.length === 1
    ? `; another one, process ${pids}, runs still`
    : `; others, processes ${pids}, run still`;
}

async function gone(pid: number): Promise<void> {
  for (const until = Date.now() + WITHIN_MS; Date.now() < until;) {
    if (!isAlive(pid)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new GatewayError(
    'CALL_TIMEOUT',
    `The gateway, process ${pid}, has not ended after ${WITHIN_MS / 1000} s.`,
  );
}
