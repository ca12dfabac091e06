// What a library or tool that speaks MCP must be able to do with Trunkline.

import { runCheck } from './client-checks.mjs';
import {
  loopScript,
  verifyConversation,
  verifyNothingRuns,
  verifyResults,
  withHttpGateway,
  writeGatewayConfig,
} from './gateway-loop.mjs';
import { succeed } from './output.mjs';

/** Columns of the table, in order. */
export const libraryChecks = { stdio: 'stdio', http: 'http', end: 'end' };

/** Runs all checks of one library in one workspace. Calls `report(check, outcome, note)` after each. */
export async function checkLibrary(library, { command, model, workspace, report }) {
  const loop = async (kind, address) => {
    model.scripts[kind] = loopScript;
    const output = await succeed(workspace.run([...command, kind, address, model.url]), 'the program');
    if (library.hasModel) verifyConversation(model, kind, output);
    else verifyResults(JSON.parse(output.trim().split('\n').at(-1)), output);
  };
  writeGatewayConfig(workspace);
  await runCheck('stdio', () => loop('stdio', ''), report);
  await runCheck('http', () => withHttpGateway(workspace, (address) => loop('http', address)), report);
  await runCheck('end', () => verifyNothingRuns(workspace), report);
}
