import { dial } from '../../attach/dial.ts';
import { readRecord } from '../../attach/gateway-record.ts';
import { isAlive } from '../../attach/is-alive.ts';
import { shownConfig } from '../../config/file/inline.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';

/** Longer than a gateway may take by its own settings to let calls finish. */
const WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 20;

/** Ends the gateway of this configuration, as a signal does: what was called is answered first. */
export async function stop(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const { file, stateDir } = await foundConfig(options.config, context, { isMade: false, isReached: true });
  const record = readRecord(stateDir);
  const reached =
    record === undefined ? undefined : await dial(record.socket, { stop: true }).catch(() => undefined);
  if (record === undefined || reached === undefined) {
    tell({ stopped: false, config: file }, `No gateway is running for ${shownConfig(file)}`);
    return 0;
  }
  {
    using _ = out.progress('Stopping the gateway');
    reached.socket.destroy();
    await gone(record.pid);
  }
  tell({ stopped: true, config: file, pid: record.pid }, `Stopped the gateway of ${shownConfig(file)}`);
  return 0;

  function tell(value: object, text: string): void {
    if (out.style.format === 'json') out.json(value);
    else out.line(text);
  }
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
