import { windowsHostEnvironment } from './client-paths.ts';
import type { ClientEnvironment, ImportedServer, ImportSource, SourceFile } from './import-source.ts';

/** A file of a client with its servers. */
export interface FoundFile extends SourceFile {
  readonly source: ImportSource;
  readonly servers: readonly ImportedServer[];
  /** Why the file could not be read. */
  readonly problem?: string;
}

/** Reads a file; resolves to undefined if it does not exist. */
type TextReader = (path: string) => Promise<string | undefined>;

/** Finds the files of the sources on this machine, in the order of the sources. */
export async function findServers(
  sources: readonly ImportSource[],
  environment: ClientEnvironment,
  readText: TextReader,
): Promise<readonly FoundFile[]> {
  const windowsHost = windowsHostEnvironment(environment);
  const environments = windowsHost === undefined ? [environment] : [environment, windowsHost];
  const foundFiles: FoundFile[] = [];
  for (const source of sources) {
    const files = environments.flatMap((candidate) => source.files(candidate));
    // If the working directory is the home folder, one file can be both the user's and the project's. The first one, usually the user's, is
    // kept.
    const unique = [...new Map(files.toReversed().map((file) => [file.path, file])).values()].toReversed();
    for (const file of unique) {
      const found = await readSourceFile(source, file, environment, readText);
      if (found !== undefined) foundFiles.push(found);
    }
  }
  return foundFiles;
}

/** Reads one file of a source; resolves to undefined if it does not exist. */
export async function readSourceFile(
  source: ImportSource,
  file: SourceFile,
  environment: ClientEnvironment,
  readText: TextReader,
): Promise<FoundFile | undefined> {
  try {
    const text = await readText(file.path);
    if (text === undefined) return undefined;
    return { ...file, source, servers: source.read(text, { ...file, environment }) };
  } catch (error) {
    const problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { ...file, source, servers: [], problem };
  }
}
