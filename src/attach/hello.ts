import { isJsonObject } from '../model/json.ts';

/** What a pipe says first on the socket, in one line; everything after it is MCP. */
export interface Hello {
  readonly expose?: string | undefined;
  readonly profile?: string | undefined;
  /** Where the client's process was started. */
  readonly cwd?: string | undefined;
  readonly pid?: number | undefined;
  /** Nothing but this: end as soon as no client is left, since a successor has been started. */
  readonly retire?: boolean | undefined;
  /** Nothing but this: look at the configuration now; answered when it is in use, or cannot be. */
  readonly refresh?: boolean | undefined;
  /** Nothing but this: end now, as at a signal. It needs nothing to be loaded, which an update may have removed. */
  readonly stop?: boolean | undefined;
}

/** What the gateway answers to it, in one line. */
export interface Welcome {
  /** Sentences for the person behind the client. */
  readonly notes: readonly string[];
  /** Why this gateway takes no client; another one has to be found. */
  readonly refused?: string | undefined;
  /** What is wrong with what the client asked for; no other gateway would take it either. */
  readonly wrong?: string | undefined;
}

const VERSION = 1;

/** Begins lines of ours among lines of MCP, which begin otherwise. */
export const CONTROL = '{"trunkline":';

/** The gateway's last line before it ends on purpose. */
export const GOODBYE = `${CONTROL}"goodbye"}\n`;

export function helloLine(hello: Hello): string {
  return lineOf(hello);
}

export function welcomeLine(welcome: Welcome): string {
  return lineOf(welcome);
}

export function readHello(line: string): Hello | undefined {
  const value = readLine(line);
  if (value === undefined) return undefined;
  const { expose, profile, cwd, pid, retire, refresh, stop } = value;
  return {
    ...(typeof expose === 'string' && { expose }),
    ...(typeof profile === 'string' && { profile }),
    ...(typeof cwd === 'string' && { cwd }),
    ...(typeof pid === 'number' && { pid }),
    ...(retire === true && { retire }),
    ...(refresh === true && { refresh }),
    ...(stop === true && { stop }),
  };
}

export function readWelcome(line: string): Welcome | undefined {
  const value = readLine(line);
  if (value === undefined) return undefined;
  const { notes, refused, wrong } = value;
  return {
    notes: Array.isArray(notes) ? notes.filter((note): note is string => typeof note === 'string') : [],
    ...(typeof refused === 'string' && { refused }),
    ...(typeof wrong === 'string' && { wrong }),
  };
}

function lineOf(content: object): string {
  return `${JSON.stringify({ trunkline: VERSION, ...content })}\n`;
}

function readLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) && value['trunkline'] === VERSION ? value : undefined;
  } catch {
    return undefined; // Somebody else talks to us.
  }
}
