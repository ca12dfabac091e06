import type { JsonObject } from '../../core/json.ts';

/** A client or file format from which servers can be imported. */
export interface ImportSource {
  readonly id: string;
  readonly title: string;
  readonly files: (environment: ClientEnvironment) => readonly SourceFile[];
  /** Parses the text of a file, without side effects. If the text is invalid, throws an error whose message is shown to the user. */
  readonly read: (text: string, context: SourceContext) => readonly ImportedServer[];
}

/** The properties of this machine that determine where a client stores its files. */
export interface ClientEnvironment {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** A file in which a client stores servers. */
export interface SourceFile {
  readonly path: string;
  /** `project` means that the file belongs to the working directory, so other people may have written it. */
  readonly scope: 'user' | 'project';
}

/** The file that a text was read from, and the machine. */
export interface SourceContext extends SourceFile {
  readonly environment: ClientEnvironment;
}

/** One server of another client. It has either an `entry` or a `problem`. */
export interface ImportedServer {
  readonly name: string;
  /** The server's configuration in our format. */
  readonly entry?: JsonObject;
  /** Why the server cannot be converted to our format. */
  readonly problem?: string;
  /** Notes about the entry for the user. */
  readonly remarks: readonly string[];
  /** The project that the server belongs to, if the file contains servers of several projects. */
  readonly project?: string;
}
