import { note } from './note.mjs';

/** Listens at `--http PORT`, prints the URL to standard error, and exits with its parent if `--end-with-stdin` is given. */
export async function listenOnLoopback(
  listener,
  options,
  { port = options.text('http'), path = '/mcp' } = {},
) {
  // Accepts `127.0.0.1:0`, the form of the gateway, as well as `0`.
  await new Promise((resolve) => listener.listen(Number(port.split(':').at(-1)), '127.0.0.1', resolve));
  process.stderr.write(`listening on http://127.0.0.1:${listener.address().port}${path}\n`);
  if (!options.has('end-with-stdin')) return;
  process.stdin.resume();
  process.stdin.on('end', () => {
    note('ended', { by: 'eof' });
    process.exit(0);
  });
}
