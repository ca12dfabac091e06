/** Names the changed settings that a running gateway cannot apply. */
export function formatRestartNote(settings: readonly string[]): string {
  return `${settings.join(', ')} ${settings.length === 1 ? 'takes' : 'take'} effect only when the gateway restarts. Restart it to apply the change.`;
}
