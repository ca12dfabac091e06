const APPROVALS =
  'the client now asks about the tools of Trunkline, and rules with the effect "ask" in "policy" hold single calls';
const PROGRAMS_ONLY = 'it applies only to servers that are started as a program';
const SANDBOX = 'Trunkline does not start servers in a sandbox';

/** Settings of clients that Trunkline does not have, with the reason or the alternative. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  trust: APPROVALS,
  autoApprove: APPROVALS,
  autoApproved: APPROVALS,
  alwaysAllow: APPROVALS,
  default_tools_approval_mode: APPROVALS,
  tools: APPROVALS,
  tool_permissions: APPROVALS,
  headersHelper: 'it applies only to servers at a URL',
  args: PROGRAMS_ONLY,
  env: PROGRAMS_ONLY,
  env_vars: PROGRAMS_ONLY,
  cwd: PROGRAMS_ONLY,
  envFile: PROGRAMS_ONLY,
  headers: 'it applies only to servers at a URL',
  sandbox: SANDBOX,
  sandboxEnabled: SANDBOX,
  timeout: 'its meaning in that client is not known; set "timeouts" of the server if calls need more time',
  oauth_resource: 'run `trunkline login` if the server requires a sign-in',
  watchPaths: 'Trunkline restarts a server only if it exits or its settings change',
};

/** Settings that repeat the key of the entry, or describe the entry to people. */
const LABELS = ['name', 'title', 'displayName', 'display_name', 'icon', 'iconPath', 'version', 'gallery'];
const ORIGINS = ['source', 'bundled', 'id', 'metadata', 'createdAt', 'updatedAt', 'created', 'updated'];
/** Settings that decide when the client loads the tools of a server. They no longer apply, because the client loads the tools of Trunkline. */
const LISTING = [
  'alwaysLoad',
  'deferTools',
  'disableToolCache',
  'omit_tools_from',
  'alwaysLoadTools',
  'lifecycle',
];
/** Settings that decide how the client schedules or supervises its own connections. */
const SUPERVISION = [
  'required',
  'supports_parallel_tool_calls',
  'restart',
  'start_on_launch',
  'executor',
  'dev',
];

/** Settings that mean something to their client only. */
const IRRELEVANT = new Set([...LABELS, ...ORIGINS, ...LISTING, ...SUPERVISION]);

/** Returns the sentence that tells the user about a setting that is not carried over; undefined if Trunkline does not need the setting. */
export function describeLeftOut(key: string): string | undefined {
  if (IRRELEVANT.has(key)) return undefined;
  const explanation = Object.hasOwn(EXPLANATIONS, key) ? EXPLANATIONS[key] : undefined;
  return `"${key}" was left out: ${explanation ?? 'Trunkline has no such setting'}`;
}
