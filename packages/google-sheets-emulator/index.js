import { existsSync } from 'node:fs';

// A checkout runs its TypeScript as it is; the published package has only dist/.
const source = new URL('./src/index.ts', import.meta.url);
const built = new URL('./dist/index.js', import.meta.url);
export const { startSheetsEmulator } = await import(existsSync(source) ? source.href : built.href);
