/** A program that runs a package or an image, and downloads it first if it is not cached. */
export interface PackageLauncher {
  /** The program with its subcommands, such as `npx` or `pnpm dlx`. */
  readonly name: string;
  /** The index of the package in the arguments; undefined for containers, because their options cannot be told from the image. */
  readonly packageAt: number | undefined;
}

/** Matches programs that run packages, including the subcommands before the package name. */
const PACKAGE_RUNNERS =
  /^(?:npx|pnpx|bunx|uvx|dnx|npm (?:exec|x)|pnpm (?:exec|dlx)|yarn dlx|bun x|pipx run|uv tool run)$/;
const CONTAINER_RUNNERS = /^(?:docker|podman|nerdctl) run$/;
const PACKAGE_FLAGS: ReadonlySet<string> = new Set(['-p', '--package', '--from', '--with', '--python']);

/** Recognises a package launcher, also behind the `cmd /c` that Windows needs. */
export function findPackageLauncher(command: string, args: readonly string[]): PackageLauncher | undefined {
  const program = toProgramName(command);
  if (program.toLowerCase() === 'cmd' && /^\/c$/i.test(args[0] ?? '')) {
    const inner = findPackageLauncher(args[1] ?? '', args.slice(2));
    return inner && { ...inner, packageAt: inner.packageAt === undefined ? undefined : inner.packageAt + 2 };
  }
  const names = [0, 1, 2].map((count) => [program, ...args.slice(0, count)].join(' '));
  const container = names.find((name) => CONTAINER_RUNNERS.test(name));
  if (container !== undefined) return { name: container, packageAt: undefined };
  const subcommands = names.findIndex((name) => PACKAGE_RUNNERS.test(name));
  if (subcommands < 0) return undefined;
  let packageAt = subcommands;
  while (args[packageAt]?.startsWith('-') === true)
    packageAt += PACKAGE_FLAGS.has(args[packageAt] ?? '') ? 2 : 1;
  return { name: names[subcommands] ?? program, packageAt };
}

/** Returns the name of a program without its folder and the extensions of Windows. */
export function toProgramName(command: string): string {
  return command.replace(/^.*[/\\]/s, '').replace(/\.(?:cmd|exe)$/i, '');
}
