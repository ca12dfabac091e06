/** Which changed settings a running gateway cannot take into use. */
export function restartNote(settings: readonly string[]): string {
  return `${settings.join(', ')} ${settings.length === 1 ? 'is' : 'are'} in use as at the start of the gateway; start it again to change that.`;
}
