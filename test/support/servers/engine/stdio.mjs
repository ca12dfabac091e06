import { Link } from './link.mjs';
import { note, violation } from './note.mjs';

/** Serves one client over the standard streams, one message per line. */
export function serveStdio(server) {
  const put = (line) => process.stdout.write(line);
  const write = server.definition.writeLines?.(put, server.options) ?? ((text) => put(`${text}\n`));
  process.stdout.on('error', () => process.exit(0));
  const link = new Link({ id: 'stdio', announce: write });
  const exchange = { send: write, answer: write, accept() {} };
  readLines(process.stdin, (line) => {
    const message = parse(line);
    if (message !== undefined) void server.receive(link, message, exchange);
  });
  process.stdin.on('end', () => {
    if (server.definition.ignoresEnd === true) {
      note('end-ignored', { of: 'eof' });
      return;
    }
    for (const { end } of link.listens.values()) end();
    note('ended', { by: 'eof' });
    // One turn later, so that the answers to open subscriptions are still written.
    setImmediate(() => process.exit(0));
  });
}

function readLines(stream, take) {
  let parts = [];
  stream.on('data', (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at));
      const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      from = at + 1;
      if (line.length > 0) take(line.toString());
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  });
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    violation('not-json', { line: line.slice(0, 200) });
    return undefined;
  }
}
