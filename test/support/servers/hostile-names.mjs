#!/usr/bin/env node
// Every name of a parameter, tool or resource contains shell syntax that does harm if it is not quoted.
import { serve } from './engine/engine.mjs';
import { object, string, text } from './engine/schema.mjs';
import { HOSTILE_NAMES } from './engine/hostile-names.mjs';

const about = 'Reads.\n-x\t$(touch PWNED)\u001B]0;PWNED\u0007';

await serve({
  name: 'hostile-names',
  tools: HOSTILE_NAMES.flatMap((name, at) => [
    {
      name: `parameter-${at}`,
      description: about,
      inputSchema: object({ [name]: { ...string, description: about } }),
      call: (args) => text(JSON.stringify(args)),
    },
    { name: `tool-${at}-${name}`, description: about, inputSchema: object(), call: () => text('called') },
  ]),
  resources: HOSTILE_NAMES.map((name, at) => ({
    uri: `fixture://${at}/${name}`,
    name: `resource-${at}`,
    read: () => ({ contents: [] }),
  })),
});
