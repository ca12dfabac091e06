/** How servers are read from and written into one kind of file; texts stay as they are around what is changed. */
export interface Format {
  /** The servers as they are written, by name; throws when the text is not of this kind. */
  servers(text: string): ReadonlyMap<string, unknown>;
  /** Everything else that the text says, to see that it stays so. */
  others(text: string): unknown;
  withServer(text: string, name: string, value: unknown): string;
  withoutServer(text: string, name: string): string;
}
