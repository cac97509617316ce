// Run by `npm install` and `npm ci` in a checkout, in JavaScript that any Node can parse. An npm that runs on an older
// Node leaves out the native parts of our tools, which are optional and need a newer one. But our scripts run on the
// Node that is installed here, so these parts are installed by name.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const {
  npm_execpath: npm = '',
  npm_node_execpath: itsNode = process.execPath,
  npm_config_omit: omitted = '',
} = process.env;
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));

const isMusl =
  process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
/** @type {(allowed: string[] | undefined, own: string) => boolean} */
const suits = (allowed, own) => allowed === undefined || allowed.includes(own);

const missing = Object.entries(packages)
  .filter(([path, { dev, optional, os, cpu, libc }]) => {
    const isNative = dev === true && optional === true && os !== undefined;
    const isOurs =
      suits(os, process.platform) &&
      suits(cpu, process.arch) &&
      suits(libc, isMusl ? 'musl' : 'glibc');
    return isNative && isOurs && !existsSync(path);
  })
  .map(([path, { version }]) => `${path.slice('node_modules/'.length)}@${version}`);

if (missing.length > 0 && !omitted.includes('dev') && npm.includes('npm')) {
  process.stdout.write(
    `Fetching what npm left out as it runs on an older Node: ${missing.join(', ')}\n`,
  );
  const args = [
    'install',
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const { status } = spawnSync(itsNode, [npm, ...args, ...missing], { stdio: 'inherit' });
  // The program runs without them.
  if (status !== 0) {
    process.stderr.write(
      'They could not be fetched: run npm on Node 24 to test, lint and format.\n',
    );
  }
}
