interface ServerSelectProps {
  readonly servers: readonly string[];
  /** Empty for all of them. */
  readonly value: string;
  readonly onChange: (server: string) => void;
}

/** One of the servers, or all. */
export function ServerSelect({ servers, value, onChange }: ServerSelectProps) {
  return (
    <select aria-label="Server" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">All servers</option>
      {servers.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
