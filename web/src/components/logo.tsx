/** The Trunkline logo: one line that branches into many. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke="currentColor">
      <path d="M3 16h12M15 16 26 6M15 16h14M15 16l11 10" stroke-width="3" stroke-linecap="round" />
      <circle cx="15" cy="16" r="4.5" fill="currentColor" stroke="none" />
    </svg>
  );
}
