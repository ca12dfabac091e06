import { note } from './note.mjs';
import { readOptions } from './options.mjs';
import { FixtureServer } from './server.mjs';
import { serveStdio } from './stdio.mjs';

/** Maximum lifetime of a server that ignores signals, so that a broken test leaves no process forever. */
const oldAgeMs = 300_000;

/**
 * Starts a fixture. The definition contains what it offers and how it misbehaves; the command line selects the transport
 * (`--stdio`, `--http PORT`, `--sse PORT`) and the protocol (`--era legacy|modern|both`).
 * A definition may also be a function of the options.
 */
export async function serve(definitionOf) {
  const options = readOptions(process.argv.slice(2));
  const definition = typeof definitionOf === 'function' ? definitionOf(options) : definitionOf;
  const server = new FixtureServer(definition, options);
  const transport = options.has('http') ? 'http' : options.has('sse') ? 'sse' : 'stdio';
  note('started', {
    ppid: process.ppid,
    transport,
    era: server.era,
    argv: process.argv.slice(2),
    cwd: process.cwd(),
  });
  endOnSignals(definition);
  if (definition.beforeServing !== undefined) await definition.beforeServing(server);
  if (transport === 'stdio') {
    serveStdio(server);
  } else {
    // Loaded on demand: `node:http` takes a third of the start time of a stdio server.
    const { listen } = await import('./listen.mjs');
    await listen(server, transport);
  }
  definition.onServing?.(server);
}

function endOnSignals(definition) {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    process.on(signal, () => {
      if (definition.ignoresEnd === true) {
        note('end-ignored', { of: signal });
        return;
      }
      note('ended', { by: signal });
      process.exit(0);
    });
  }
  if (definition.ignoresEnd === true) {
    setTimeout(() => {
      note('ended', { by: 'old-age' });
      process.exit(0);
    }, oldAgeMs);
  }
}
