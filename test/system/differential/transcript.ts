import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject, RequestOptions } from '../../support/raw-messages.ts';
import { eventually } from '../../support/eventually.ts';

/** One thing that a client does. */
export interface Step {
  readonly title: string;
  act(client: RawClient): Promise<unknown>;
  /** Messages that come on their own in this step; the answers to what was asked are counted by themselves. */
  readonly hears?: number;
}

/** What is in no list is refused at the path of a server before it gets there; the words are ours then. */
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

/** Does every step and notes what came; `normal` says what may differ, or undefined where a message does not count. */
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
    // What is missing afterwards is a difference, which the comparison shows better than an error here.
    await eventually(() => counted().length >= wanted, { what: title, withinMs: 20_000 }).catch(() => {});
    transcript[title] = counted();
    from = client.rawLines.length;
  }
  return transcript;
}

/** How many answers the action has brought; an error is an answer, too. */
async function answersOf(client: RawClient, act: Step['act']): Promise<number> {
  const isAnswer = (line: string): boolean => !('method' in (JSON.parse(line) as JsonObject));
  const before = client.rawLines.length;
  await act(client).catch(() => {});
  return client.rawLines.slice(before).filter(isAnswer).length;
}
