// Makes the conformance suite load on Node 20, which lacks `fs.globSync`. The suite imports it for a command that we do not use.

import { register } from 'node:module';

const fs = `
  export * from 'node:fs';
  import fs from 'node:fs';
  export default fs;
  export const globSync = fs.globSync ?? (() => { throw new Error('fs.globSync needs Node 22.'); });
`;
const hooks = `
  const fs = ${JSON.stringify(moduleUrl(fs))};
  export async function resolve(specifier, context, next) {
    const isSuite = context.parentURL?.includes('/node_modules/conformance-') === true;
    return specifier === 'fs' && isSuite ? { url: fs, shortCircuit: true } : next(specifier, context);
  }
`;

register(moduleUrl(hooks));

function moduleUrl(text) {
  return `data:text/javascript,${encodeURIComponent(text)}`;
}
