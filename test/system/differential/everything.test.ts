import { createRequire } from 'node:module';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { startGateway, wrapCommand } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { type StdioChild, httpTransport, stdioTransport } from '../../support/raw-transports.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import {
  answerEverything,
  rootsStep,
  everythingSteps,
  sharedCapabilities,
  taskSteps,
  clientTaskSteps,
  withTasks,
} from './everything.ts';
import { type Step, type Transcript, record, withoutUnlisted } from './transcript.ts';

checkLeaks();

const folder = dirname(
  createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json'),
);
const server = [process.execPath, join(folder, 'dist/index.js'), 'stdio'] as const;

describe('reference server', () => {
  test('wrap: passes every message of the reference server unchanged', async () => {
    const steps = [rootsStep, ...everythingSteps, ...taskSteps, ...clientTaskSteps];
    const home = temporaryFolder('trunkline-home');
    const env = { ...process.env, TRUNKLINE_HOME: home };
    const direct = await overStdio(server, env, steps, withTasks);
    const [command, ...args] = wrapCommand(server);
    // The first start waits for the server; the second answers from the cache.
    for (const start of ['cold', 'warm']) {
      const through = await overStdio([command, ...args], env, steps, withTasks);
      expect(reordered(through), start).toEqual(reordered(direct));
    }
  });

  test('single server path: passes every message of the reference server but for known differences', async () => {
    const steps = [...everythingSteps, ...taskSteps];
    const env = { ...process.env } as Record<string, string>;
    const direct = await overStdio(server, env, steps, sharedCapabilities);
    const [command, ...args] = server;
    await using gateway = await startGateway({
      mcpServers: { one: { command, args, env } },
      listen: 'http',
      // High, so that even on a busy machine the list comes from the server itself.
      config: { startup: { listWait: '60s' } },
    });
    const client = await RawClient.over(httpTransport(`${gateway.url}/s/one`), {
      capabilities: sharedCapabilities,
    });
    await using _ = { [Symbol.asyncDispose]: () => client.close() };
    answerEverything(client);
    const opening = [await client.open()];
    await client.listen();
    // The server's message about the end of a subscription reaches no client here; see withoutDifferences.
    const heard = steps.map((step) =>
      step.title.startsWith('resources/unsubscribe') ? { ...step, hears: 0 } : step,
    );
    const through = { 'the opening': opening, ...(await record(client, heard, normal)) };
    const compared = (transcript: Transcript): Transcript =>
      reordered(withoutUnlisted(withoutDifferences(transcript)));
    expect(compared(through)).toEqual(compared(direct));
  });
});

async function overStdio(
  [command, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
  steps: readonly Step[],
  capabilities: JsonObject,
): Promise<Transcript> {
  const child: StdioChild = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stderr.resume();
  const exited = once(child, 'exit');
  const client = await RawClient.over(stdioTransport(child), { capabilities });
  try {
    answerEverything(client);
    const opened = { 'the opening': [await client.open()] };
    const transcript = { ...opened, ...(await record(client, steps, normal)) };
    return transcript;
  } finally {
    await client.close();
    // The reference server does not exit at the end of its input while it has timers.
    child.kill('SIGTERM');
    await exited;
  }
}

/** Removes what cannot be equal, such as times, random ids and list notifications; each has its reason. */
function normal(message: JsonObject): unknown {
  const { method, params } = message as { method?: string; params?: JsonObject };
  // The number of list notifications differs: the gateway merges simultaneous changes and omits those without an effect.
  if (method?.endsWith('/list_changed') === true) return undefined;
  // While this is enabled, the reference server logs at a random level every five seconds.
  if (method === 'notifications/message' && /-level message|level-message/.test(String(params?.['data'])))
    return undefined;
  // Progress of a cancelled call is ignored, as the protocol requires.
  if (method === 'notifications/progress' && params?.['progressToken'] === 'gone') return undefined;
  const texts: [RegExp, string][] = [
    // Random in each run.
    [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<drawn>'],
    [/"taskId":"[0-9a-f]{32}"/g, '"taskId":"<drawn>"'],
    // Times.
    [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
    [/\d{1,2}:\d\d:\d\d( [AP]M)?/g, '<time>'],
    // A task of the reference server enters its next stage after a second, however late it is asked.
    [/"statusMessage":"(?:Gathering sources|Analyzing content)\.\.\."/g, '"statusMessage":"<stage>"'],
    [/(blob":")UmVzb3VyY2Ug[\w+/=]+/g, '$1<with the time>'],
  ];
  let text = JSON.stringify(sortedEnvironment(message));
  for (const [pattern, stand] of texts) text = text.replaceAll(pattern, stand);
  const compared = JSON.parse(text) as JsonObject;
  // Each connection numbers the requests of the server itself.
  return method !== undefined && 'id' in compared ? { ...compared, id: '<of the request>' } : compared;
}

/** The gateway confirms the end of a subscription before the server does, because other clients may still listen. */
function reordered(transcript: Transcript): Transcript {
  const isAnswer = (message: unknown): boolean => !('method' in (message as JsonObject));
  return Object.fromEntries(
    Object.entries(transcript).map(([title, messages]) => [
      title,
      title.startsWith('resources/unsubscribe')
        ? [...messages.filter(isAnswer), ...messages.filter((message) => !isAnswer(message))]
        : messages,
    ]),
  );
}

/** The order of environment variables is irrelevant. */
function sortedEnvironment(message: JsonObject): JsonObject {
  const result = message['result'] as { content?: { text?: string }[] } | undefined;
  const text = result?.content?.[0]?.text;
  if (text?.includes('"PATH"') !== true) return message;
  const variables = Object.entries(JSON.parse(text) as object);
  return { ...message, result: variables.map((variable) => JSON.stringify(variable)).toSorted() };
}

/** Removes what must differ if several clients share a server. */
function withoutDifferences(transcript: Transcript): Transcript {
  const isNamed = (message: unknown): boolean => {
    const { method, params } = message as { method?: string; params?: { data?: unknown } };
    return (
      // The server requests roots when it is connected; the gateway, not a client, connects it and answers with an empty list.
      method === 'roots/list' ||
      (method === 'notifications/message' && String(params?.data).startsWith('Roots updated')) ||
      // A subscription ends with its last client, so the log message about its end belongs to no client.
      (method === 'notifications/message' && String(params?.data).startsWith('Received Unsubscribe'))
    );
  };
  // Over HTTP, updates have their own stream, so the order of updates and answers is undefined.
  const isUpdate = (message: unknown): boolean =>
    (message as JsonObject)['method'] === 'notifications/resources/updated';
  return Object.fromEntries(
    Object.entries(transcript).map(([title, messages]) => {
      const same = messages.filter((message) => !isNamed(message));
      return [title, [...same.filter(isUpdate), ...same.filter((message) => !isUpdate(message))]];
    }),
  );
}
