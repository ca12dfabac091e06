// A custom guard: allows calls that change something only during office hours, and adds the server's name to each result.
// In the configuration: "guards": ["./office-hours.mjs"]

/** @type {import('trunkline/guard').OwnGuard} */
export default async function officeHours(call, next) {
  if (/^(create|update|delete)_/.test(call.tool) && !isOpen(new Date())) {
    throw new Error(`${call.tool} is available from 8:00 to 18:00. Tell the user, and try again then.`);
  }
  // Pass changed arguments to `next`, or call it without arguments to leave the call unchanged.
  const result = call.arguments.limit > 100 ? await next({ ...call.arguments, limit: 100 }) : await next();
  // Return the result of `next`, or a different result.
  return { ...result, _meta: { ...result._meta, 'example.com/server': call.server } };
}

function isOpen(now) {
  return now.getHours() >= 8 && now.getHours() < 18;
}
