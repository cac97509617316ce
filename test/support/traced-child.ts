import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// Loaded first into a process under test (node --import): writes the URL of each module that it loads, one a line, to
// the file MODULE_TRACE as the process exits.

const loaded = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    loaded.add(url);
    return nextLoad(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env['MODULE_TRACE'] ?? '', [...loaded].join('\n')));
