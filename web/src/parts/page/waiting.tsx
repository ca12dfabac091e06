/** Appears only after a moment, so that quick answers do not flicker. */
export function Waiting() {
  return (
    <p class="waiting faint" role="status">
      Loading
    </p>
  );
}
