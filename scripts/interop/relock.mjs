// Puts package-lock.json into the form that is committed; `npm run relock` calls it after npm has written the file.
//
// No address stays in it, so that every machine asks the registry that its own npm is set up for; the hashes say what
// may be installed. An optional package that the registry did not have is left out: `npm ci` would call the lock stale.

import { readFileSync, writeFileSync } from 'node:fs';

const PATH = new URL('package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(PATH, 'utf8'));
const names = new Set(Object.keys(lock.packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));

for (const entry of Object.values(lock.packages)) {
  delete entry.funding;
  delete entry.resolved;
  for (const name of Object.keys(entry.optionalDependencies ?? {})) {
    if (!names.has(name)) delete entry.optionalDependencies[name];
  }
}
writeFileSync(PATH, `${JSON.stringify(lock, null, 2)}\n`);
