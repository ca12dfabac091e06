/** The variables that a server inherits; all others must be configured in its `env`. */
const INHERITED = new Set([
  'ALL_PROXY',
  'APPDATA',
  'COMSPEC',
  'HOME',
  'HOMEDRIVE',
  'HOMEPATH',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'LANG',
  'LANGUAGE',
  'LOCALAPPDATA',
  'LOGNAME',
  'NODE_EXTRA_CA_CERTS',
  'NO_PROXY',
  'PATH',
  'PATHEXT',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SHELL',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TERM',
  'TMP',
  'TMPDIR',
  'TZ',
  'USER',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'XDG_STATE_HOME',
]);

/** Builds the environment of a server process. */
export function buildServerEnv(options: {
  readonly ours: Readonly<Record<string, string | undefined>>;
  readonly path: string | undefined;
  readonly configured: Readonly<Record<string, string>>;
}): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(options.ours)) {
    const name = key.toUpperCase();
    // A value that starts with `()` is an exported shell function, which servers must not inherit.
    if (value !== undefined && !value.startsWith('()') && (INHERITED.has(name) || name.startsWith('LC_'))) {
      env[key] = value;
    }
  }
  if (options.path !== undefined) env['PATH'] = options.path;
  return { ...env, ...options.configured };
}
