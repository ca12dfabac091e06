/** What a client, or the model interface behind it, does not take. Sources are in docs/clients.md. */
export interface ClientLimits {
  /** What people call it. */
  readonly client: string;
  /** Characters that a tool's name may have, after what the client puts before it. */
  readonly nameLength?: number;
  /** Tools that it takes, of all servers together. */
  readonly tools?: number;
  readonly schema?: SchemaRules;
}

export interface SchemaRules {
  /** No `anyOf`, `oneOf`, `allOf` at the root of an input schema. */
  readonly plainRoot?: boolean;
  /** No `$ref`. */
  readonly inlineReferences?: boolean;
  /** The only values of `format`. */
  readonly formats?: readonly string[];
}

/** Clients put the key of their own configuration before names; ours is what docs/clients.md says. */
const KEY = 'trunkline';

const CLIENTS: readonly { readonly names: RegExp; readonly limits: ClientLimits }[] = [
  {
    names: /^claude[- ]code\b/i,
    limits: { client: 'Claude Code', nameLength: 64 - `mcp__${KEY}__`.length, schema: { plainRoot: true } },
  },
  {
    names: /^cursor(?:-vscode)?\b/i,
    // It refuses 60 already.
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
  { names: /^codex-mcp-client\b/i, limits: { client: 'Codex', schema: { plainRoot: true } } },
];

const MAX_LENGTH = 200;

/** By `clientInfo.name`; undefined for clients of which nothing is known. */
export function limitsOf(name: string): ClientLimits | undefined {
  const known = name.slice(0, MAX_LENGTH);
  return CLIENTS.find(({ names }) => names.test(known))?.limits;
}
