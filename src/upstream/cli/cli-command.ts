/** The values that an option or argument accepts. */
export interface CliValue {
  readonly type: 'string' | 'integer' | 'number';
  readonly choices?: readonly string[] | undefined;
}

/** One option of a command. */
export interface CliOption {
  /** The flag with its dashes: `--dry-run`, `-n`, `-chdir`. */
  readonly flag: string;
  /** Other names of the same option. */
  readonly aliases?: readonly string[] | undefined;
  /** Absent for a switch. */
  readonly value?: CliValue | undefined;
  /** Whether the value is optional; a value must then be written with `=` or directly after the flag. */
  readonly isOptional?: boolean | undefined;
  /** Whether the help text writes `-nVALUE` as one word. */
  readonly isGlued?: boolean | undefined;
  /** Whether the help text writes `--flag=VALUE`. */
  readonly takesEquals?: boolean | undefined;
  /** `flags` repeats the flag for each value; `values` writes the flag once, followed by all values. */
  readonly repeats?: 'flags' | 'values' | undefined;
  /** The flag that turns a switch off: `--no-color` or `--color=false`. */
  readonly off?: string | undefined;
  readonly description: string;
}

/** One positional argument of a command. */
export interface CliArgument {
  readonly name: string;
  readonly value: CliValue;
  readonly isRequired: boolean;
  readonly repeats: boolean;
  /** Whether it follows `--`. */
  readonly afterDashes: boolean;
  readonly description: string;
}

/** The command line syntax that a program is known to support, as far as its help text reveals its parser. */
export interface CliStyle {
  /** Whether every long option accepts `--flag=value`. */
  readonly equals: boolean;
  /** Whether `--` ends the options and means nothing else. */
  readonly dashes: boolean;
  /** Whether switches accept `--flag=false`. */
  readonly explicitFalse: boolean;
  /** Whether an argument `@file` is replaced by the arguments in that file. */
  readonly responseFiles: boolean;
}

export const UNKNOWN_STYLE: CliStyle = {
  equals: false,
  dashes: false,
  explicitFalse: false,
  responseFiles: false,
};

/** A command of a program; it becomes a tool. */
export interface CliCommand {
  /** The words after the program and its fixed arguments; empty for a program without subcommands. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly CliOption[];
  readonly arguments: readonly CliArgument[];
  /** The subcommands of this command; its first argument must not be one of them. */
  readonly children: readonly string[];
  readonly style: CliStyle;
}
