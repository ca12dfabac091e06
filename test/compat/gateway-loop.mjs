// What clients and libraries have in common: the calls of the model, and the gateways through which they go.

import { loopResults, loopSteps } from './libraries/loop.mjs';
import { lastLines } from './output.mjs';
import { waitFor } from './workspace.mjs';

const DONE = 'FINISHED';
const HTTP_GATEWAY_MS = 1_200_000;

/** The script in which the model searches, describes, calls and reads the rest of a long result. */
export const loopScript = [...loopSteps, { say: DONE }];

/** Throws if a conversation with the model did not get the expected results. */
export function verifyConversation(model, script, output) {
  verifyResults(
    model.turnsOf(script).map(({ result }) => result),
    output,
  );
  verifyFinished(output);
}

export function verifyFinished(output) {
  if (!output.includes(DONE)) throw new Error(`the client did not finish: ${lastLines(output)}`);
}

/** Throws if the results of the steps are not the expected ones. */
export function verifyResults(results, output) {
  const missing = loopResults.findIndex(
    (part, at) => !(results[at] ?? '').replaceAll('\\', '').includes(part),
  );
  if (missing === -1) return;
  const said = results[missing] ?? lastLines(output);
  throw new Error(`step ${missing + 1} of ${loopResults.length} failed: ${said.slice(0, 300)}`);
}

/** Writes the configuration of a gateway; without servers, with the server of the workspace. With a few tools, `auto` would list them. */
export function writeGatewayConfig(workspace, servers, { kind = 'search', ...settings } = {}) {
  workspace.write('.config/trunkline/config.jsonc', {
    expose: { kind },
    mcpServers: servers ?? { notes: toEntry(workspace.notesCommand) },
    ...settings,
  });
}

/** Returns the entry of a server that a command starts. */
export function toEntry([command, ...args]) {
  return { command, args };
}

/** Runs `work` with the address of a gateway that serves HTTP. */
export async function withHttpGateway(workspace, work, wanted = '127.0.0.1:0') {
  await stopGateway(workspace);
  const command = ['trunkline', 'serve', '--http', wanted];
  const gateway = workspace.start(command, { timeoutMs: HTTP_GATEWAY_MS });
  try {
    const findAddress = () => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(gateway.output())?.[0];
    return await work(await waitFor('address of the gateway', findAddress));
  } finally {
    gateway.signal('SIGTERM');
    await gateway.finished.catch(() => {}); // Its end is all that counts.
  }
}

export async function stopGateway(workspace) {
  await workspace.trunkline('stop').catch(() => {}); // None may run.
}

/** Throws if a gateway or a server runs after the gateway has been stopped. */
export async function verifyNothingRuns(workspace, servers) {
  await stopGateway(workspace);
  const left = await workspace.processesLeft(servers);
  if (left.length > 0) throw new Error(`still running: ${left.join(' · ').slice(0, 300)}`);
}
