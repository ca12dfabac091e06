#!/usr/bin/env node
// Answers each method with its result in the file of `--file`, and sends the notifications in the file before the result of a call.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.argv.find((argument) => argument.startsWith('--file='))?.slice('--file='.length);
const { results, notifications = [] } = JSON.parse(readFileSync(file, 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === 'tools/call') for (const notification of notifications) send(notification);
  if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        serverInfo: { name: 'scripted', version: '1' },
        ...results.initialize,
      },
    });
  else if (results[method] === undefined) send({ id, error: { code: -32601, message: 'Unknown method.' } });
  else send({ id, result: results[method] });
}
