import type { ReadServer, Places, Source, SourceFile } from './source.ts';
import { windowsPlaces } from './paths.ts';

/** A file that was found and what is in it. */
export interface FoundFile extends SourceFile {
  readonly source: Source;
  readonly servers: readonly ReadServer[];
  /** Why nothing could be read from it. */
  readonly problem?: string;
}

/** Reads a file; undefined where there is none. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** What the sources have on this machine, in their order. */
export async function findServers(
  sources: readonly Source[],
  places: Places,
  readText: ReadText,
): Promise<readonly FoundFile[]> {
  const windows = windowsPlaces(places);
  const found: FoundFile[] = [];
  for (const source of sources) {
    const files = [places, ...(windows === undefined ? [] : [windows])].flatMap((each) => source.files(each));
    // In the home folder, the file of the user is also the one of the project.
    const unique = [...new Map(files.toReversed().map((file) => [file.path, file])).values()].toReversed();
    for (const file of unique) {
      const read = await readOne(source, file, places, readText);
      if (read !== undefined) found.push(read);
    }
  }
  return found;
}

/** The same for one file that a person named; undefined when there is none. */
export async function readOne(
  source: Source,
  file: SourceFile,
  places: Places,
  readText: ReadText,
): Promise<FoundFile | undefined> {
  try {
    const text = await readText(file.path);
    if (text === undefined) return undefined;
    return { ...file, source, servers: source.read(text, { ...file, places }) };
  } catch (error) {
    const problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { ...file, source, servers: [], problem };
  }
}
