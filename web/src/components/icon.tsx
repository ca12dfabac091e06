/** All icons use a 16 × 16 grid and a stroke width of 1.5. */
const paths = {
  overview: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  servers: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  tools:
    'M9.8 2.6a3.4 3.4 0 0 0-3 5L2.6 11.8a1.1 1.1 0 0 0 1.6 1.6L8.4 9.2a3.4 3.4 0 0 0 4.9-3.6L11.2 7.6 9 7l-.6-2.2z',
  approvals: 'M8 1.8 13 3.6v4c0 3-2 5.3-5 6.6-3-1.3-5-3.6-5-6.6v-4zM5.8 8l1.6 1.6 2.9-3.2',
  activity: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  access: 'M10 2.2a3.8 3.8 0 1 1-2.6 6.6L2.5 13.6M4.4 11.7l1.6 1.6M10.8 5.2h.01',
  clients:
    'M5.5 3.2a2.2 2.2 0 1 1 0 4.4 2.2 2.2 0 0 1 0-4.4M1.5 13c0-2.2 1.8-3.6 4-3.6s4 1.4 4 3.6M10.5 3.4a2.1 2.1 0 0 1 0 4M11.5 9.6c1.8.3 3 1.6 3 3.4',
  pause: 'M5.5 3v10M10.5 3v10',
  play: 'M5 3l8 5-8 5z',
  system: 'M2 3h12v8H2zM6 13.5h4M8 11v2.5',
  light:
    'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.8.8M11.8 11.8l.8.8M3.4 12.6l.8-.8M11.8 4.2l.8-.8',
  dark: 'M13.4 9.6A5.8 5.8 0 0 1 6.4 2.6a5.8 5.8 0 1 0 7 7z',
  'sign-out': 'M6 2.5H2.8v11H6M6.5 8h7M10.8 5l3 3-3 3',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.4 10.4l3.4 3.4',
  close: 'm3.8 3.8 8.4 8.4M12.2 3.8l-8.4 8.4',
  right: 'm6 3.5 4.5 4.5L6 12.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  plus: 'M8 3v10M3 8h10',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  warn: 'M8 2.3 14.3 13H1.7zM8 6.3v3.2M8 11.4h.01',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  restart: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M6.5 3v10',
  chart: 'M2.5 2.5v11h11M5 10l2.6-3.4 2.2 1.8L13 4.5',
} as const;

export type IconName = keyof typeof paths;

/** A decorative icon. A text beside it, or the label of its button, says what it means. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}
