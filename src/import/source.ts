import type { JsonObject } from '../model/json.ts';

/** Where a client may keep its files. */
export interface Places {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** A file in which a client has servers. */
export interface SourceFile {
  readonly path: string;
  /** `project`: of the folder in which the person is. */
  readonly scope: 'user' | 'project';
}

/** What is known about a text besides the text. */
export interface Reading extends SourceFile {
  readonly places: Places;
}

/** One server of a foreign file, as an entry of ours or with the reason why it cannot be one. */
export interface ReadServer {
  readonly name: string;
  readonly entry?: JsonObject;
  readonly problem?: string;
  /** What the person should know about the entry. */
  readonly remarks: readonly string[];
  /** The project it belongs to, where a file has several. */
  readonly project?: string;
}

/** One kind of foreign configuration; reading is pure and throws what is wrong with the text in words. */
export interface Source {
  readonly id: string;
  readonly title: string;
  readonly files: (places: Places) => readonly SourceFile[];
  readonly read: (text: string, reading: Reading) => readonly ReadServer[];
}
