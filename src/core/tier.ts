/** The most that a call of a tool can do. */
export type Tier = 'read' | 'write' | 'destructive';
