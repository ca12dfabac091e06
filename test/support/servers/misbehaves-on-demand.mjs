#!/usr/bin/env node
// Misbehaves as the file of `--misbehaviour` currently says: not at all, slowly, with garbage or floods of output, by cutting connections after
// the work is done, or by never answering. Every tool logs `executed` with the tag of its call and returns the tag. SIGUSR2 changes the list.
import { readFileSync, writeSync } from 'node:fs';

import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { readOptions } from './engine/options.mjs';
import { integer, object, string, text } from './engine/schema.mjs';

const options = readOptions(process.argv.slice(2));
const misbehaviourFile = options.text('misbehaviour', '');
const uri = `soak://${options.text('name', 'misbehaving')}/changing`;
const strangers =
  'not a message\n{"half":\n[1,2]\n{"jsonrpc":"2.0","id":987654321,"result":{"content":[]}}\n' +
  '{"jsonrpc":"2.0","id":"nobody","error":{"code":1,"message":"x"}}\n{"jsonrpc":"2.0","method":"notifications/unheard-of"}\n';
const flood = 'INFO  [server] still here, nothing to see at all, thank you for reading\n'.repeat(4000);

function misbehaviour() {
  try {
    return readFileSync(misbehaviourFile, 'utf8').trim();
  } catch {
    return 'fine'; // The file is missing or being replaced.
  }
}

let noted = 'fine';

/** Returns the current misbehaviour if it is one of these, otherwise `fine`. Logs when it takes effect for the first time. */
function misbehaviourAmong(...kinds) {
  const now = misbehaviour();
  if (now !== 'fine' && !kinds.includes(now)) return 'fine';
  if (now !== 'fine' && now !== noted) note('misbehaviour', { misbehaviour: now });
  noted = now;
  return now;
}

/** Defines a tool that misbehaves around its own work. */
function acting(name, description, properties, work = async () => '') {
  return {
    name,
    description,
    inputSchema: object({ tag: string, ...properties }, Object.keys(properties)),
    annotations: { readOnlyHint: true },
    async call(args, call) {
      if (misbehaviourAmong('slow') === 'slow') await call.pause(700);
      const said = await work(args, call);
      note('executed', { tag: args.tag });
      if (misbehaviourAmong('cut') === 'cut') cut(call);
      return text(`${args.tag}${said}`);
    },
  };
}

/** Ends the connection although the work is done: a client that repeats the call would execute it twice. */
function cut({ exchange }) {
  if (exchange.response === undefined) process.exit(9);
  exchange.response.destroy();
}

const tools = [
  acting('do', 'Does it, and says the tag again.', {}),
  acting('slow', 'Takes so many milliseconds.', { ms: integer }, async ({ ms }, call) => {
    await call.pause(ms);
    return '';
  }),
  acting(
    'steps',
    'Tells of its progress in so many steps.',
    { steps: integer },
    async ({ tag, steps }, call) => {
      for (let step = 1; step <= steps; step += 1) {
        await call.pause(5);
        call.progress(step, steps, tag);
      }
      return '';
    },
  ),
  acting('big', 'Answers with so many bytes.', { bytes: integer }, async ({ bytes }) => '.'.repeat(bytes)),
  acting('ask', 'Asks the person behind the call.', {}, async ({ tag }, call) => {
    const params = { mode: 'form', message: tag, requestedSchema: object({ word: string }) };
    const { answer } = await call.ask({ answer: { method: 'elicitation/create', params } });
    return ` ${answer.content?.word}`;
  }),
  acting('touch', 'Announces that its resource is another now.', {}, async (_args, { server }) => {
    server.updated(uri);
    return '';
  }),
];

function changeList(server) {
  const at = server.tools.findIndex(({ name }) => name === 'sometimes');
  if (at === -1) server.tools.push(acting('sometimes', 'Comes and goes.', {}));
  else server.tools.splice(at, 1);
  server.changed('tools');
}

/** Misbehaves on standard streams; over HTTP, `intercept` does. */
function writeLines(put) {
  return (line) => {
    const now = misbehaviourAmong('mute', 'garbage', 'flood-stdout', 'flood-stderr');
    if (now === 'mute') return;
    // Responses are sent twice. Requests are not, because a client would rightly answer both.
    const again = line.includes('"method"') ? '' : `${line}\n`;
    if (now === 'garbage') put(`${strangers}${line}\r\n${again}${strangers}`);
    else if (now === 'flood-stdout') put(`${flood}${line}\n`);
    else {
      if (now === 'flood-stderr') writeAll(flood);
      put(`${line}\n`);
    }
  };
}

function writeAll(words) {
  const bytes = Buffer.from(words);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

let turn = 0;
function intercept(message, { exchange }) {
  if (exchange.response === undefined || message.id === undefined) return false;
  const now = misbehaviourAmong('mute', 'garbage');
  if (now === 'mute') return true;
  if (now !== 'garbage') return false;
  turn += 1;
  const answers = [
    ['<html>Not here.</html>', 200],
    ['Bad gateway', 502],
    ['{"jsonrpc":"2.0"}', 200],
    ['{', 200],
  ];
  const [words, status] = answers[turn % answers.length];
  exchange.answer(words, status);
  return true;
}

await serve({
  name: 'misbehaving',
  tools,
  resources: [
    {
      uri,
      name: 'changing',
      mimeType: 'text/plain',
      read: () => ({ contents: [{ uri, text: String(Date.now()) }] }),
    },
  ],
  writeLines,
  intercept,
  onServing: (server) => process.on('SIGUSR2', () => changeList(server)),
});
