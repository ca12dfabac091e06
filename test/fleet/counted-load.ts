import { ownCode, said } from '../support/asking.ts';
import type { RawClient } from '../support/raw-client.ts';
import { RpcError } from '../support/raw-messages.ts';

/** One call and how it ended. Its text is in no other call, so that the log of the server tells how often it was executed. */
export interface CountedCall {
  readonly text: string;
  readonly server: string;
  /** What was going on when it was begun, and when it was over. */
  readonly during: readonly [string, string];
  /** Undefined when it was answered with its own text. */
  readonly wrong: string | undefined;
  /** Whether a server answered it, with whatever text. */
  readonly isAnswered: boolean;
}

export interface CountedLoad {
  /** What is going on from now on. */
  phase: string;
  readonly calls: readonly CountedCall[];
  /** Lets what was begun finish. */
  end(): Promise<void>;
}

const SLOW_MS = 300;
/** Longer than any time-out of the gateway that a fault could lead to, so that an answer is never too late to be seen. */
const WITHIN_MS = 45_000;
/** A client that is refused at once waits as people's clients do. */
const PAUSE_MS = 25;

/** Each client calls each server, one call after the other, every fifth a slow one. No call is ever repeated. */
export function startCountedLoad(clients: readonly RawClient[], servers: readonly string[]): CountedLoad {
  const calls: CountedCall[] = [];
  let isOver = false;
  const load = { phase: 'calm', calls, end };
  const call = async (client: RawClient, server: string, text: string, isSlow: boolean): Promise<void> => {
    const { phase } = load;
    const [tool, more] = isSlow ? ['slow', { ms: SLOW_MS }] : ['echo', {}];
    const outcome = await client
      .callTool(`${server}__${tool}`, { text, ...more }, { withinMs: WITHIN_MS })
      .then(
        (result) => {
          const code = ownCode(result);
          const answer = said(result);
          const wrong =
            code === undefined ? `answered with: ${answer}` : `${JSON.stringify(code)}: ${answer}`;
          return { wrong: answer === text ? undefined : wrong, isAnswered: code === undefined };
        },
        (error: unknown) => ({ wrong: reasonOf(error), isAnswered: false }),
      );
    calls.push({ text, server, during: [phase, load.phase], ...outcome });
    if (outcome.wrong !== undefined) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  };
  const loop = async (client: RawClient, who: number, server: string): Promise<void> => {
    for (let at = 0; !isOver; at++)
      await call(client, server, `${client.era} ${who} ${server} ${at}`, at % 5 === 4);
  };
  const running = Promise.all(
    clients.flatMap((client, who) => servers.map((server) => loop(client, who, server))),
  );
  async function end(): Promise<void> {
    isOver = true;
    await running;
  }
  return load;
}

function reasonOf(error: unknown): string {
  return error instanceof RpcError ? `HTTP ${error.status}: ${String(error)}` : String(error);
}
