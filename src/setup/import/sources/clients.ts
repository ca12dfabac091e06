import type { ClientDeclaration } from './client-declaration.ts';
import { desktopClients } from './desktop-clients.ts';
import { terminalClients } from './terminal-clients.ts';

/** All clients with a file of their own, in the order in which they are imported. */
export const clients: readonly ClientDeclaration[] = [
  ...desktopClients,
  ...terminalClients.map((client) => ({ ...client, connect: { ...client.connect, inheritsPath: true } })),
];
