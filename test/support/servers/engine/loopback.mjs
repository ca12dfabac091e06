import { note } from './note.mjs';

/** Lets an HTTP server listen at `--http PORT`, says where on standard error, and ends it with its parent if that was asked for. */
export async function listenOnLoopback(
  listener,
  options,
  { port = options.text('http'), path = '/mcp' } = {},
) {
  // A gateway writes `127.0.0.1:0` where a fixture writes `0`.
  await new Promise((resolve) => listener.listen(Number(port.split(':').at(-1)), '127.0.0.1', resolve));
  process.stderr.write(`listening on http://127.0.0.1:${listener.address().port}${path}\n`);
  if (!options.has('end-with-stdin')) return;
  process.stdin.resume();
  process.stdin.on('end', () => {
    note('ended', { by: 'eof' });
    process.exit(0);
  });
}
