#!/usr/bin/env node
// Answers with the results that the file of `--file` has for each method. Before the result of a call, it sends the notifications of the
// file, with the progress token of the call, and its requests, to which it awaits the responses. It waits until the file exists.
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const file = process.argv.find((argument) => argument.startsWith('--file='))?.slice('--file='.length);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const lines = createInterface({ input: process.stdin });
const received = lines[Symbol.asyncIterator]();
while (!existsSync(file)) await delay(5);
const { results, notifications = [], requests = [] } = JSON.parse(readFileSync(file, 'utf8'));
let openRequests = 0;
let respond;

for await (const line of received) {
  const { id, method, params } = JSON.parse(line);
  if (method === undefined && --openRequests === 0) respond();
  if (id === undefined || method === undefined) continue;
  const answer = () => {
    const error = { code: -32601, message: 'Unknown method.' };
    send({ id, ...(results[method] === undefined ? { error } : { result: results[method] }) });
  };
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const serverInfo = { name: 'scripted', version: '1' };
    send({ id, result: { protocolVersion, serverInfo, ...results.initialize } });
  } else if (method !== 'tools/call') answer();
  else {
    const token = params._meta?.progressToken;
    for (const notification of notifications) {
      const isProgress = notification.method === 'notifications/progress';
      send(
        isProgress
          ? { ...notification, params: { ...notification.params, progressToken: token } }
          : notification,
      );
    }
    requests.forEach((request, at) => send({ id: `request ${at}`, ...request }));
    openRequests = requests.length;
    respond = answer;
    if (openRequests === 0) answer();
  }
}
