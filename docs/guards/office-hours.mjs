// An own guard: calls that change something are made during office hours only, and results say which server gave them.
// In the configuration: "guards": ["./office-hours.mjs"]

/** @type {import('trunkline/guard').OwnGuard} */
export default async function officeHours(call, next) {
  if (/^(create|update|delete)_/.test(call.tool) && !isOpen(new Date())) {
    throw new Error(`${call.tool} may be called from 8 to 18 o'clock. Tell the person, and try again then.`);
  }
  // Changed arguments go to `next`; without any, the call goes on as it is.
  const result = call.arguments.limit > 100 ? await next({ ...call.arguments, limit: 100 }) : await next();
  // What `next` gave may be returned as it is, or something else instead.
  return { ...result, _meta: { ...result._meta, 'example.com/server': call.server } };
}

function isOpen(now) {
  return now.getHours() >= 8 && now.getHours() < 18;
}
