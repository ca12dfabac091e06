/** The limits of a client or of the model API behind it. Sources are in docs/clients.md. */
export interface ClientLimits {
  /** The product name of the client. */
  readonly client: string;
  /** The maximum length of a tool name, without the prefix that the client adds. */
  readonly nameLength?: number;
  /** The maximum number of tools of all servers together. */
  readonly tools?: number;
  readonly schema?: SchemaRules;
  /** Whether the client passes results of any length to the model. */
  readonly passesLongResults?: boolean;
}

export interface SchemaRules {
  /** The root of an input schema must not have `anyOf`, `oneOf` or `allOf`. */
  readonly plainRoot?: boolean;
  /** A schema must not have `$ref`. */
  readonly inlineReferences?: boolean;
  /** The values of `format` that the client accepts. */
  readonly formats?: readonly string[];
}

/** Clients prefix tool names with the key of the server in their configuration; docs/clients.md tells users to use this key. */
const KEY = 'trunkline';

const CLIENTS: readonly { readonly names: RegExp; readonly limits: ClientLimits }[] = [
  {
    names: /^claude[- ]code\b/i,
    limits: { client: 'Claude Code', nameLength: 64 - `mcp__${KEY}__`.length, schema: { plainRoot: true } },
  },
  {
    names: /^cursor(?:-vscode)?\b/i,
    // Cursor rejects a tool if its name and the key have 60 or more characters together.
    limits: { client: 'Cursor', nameLength: 59 - KEY.length, tools: 80 },
  },
  { names: /^visual[- ]studio[- ]code\b/i, limits: { client: 'VS Code', tools: 128 } },
  { names: /^windsurf\b/i, limits: { client: 'Windsurf', tools: 100 } },
  {
    names: /^gemini-cli\b/i,
    limits: {
      client: 'Gemini CLI',
      nameLength: 63 - `mcp_${KEY}_`.length,
      schema: { inlineReferences: true, formats: ['enum', 'date-time'] },
    },
  },
  // Copilot CLI, opencode and Kilo CLI pass names on to model APIs that accept 64 characters. Copilot CLI truncates longer names and numbers
  // the duplicates, so that a name would depend on the other tools.
  { names: /^copilot-cli\b/i, limits: { client: 'Copilot CLI', nameLength: 64 - `${KEY}-`.length } },
  { names: /^opencode\b/i, limits: { client: 'opencode', nameLength: 64 - `${KEY}_`.length } },
  { names: /^crush\b/i, limits: { client: 'Crush', passesLongResults: true } },
  { names: /^kilo\b/i, limits: { client: 'Kilo CLI', nameLength: 64 - `${KEY}_`.length } },
  { names: /^codex-mcp-client\b/i, limits: { client: 'Codex', schema: { plainRoot: true } } },
];

const MAX_NAME_LENGTH = 200;

/** Finds the limits by `clientInfo.name`; returns undefined for an unknown client. */
export function findClientLimits(name: string): ClientLimits | undefined {
  const shortName = name.slice(0, MAX_NAME_LENGTH);
  return CLIENTS.find(({ names }) => names.test(shortName))?.limits;
}
