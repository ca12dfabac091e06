import { said } from '../support/asking.ts';
import type { RawClient } from '../support/raw-client.ts';

export interface Load {
  /** How many calls were begun. */
  readonly calls: number;
  /** Lets what was begun finish, and gives what went wrong. */
  end(): Promise<readonly string[]>;
}

const SLOW_MS = 400;

/** Each client calls one tool after the other, every fifth a slow one, and compares what it said with what it hears. */
export function startLoad(clients: readonly RawClient[], prefix = 'plain__'): Load {
  const wrong: string[] = [];
  let [isOver, calls] = [false, 0];
  const loop = async (client: RawClient, who: number): Promise<void> => {
    for (let at = 0; !isOver; at++) {
      const text = `${client.era} ${who} ${at}`;
      calls++;
      const asked =
        at % 5 === 0
          ? client.callTool(`${prefix}slow`, { ms: SLOW_MS, text })
          : client.callTool(`${prefix}echo`, { text });
      const answer = await asked.then(said, String);
      if (answer !== text) wrong.push(`${text}: ${answer}`);
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
      return wrong;
    },
  };
}
