import { textOfResult } from '../../support/client-helpers.ts';
import type { RawClient } from '../../support/raw-client.ts';

export interface Load {
  /** The number of calls that were started. */
  readonly calls: number;
  /** Starts no more calls, waits for the running ones, and returns the failures. */
  end(): Promise<readonly string[]>;
}

const SLOW_MS = 400;

/** Lets each client call one tool after the other and compare the response with the text it sent. Every fifth call is slow. */
export function startLoad(clients: readonly RawClient[], prefix = 'plain__'): Load {
  const failures: string[] = [];
  let [isOver, calls] = [false, 0];
  const loop = async (client: RawClient, who: number): Promise<void> => {
    for (let at = 0; !isOver; at++) {
      const text = `${client.era} ${who} ${at}`;
      calls++;
      const call =
        at % 5 === 0
          ? client.callTool(`${prefix}slow`, { ms: SLOW_MS, text })
          : client.callTool(`${prefix}echo`, { text });
      const answer = await call.then(textOfResult, String);
      if (answer !== text) failures.push(`${text}: ${answer}`);
    }
  };
  const running = Promise.all(clients.map(loop));
  return {
    get calls() {
      return calls;
    },
    async end() {
      isOver = true;
      await running;
      return failures;
    },
  };
}
