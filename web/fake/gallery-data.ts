const now = Date.now();

export const rows = Array.from({ length: 100_000 }, (_, index) => ({
  name: `github_call_${index}`,
  at: now - index * 61_000,
  size: (index * 7919) % 3_000_000,
}));

export const waves = {
  at: Array.from({ length: 48 }, (_, index) => now - (48 - index) * 1_800_000),
  lines: ['github', 'filesystem', 'linear', 'memory'].map((name, seed) => ({
    name,
    values: Array.from({ length: 48 }, (_, index) =>
      (index + seed * 3) % 17 === 0 ? null : 100 * (seed + 1) * (1.3 + Math.sin(index / 4 + seed)),
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
    path: { type: 'string', description: 'The path of the file, relative to the project.' },
    mode: { enum: ['read', 'write'], description: 'How the file is opened.' },
    head: { type: 'integer', minimum: 1, maximum: 1000, default: 10 },
    follow: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    range: { type: 'object', properties: { from: { type: 'number' }, to: { type: 'number' } } },
    filter: {
      oneOf: [{ type: 'string' }, { type: 'object' }],
      description: 'A pattern or a list of patterns.',
    },
  },
};
