import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject, RequestOptions } from '../../support/raw-messages.ts';
import { eventually } from '../../support/eventually.ts';

/** One action of a client. */
export interface Step {
  readonly title: string;
  act(client: RawClient): Promise<unknown>;
  /** Number of messages in this step that are not answers to its requests. */
  readonly hears?: number;
}

/** The gateway itself rejects unlisted names at the path of a server, with its own message; this removes those messages. */
export function withoutUnlisted(transcript: Transcript): Transcript {
  const isUnlisted = (title: string): boolean =>
    /no-such-(tool|prompt)|ref\/prompt","name":"(none|nobody|greet)"/.test(title);
  const isPage = (title: string): boolean => /^(tools|prompts)\/list .*cursor/.test(title);
  const refused = (message: unknown): unknown => {
    const { error, result } = message as { error?: { message: string }; result?: { isError?: boolean } };
    return error !== undefined || result?.isError === true ? 'refused' : message;
  };
  const unknown = (message: unknown): unknown => {
    const { error } = message as { error?: { message: string } };
    return error?.message.startsWith('Unknown tool: ') === true ? 'refused' : message;
  };
  return Object.fromEntries(
    Object.entries(transcript)
      .filter(([title]) => !isPage(title))
      .map(([title, messages]) => [title, messages.map(isUnlisted(title) ? refused : unknown)]),
  );
}

/** What came during each step, message for message, ready to be compared. */
export type Transcript = Readonly<Record<string, readonly unknown[]>>;

export function requestStep(
  method: string,
  params: JsonObject = {},
  options: RequestOptions = {},
  hears = 0,
): Step {
  const title = `${method} ${JSON.stringify(params).slice(0, 120)}${options.meta === undefined ? '' : ' with meta'}`;
  return { title, hears, act: (client) => client.request(method, params, { withinMs: 20_000, ...options }) };
}

export function callStep(name: string, args: JsonObject = {}, options: RequestOptions = {}, hears = 0): Step {
  return requestStep('tools/call', { name, arguments: args }, options, hears);
}

/** Runs every step and records the messages. `normal` removes what may differ, and returns undefined for messages to ignore. */
export async function record(
  client: RawClient,
  steps: readonly Step[],
  normal: (message: JsonObject) => unknown,
): Promise<Transcript> {
  const transcript: Record<string, readonly unknown[]> = {};
  let from = client.rawLines.length;
  for (const { title, act, hears = 0 } of steps) {
    const counted = (): readonly unknown[] =>
      client.rawLines
        .slice(from)
        .map((line) => normal(JSON.parse(line) as JsonObject))
        .filter((message) => message !== undefined);
    const wanted = hears + (await answersOf(client, act));
    // The comparison reports missing messages better than an error here.
    await eventually(() => counted().length >= wanted, { what: title, withinMs: 20_000 }).catch(() => {});
    transcript[title] = counted();
    from = client.rawLines.length;
  }
  return transcript;
}

/** Returns the number of answers to the action, including errors. */
async function answersOf(client: RawClient, act: Step['act']): Promise<number> {
  const isAnswer = (line: string): boolean => !('method' in (JSON.parse(line) as JsonObject));
  const before = client.rawLines.length;
  await act(client).catch(() => {});
  return client.rawLines.slice(before).filter(isAnswer).length;
}
