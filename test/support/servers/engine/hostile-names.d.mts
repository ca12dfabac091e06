export const SHELL_NAMES: readonly string[];
export const UNCOMPLETED_NAMES: readonly string[];
export const HOSTILE_NAMES: readonly string[];
