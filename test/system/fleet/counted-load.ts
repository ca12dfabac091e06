import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { RpcError } from '../../support/raw-messages.ts';

/** One call and its outcome. Its text is unique, so the log of the server shows how often it was executed. */
export interface CountedCall {
  readonly text: string;
  readonly server: string;
  /** The phases in which the call started and ended. */
  readonly during: readonly [string, string];
  /** Why the call failed; undefined if the response was its own text. */
  readonly failure: string | undefined;
  /** Whether a server answered the call, with any text. */
  readonly isAnswered: boolean;
}

export interface CountedLoad {
  /** The current phase, for example the name of a fault. */
  phase: string;
  readonly calls: readonly CountedCall[];
  /** Starts no more calls, and resolves when the running ones have ended. */
  end(): Promise<void>;
}

const SLOW_MS = 300;
/** Longer than every timeout of the gateway that a fault can cause, so no response is missed. */
const WITHIN_MS = 45_000;
/** Pause after a failed call, because real clients do not repeat at once either. */
const PAUSE_MS = 25;

/** Lets each client call each server, one call after the other. Every fifth call is slow, and no call is repeated. */
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
          const code = gatewayErrorCode(result);
          const answer = textOfResult(result);
          const failure =
            code === undefined ? `answered with: ${answer}` : `${JSON.stringify(code)}: ${answer}`;
          return { failure: answer === text ? undefined : failure, isAnswered: code === undefined };
        },
        (error: unknown) => ({ failure: reasonOf(error), isAnswered: false }),
      );
    calls.push({ text, server, during: [phase, load.phase], ...outcome });
    if (outcome.failure !== undefined) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
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
