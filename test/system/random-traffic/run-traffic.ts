import { eventually } from '../../support/eventually.ts';
import { isJsonObject } from '../../../src/core/json.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import type { Sent } from './model.ts';
import type { Answer } from './requests.ts';
import type { ReceivedCall, TrafficTarget } from './traffic-target.ts';

const MODERN_MEMBERS = ['resultType', 'ttlMs', 'cacheScope'];
const HOP_KEY = /^io\.modelcontextprotocol\//;

/** Sends the whole plan and returns the differences from the expected outcome. */
export async function runTraffic(line: TrafficTarget, plan: readonly Sent[]): Promise<readonly string[]> {
  for (const [number, sent] of plan.entries()) {
    if (sent.cancels !== undefined && line.kinds[sent.client]?.startsWith('stdio') !== true) {
      // Messages of two connections have no order, and on a pipe a cancellation may overtake a call inside the gateway.
      await eventually(() => line.heard().some(({ tag }) => tag === sent.cancels), {
        what: 'A call to cancel',
      });
    }
    if (sent.hangsUp !== undefined) line.hangUp(sent.hangsUp);
    else line.send(number, sent);
  }
  let problems: readonly string[] = [];
  await eventually(
    () => {
      problems = problemsOf(line, plan);
      return problems.length === 0;
    },
    { withinMs: 3000, what: 'The traffic' },
  ).catch(() => {});
  if (problems.length > 0) return problems;
  // Any surplus message arrives before the answer to a request that is sent now.
  await barrier(line, plan.length);
  return problemsOf(line, plan);
}

