import { sendRequest } from '../../support/http-requests.ts';
import type { RunningFleet } from './fleet.ts';

const CHECK_EVERY_MS = 50;

/** Excludes gateways from the balancer while their readiness check fails. */
export function startHealthChecks({ replicas, balancer }: RunningFleet): AsyncDisposable {
  let isOver = false;
  const check = async (at: number): Promise<void> => {
    const url = replicas[at]?.url ?? '';
    const isReady = await sendRequest(new URL('/readyz', url)).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isReady && replicas[at]?.url === url) balancer.excluded.delete(at);
    else balancer.excluded.add(at);
  };
  const loop = async (): Promise<void> => {
    while (!isOver) {
      await Promise.all(replicas.map((_, at) => check(at)));
      await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
    }
  };
  const running = loop();
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await running;
    },
  };
}
