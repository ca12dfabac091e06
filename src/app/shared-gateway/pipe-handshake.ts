import { isJsonObject } from '../../core/json.ts';
import { parseClientVariables } from './client-variables.ts';
import type { DifferingVariable, VariableValues } from './client-variables.ts';

/** The first line that the pipe of a stdio client sends. All following lines are MCP messages. */
export interface ClientHello {
  readonly expose?: string | undefined;
  readonly profile?: string | undefined;
  /** The working folder of the client. */
  readonly cwd?: string | undefined;
  readonly pid?: number | undefined;
  /** The variables that the configuration refers to, with their values where the client runs. */
  readonly variables?: VariableValues | undefined;
  /**
   * Whether these variables replace different ones of the gateway; by default, if no other client is connected. A client that reconnects
   * may be older than the gateway, so it says `never`.
   */
  readonly replace?: 'always' | 'never' | undefined;
  /** Asks which variables differ, and changes nothing. Such a hello has no other members than `variables`. */
  readonly compare?: boolean | undefined;
  /** Brings variables as a pipe does, but no pipe follows. Such a hello has no other members than `variables`. */
  readonly offer?: boolean | undefined;
  /** Asks the gateway to stop as soon as no client is left, because a successor was started. Such a hello has no other members. */
  readonly retire?: boolean | undefined;
  /**
   * Asks the gateway to reload the configuration now. The reply follows when the configuration is in use or has been rejected. Such a
   * hello has no other members.
   */
  readonly refresh?: boolean | undefined;
  /**
   * Asks the gateway to stop now, as after a signal. Unlike the admin API, this loads no further modules, whose files an update may have
   * removed. Such a hello has no other members.
   */
  readonly stop?: boolean | undefined;
}

/** The line that the gateway sends in reply to a hello. */
export interface HelloReply {
  /** Messages for the user of the client. */
  readonly notes: readonly string[];
  /** The reason why this gateway accepts no clients at present. Another gateway may accept this client. */
  readonly refused?: string | undefined;
  /** The reason why the gateway rejects this client. Every other gateway would reject it, too. */
  readonly wrong?: string | undefined;
  /** The variables of which the gateway uses another value than the client has. */
  readonly differing?: readonly DifferingVariable[] | undefined;
}

/** The version of the handshake. */
const VERSION = 1;

/** The start of our own lines, which distinguishes them from MCP messages. */
export const CONTROL_LINE_PREFIX = '{"trunkline":';

/** The last line of a gateway that stops on purpose. */
export const GOODBYE_LINE = `${CONTROL_LINE_PREFIX}"goodbye"}\n`;

export function serializeHello(hello: ClientHello): string {
  return serializeLine(hello);
}

export function serializeHelloReply(reply: HelloReply): string {
  return serializeLine(reply);
}

/** Returns undefined if the line is not a hello of this version. */
export function parseHello(line: string): ClientHello | undefined {
  const value = parseLine(line);
  if (value === undefined) return undefined;
  const { expose, profile, cwd, pid, variables, replace, compare, offer, retire, refresh, stop } = value;
  return {
    expose: typeof expose === 'string' ? expose : undefined,
    profile: typeof profile === 'string' ? profile : undefined,
    cwd: typeof cwd === 'string' ? cwd : undefined,
    pid: typeof pid === 'number' ? pid : undefined,
    variables: parseClientVariables(variables),
    replace: replace === 'always' || replace === 'never' ? replace : undefined,
    compare: compare === true,
    offer: offer === true,
    retire: retire === true,
    refresh: refresh === true,
    stop: stop === true,
  };
}

/** Returns undefined if the line is not a reply of this version. */
export function parseHelloReply(line: string): HelloReply | undefined {
  const value = parseLine(line);
  if (value === undefined) return undefined;
  const { notes, refused, wrong, differing } = value;
  return {
    notes: Array.isArray(notes) ? notes.filter((note): note is string => typeof note === 'string') : [],
    refused: typeof refused === 'string' ? refused : undefined,
    wrong: typeof wrong === 'string' ? wrong : undefined,
    differing: Array.isArray(differing) ? differing.filter(isDifferingVariable) : [],
  };
}

function isDifferingVariable(value: unknown): value is DifferingVariable {
  return (
    isJsonObject(value) && typeof value['name'] === 'string' && typeof value['canBeSecret'] === 'boolean'
  );
}

function serializeLine(content: object): string {
  return `${JSON.stringify({ trunkline: VERSION, ...content })}\n`;
}

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) && value['trunkline'] === VERSION ? value : undefined;
  } catch {
    return undefined; // The peer is not a Trunkline process.
  }
}
