import { randomBytes } from 'node:crypto';
import { constants, copyFile, link, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { makeFolder } from '../core/lib/make-folder.ts';

/** The content of a new configuration file. */
export const STARTER_CONFIG = `// Trunkline configuration. This is JSON with comments; trailing commas are allowed.
// A running gateway applies changes immediately. If it cannot, \`trunkline status\` shows the reason.
{
  // The MCP servers behind the gateway, in the format of most MCP clients. "trunkline import" copies the servers of your clients.
  "mcpServers": {
    // A program, started when it is needed:
    //
    // "files": {
    //   "command": "npx",
    //   "args": ["-y", "@modelcontextprotocol/server-filesystem", "/path/to/a/folder"]
    // },
    //
    // A server on the network; its token is read from the environment when it is used:
    //
    // "example": {
    //   "url": "https://mcp.example.com/mcp",
    //   "headers": { "Authorization": "Bearer \${env:EXAMPLE_TOKEN}" }
    // }
  }
}
`;

/** Writes a new configuration file. If the file exists, leaves it unchanged and returns false. */
export async function createStarterConfig(file: string): Promise<boolean> {
  const isPresent = await stat(file).then(
    () => true,
    () => false,
  );
  if (isPresent) return false;
  await makeFolder(dirname(file), 0o700);
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, STARTER_CONFIG, { flag: 'wx', mode: 0o600 });
    // Unlike a rename, a link never replaces a file, and unlike a write, it never exposes a half-written one.
    await link(temporary, file).catch((error: unknown) => {
      if (isExistsError(error)) throw error;
      // Some file systems have no hard links.
      return copyFile(temporary, file, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (isExistsError(error)) return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

function isExistsError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
