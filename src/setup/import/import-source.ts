import type { JsonObject } from '../../core/json.ts';

/** A kind of configuration that servers can be imported from. */
export interface ImportSource {
  readonly id: string;
  readonly title: string;
  readonly files: (environment: ClientEnvironment) => readonly SourceFile[];
  /** Parses a text without side effects. Throws an error for people if the text is invalid. */
  readonly read: (text: string, context: SourceContext) => readonly ImportedServer[];
}

/** Determines where a client stores its files. */
export interface ClientEnvironment {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** A file in which a client stores servers. */
export interface SourceFile {
  readonly path: string;
  /** `project`: the file belongs to the working directory, so others may have written it. */
  readonly scope: 'user' | 'project';
}

/** The origin of a text. */
export interface SourceContext extends SourceFile {
  readonly environment: ClientEnvironment;
}

/** One server of another client, converted to our format or with the reason why that is impossible. */
export interface ImportedServer {
  readonly name: string;
  readonly entry?: JsonObject;
  readonly problem?: string;
  /** Notes about the entry for the user. */
  readonly remarks: readonly string[];
  /** The project that the server belongs to, if a file has several. */
  readonly project?: string;
}
