/** What calling a tool can do. */
export type Tier = 'read' | 'write' | 'destructive';
