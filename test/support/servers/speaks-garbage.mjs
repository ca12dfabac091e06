#!/usr/bin/env node
// Correct answers in a stream that breaks careless readers: a banner, blank lines, JSON that is not a message, answers without a
// request, duplicate answers, carriage returns, invalid UTF-8, several answers in one write, answers byte by byte.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';
import { raw } from './engine/raw-json.mjs';
import { object } from './engine/schema.mjs';

const banner =
  '\uFEFF*** fixture 1.0 ***\n\n   \n{"level":"info","msg":"ready"}\n[1,2]\n42\nnull\n"text"\n{"jsonrpc":"2.0"}\n{"half":\n';
const strangers =
  '{"jsonrpc":"2.0","id":987654321,"result":{"content":[]}}\n{"jsonrpc":"2.0","id":"nobody","error":{"code":1,"message":"x"}}\n' +
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n{"jsonrpc":"2.0","method":"notifications/unheard-of"}\n';
// A placeholder for two bytes that are invalid in UTF-8, which JSON cannot escape.
const badBytes = '@@bad-bytes@@';

const badTool = {
  name: 'bad-bytes',
  description: 'Answers with bytes that are no UTF-8 inside a string.',
  inputSchema: object(),
  call: () => ({ content: [{ type: 'text', text: raw(`"before ${badBytes} after"`) }] }),
};

function writeLines(put) {
  const waiting = [];
  let turn = 0;
  let writing = Promise.resolve();
  put(banner);
  const bytesOf = (text) => Buffer.from(text, 'utf8').toString('latin1').replaceAll(badBytes, '\xff\xfe');
  const writeByByte = async (bytes) => {
    for (let at = 0; at < bytes.length; at += 1) {
      put(bytes.subarray(at, at + 1));
      await new Promise(setImmediate);
    }
  };
  const flush = async () => {
    const lines = waiting.splice(0);
    if (lines.length === 0) return;
    turn += 1;
    const bytes = Buffer.from(bytesOf(`${lines.join('\r\n')}\r\n`), 'latin1');
    // Sending long answers byte by byte would take minutes.
    if (turn % 2 === 1 || bytes.length > 10_000) put(Buffer.concat([Buffer.from(strangers), bytes, bytes]));
    else await writeByByte(bytes);
  };
  return (text) => {
    waiting.push(text);
    writing = writing.then(() => new Promise(setImmediate)).then(flush);
  };
}

const offer = plainOffer();
await serve({ name: 'speaks-garbage', ...offer, tools: [...offer.tools, badTool], writeLines });