async function barrier(line: TrafficTarget, from: number): Promise<void> {
  for (const [client, kind] of line.kinds.entries()) {
    const id = `"barrier-${client}"`;
    if (kind === 'http-modern') continue;
    const text = `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
    line.send(from + client, { client, text, headers: {}, answers: [], progress: [], calls: [] });
    await eventually(() => line.received(client).some((one) => one.includes(`"id":${id}`)), {
      what: 'A ping',
    });
  }
}

function problemsOf(line: TrafficTarget, plan: readonly Sent[]): readonly string[] {
  return [...line.kinds.keys()]
    .flatMap((client) => clientProblems(client, line, plan).map((problem) => `client ${client}: ${problem}`))
    .concat(serverProblems(line.heard(), plan));
}

function clientProblems(client: number, line: TrafficTarget, plan: readonly Sent[]): readonly string[] {
  const mine = plan.filter((sent) => sent.client === client);
  const received = line.received(client).filter((text) => !text.includes('barrier-'));
  const isAnswer = (text: string): boolean => !('method' in parsed(text));
  const answers = received.filter(isAnswer);
  const wanted = mine.flatMap((sent) => sent.answers);
  const problems: string[] = [];
  for (const { id, answer } of wanted) {
    const at = answers.findIndex((text) => idOf(text) === id && fits(parsed(text), answer));
    if (at >= 0) answers.splice(at, 1);
    else problems.push(`no answer to ${id} that fits ${JSON.stringify(answer)}`);
  }
  problems.push(...answers.map((text) => `nobody asked for ${text.slice(0, 300)}`));
  return [
    ...problems,
    ...notificationProblems(
      received.filter((text) => !isAnswer(text)),
      mine,
    ),
    ...orderProblems(received, mine),
  ];
}

function notificationProblems(texts: readonly string[], mine: readonly Sent[]): readonly string[] {
  const wanted = new Map<string, number>();
  for (const { token, steps } of mine.flatMap(({ progress }) => progress)) wanted.set(token, steps);
  const listens = new Set(mine.flatMap(({ listens: id }) => id ?? []));
  const problems: string[] = [];
  for (const text of texts) {
    // Servers are listed while clients connect, so list notifications may arrive at any time.
    if (/"method":"notifications\/[a-z]+\/list_changed"/.test(text)) continue;
    const { method, params } = parsed(text) as { method: string; params?: JsonObject };
    const token = JSON.stringify(params?.['progressToken']);
    const left = wanted.get(token) ?? 0;
    if (method === 'notifications/progress' && left > 0) wanted.set(token, left - 1);
    else if (method !== 'notifications/subscriptions/acknowledged') problems.push(`nobody wanted ${text}`);
    else if (![...listens].some((id) => listens.delete(id) && text.includes(id)))
      problems.push(`not listening: ${text}`);
  }
  for (const [token, left] of wanted) if (left > 0) problems.push(`${left} times no progress of ${token}`);
  for (const id of listens) problems.push(`${id} was not acknowledged`);
  return problems;
}

/** Progress must arrive before the answer. */
function orderProblems(received: readonly string[], mine: readonly Sent[]): readonly string[] {
  return mine.flatMap(({ progress, answers }) => {
    if (progress.length !== 1 || answers.length !== 1) return [];
    const answered = received.findIndex(
      (text) => idOf(text) === answers[0]?.id && !('method' in parsed(text)),
    );
    const last = received.findLastIndex((text) => text.includes(`"progressToken":${progress[0]?.token}`));
    return answered >= 0 && last > answered
      ? [`progress of ${progress[0]?.token} came after its answer`]
      : [];
  });
}

function serverProblems(heard: readonly ReceivedCall[], plan: readonly Sent[]): readonly string[] {
  const left = [...heard];
  const problems: string[] = [];
  for (const call of plan.flatMap(({ calls }) => calls)) {
    const { server, kind, tag, isCancelled = false } = call;
    const at = left.findIndex((one) => one.server === server && one.kind === kind && one.tag === tag);
    const [found] = at < 0 ? [] : left.splice(at, 1);
    if (found === undefined) {
      if (!isCancelled) problems.push(`server ${server} did not hear ${kind} ${tag}`);
    } else if (found.isCancelled !== isCancelled)
      problems.push(`server ${server}: ${kind} ${tag} was ${isCancelled ? 'not ' : ''}cancelled`);
    else problems.push(...metaProblems(found));
  }
  return [
    ...problems,
    ...left.map((one) => `nobody meant server ${one.server} to hear ${one.kind} ${one.tag}`),
  ];
}

/** Metadata for servers must arrive; metadata for the gateway must not. */
function metaProblems({ meta, tag, kind }: ReceivedCall): readonly string[] {
  const problems: string[] = [];
  if (meta['example.com/tag'] !== tag) problems.push(`${kind} ${tag} lost what its client wrote`);
  const info = meta['io.modelcontextprotocol/clientInfo'];
  if (isJsonObject(info) && info['name'] === 'raw') problems.push(`${kind} ${tag} says who its client is`);
  const own = Object.keys(meta).filter(
    (key) => !HOP_KEY.test(key) && !['progressToken', 'example.com/tag'].includes(key),
  );
  if (own.length > 0) problems.push(`${kind} ${tag} has ${own.join()} of nobody`);
  return problems;
}

function fits(message: JsonObject, answer: Answer): boolean {
  const { error, result } = message;
  if ('error' in answer) return isJsonObject(error) && [answer.error].flat().includes(Number(error['code']));
  if (!isJsonObject(result) || !covers(result, answer.result)) return false;
  return MODERN_MEMBERS.every((member) => member in result === member in answer.result);
}

/** Whether objects have at least these members and lists matching elements. */
function covers(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected))
    return Array.isArray(actual) && expected.every((one) => actual.some((other) => covers(other, one)));
  if (!isJsonObject(expected)) return actual === expected;
  return isJsonObject(actual) && Object.entries(expected).every(([key, value]) => covers(actual[key], value));
}

/** Returns the id as written, because JavaScript cannot represent all numbers. */
function idOf(text: string): string | undefined {
  return /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|[^,]+),/.exec(text)?.[1];
}

function parsed(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}
