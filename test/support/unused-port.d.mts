export function unusedPort(): Promise<number>;
