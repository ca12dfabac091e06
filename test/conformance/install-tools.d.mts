export const tools: string;
export function installTools(): void;
