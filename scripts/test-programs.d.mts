export type TestProgram =
  | 'chromium'
  | 'desktop'
  | 'expect'
  | 'faketime'
  | 'fish'
  | 'keychain'
  | 'nginx'
  | 'postgresql'
  | 'systemd'
  | 'zsh';

export const testPrograms: Readonly<
  Record<
    TestProgram,
    {
      readonly title: string;
      readonly executables: readonly string[];
      readonly packages: readonly string[];
    }
  >
>;

export function missingPrograms(): readonly TestProgram[];
