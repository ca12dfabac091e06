import { Worker } from 'node:worker_threads';

export interface EventLoopDelay extends AsyncDisposable {
  /** Ends the measurement and returns the longest delay. */
  longestMs(): Promise<number>;
}

/**
 * Polls `/healthz` of a gateway from a separate thread, so that work of the test itself is not measured. A delay is the CPU time of the
 * gateway's main thread between a request and its response, because the wall-clock time depends on the load of the machine.
 * Without `/proc`, it is the wall-clock time.
 */
export function measureEventLoopDelay(gateway: {
  readonly url: string;
  readonly pid: number;
}): EventLoopDelay {
  const { url, pid } = gateway;
  const poller = new Worker(POLLER, { eval: true, workerData: { url, pid } });
  return {
    longestMs: () =>
      new Promise((resolve) => {
        poller.once('message', resolve);
        poller.postMessage('stop');
      }),
    [Symbol.asyncDispose]: async () => void (await poller.terminate()),
  };
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
  let [longest, isStopped] = [0, false];
  parentPort.on('message', () => (isStopped = true));
  const poll = () => {
    if (isStopped) return void (agent.destroy(), parentPort.postMessage(longest), parentPort.close());
    const start = now();
    const done = () => {
      longest = Math.max(longest, now() - start);
      setTimeout(poll, 10);
    };
    get(new URL('/healthz', url), { agent }, (response) => response.resume().on('end', done)).on('error', done);
  };
  poll();
`;
