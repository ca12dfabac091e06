// Prints the functions that a `tools/call` over stdio passes on its way to a server, and its result on the way back to the client.
// node bench/call-path.mjs

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { load } from './client/load.mjs';
import { ownChildren } from './lib/children.mjs';
import { open, prepareHome } from './lib/subjects.mjs';
import { check, echo } from './scenarios/calls.mjs';

const tracer = fileURLToPath(new URL('fixtures/trace-call-path.mjs', import.meta.url));
const children = ownChildren();
process.on('exit', () => children.killAll());
const out = join(children.newFolder(), 'stacks');
process.env.TRACE_OUT = out;
const nodeArgs = ['--import', tracer];
const subject = await open(children, {
  name: 'trunkline',
  transport: 'stdio',
  home: prepareHome(children),
  nodeArgs,
});
const call = () =>
  subject.guard(load(subject.client, { ...echo(subject), concurrency: 1, durationMs: 60_000, maxCalls: 1 }));
await subject.guard(check(subject));
await call();
process.kill(subject.pid, 'SIGUSR2');
while (!existsSync(out)) await sleep(20);
await call();

const [request = [], result = []] = readFileSync(out, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));
print('The request, from the client to the server:', request);
print('The result, written to the client:', result);
const functions = new Set([...request, ...result].map(({ file, name }) => `${file} ${name}`));
const files = new Set([...request, ...result].map(({ file }) => file));
console.log(`${functions.size} functions in ${files.size} files`);
await subject.close();
await children.close();

function print(title, frames) {
  console.log(title);
  for (const { file, name } of frames.toReversed()) console.log(`  ${file} ${name}`);
}
