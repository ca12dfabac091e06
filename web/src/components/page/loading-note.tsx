/** Appears after a short delay, so that fast responses do not cause flicker. */
export function LoadingNote() {
  return (
    <p class="loading faint" role="status">
      Loading
    </p>
  );
}
