const now = Date.now();

export const rows = Array.from({ length: 100_000 }, (_, at) => ({
  name: `github_call_${at}`,
  at: now - at * 61_000,
  size: (at * 7919) % 3_000_000,
}));

export const waves = {
  at: Array.from({ length: 48 }, (_, at) => now - (48 - at) * 1_800_000),
  lines: ['github', 'filesystem', 'linear', 'memory'].map((name, seed) => ({
    name,
    values: Array.from({ length: 48 }, (_, at) =>
      (at + seed * 3) % 17 === 0 ? null : 100 * (seed + 1) * (1.3 + Math.sin(at / 4 + seed)),
    ),
  })),
};

export const diffBefore = `{
  "name": "create_issue",
  "description": "Creates an issue in a repository.",
  "inputSchema": {
    "type": "object",
    "required": ["title"]
  }
}`;

export const diffAfter = `{
  "name": "create_issue",
  "description": "Creates an issue in a repository. <img src=x onerror=alert(1)>",
  "inputSchema": {
    "type": "object",
    "properties": { "title": { "type": "string" } },
    "required": ["title", "token"]
  }
}`;

export const schema = {
  type: 'object',
  required: ['path', 'mode'],
  properties: {
    path: { type: 'string', description: 'Where the file is, from the root of the project.' },
    mode: { enum: ['read', 'write'], description: 'What is done with it.' },
    head: { type: 'integer', minimum: 1, maximum: 1000, default: 10 },
    follow: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    range: { type: 'object', properties: { from: { type: 'number' }, to: { type: 'number' } } },
    filter: { oneOf: [{ type: 'string' }, { type: 'object' }], description: 'A pattern, or several.' },
  },
};
