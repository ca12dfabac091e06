/** What one value of an option or argument may be. */
export interface CliValue {
  readonly type: 'string' | 'integer' | 'number';
  readonly choices?: readonly string[];
}

/** One option that a help text names. */
export interface CliOption {
  /** As it is written on a command line, dashes included: `--dry-run`, `-n`, `-chdir`. */
  readonly flag: string;
  /** Other spellings of the same. */
  readonly aliases?: readonly string[];
  /** Absent for a switch. */
  readonly value?: CliValue;
  /** A value can be left out, so that one must be written with `=`, or right behind the flag. */
  readonly isOptional?: boolean;
  /** The help text itself writes `-nVALUE`, in one word. */
  readonly isGlued?: boolean;
  /** The help text itself writes `--flag=VALUE`. */
  readonly takesEquals?: boolean;
  /** `flags`: once per value. `values`: one flag, then all values. */
  readonly repeats?: 'flags' | 'values';
  /** What switches it off: `--no-color`, or `--color=false`. */
  readonly off?: string;
  readonly description: string;
}

/** One argument that is known by its place. */
export interface CliArgument {
  readonly name: string;
  readonly value: CliValue;
  readonly isRequired: boolean;
  readonly repeats: boolean;
  /** It stands behind `--`. */
  readonly afterDashes: boolean;
  readonly description: string;
}

/** What can be relied on when values are written, as far as the help text shows which parser is at work. */
export interface CliStyle {
  /** `--flag=value` is understood for every long option. */
  readonly equals: boolean;
  /** `--` ends the options, and means nothing else. */
  readonly dashes: boolean;
  /** `--flag=false` is understood. */
  readonly explicitFalse: boolean;
  /** An argument `@file` stands for further arguments. */
  readonly responseFiles: boolean;
}

export const UNKNOWN_STYLE: CliStyle = {
  equals: false,
  dashes: false,
  explicitFalse: false,
  responseFiles: false,
};

/** A command that becomes a tool. */
export interface CliCommand {
  /** Behind the program and its fixed arguments; empty for a program without subcommands. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly CliOption[];
  readonly arguments: readonly CliArgument[];
  /** Subcommands of this one, whose names its arguments must not have. */
  readonly children: readonly string[];
  readonly style: CliStyle;
}
