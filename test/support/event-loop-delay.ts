import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { cpuStopwatch } from './cpu-time.ts';

export interface EventLoopDelay extends AsyncDisposable {
  /** Ends the measurement and returns the longest delay. */
  longestMs(): Promise<number>;
}

/**
 * Polls `/healthz` of a gateway in a thread of its own, so that work of the test itself is not measured. A delay is the CPU time of the
 * gateway's main thread between a request and its response, because the time on the clock grows with the other load of the machine.
 * Where there is no `/proc`, it is the time on the clock. Resolves after the first response.
 */
export async function measureEventLoopDelay(gateway: {
  readonly url: string;
  readonly pid: number;
}): Promise<EventLoopDelay> {
  const { url, pid } = gateway;
  const poller = new Worker(POLLER, { eval: true, workerData: { url, pid } });
  await once(poller, 'message');
  return {
    longestMs: () =>
      new Promise((resolve) => {
        poller.once('message', resolve);
        poller.postMessage('stop');
      }),
    [Symbol.asyncDispose]: async () => void (await poller.terminate()),
  };
}

/** Returns the CPU time of a plain `JSON.parse` and `JSON.stringify`, which no gateway can avoid. */
export function jsonFloorMs(text: string): number {
  const cpuMs = cpuStopwatch();
  JSON.stringify(JSON.parse(text));
  return cpuMs();
}

const POLLER = `
  const { readFileSync } = require('node:fs');
  const { Agent, get } = require('node:http');
  const { parentPort, workerData: { url, pid } } = require('node:worker_threads');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statistics = \`/proc/\${pid}/task/\${pid}/schedstat\`;
  const now = () => {
    try {
      return Number(readFileSync(statistics, 'utf8').split(' ')[0]) / 1e6;
    } catch {
      return performance.now();
    }
  };
  let [longest, isStopped, isFirst] = [0, false, true];
  parentPort.on('message', () => (isStopped = true));
  const poll = () => {
    if (isStopped) return void (agent.destroy(), parentPort.postMessage(longest), parentPort.close());
    const start = now();
    const done = () => {
      if (isFirst) parentPort.postMessage('started');
      else longest = Math.max(longest, now() - start);
      isFirst = false;
      setTimeout(poll, 10);
    };
    get(new URL('/healthz', url), { agent }, (response) => response.resume().on('end', done)).on('error', done);
  };
  poll();
`;
