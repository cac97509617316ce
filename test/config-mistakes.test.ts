import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SettingsError } from '../src/base/errors.ts';
import { SETTING_NAMES, settingOf } from '../src/settings/settings-table.ts';
import type { Environment } from '../src/settings/settings-reader.ts';
import { SOURCE, onlyProblem, problemsOf } from './support/settings.ts';
import { propertyRuns } from './support/property.ts';

describe('names that are not settings', () => {
  it.each([
    ['FORMS_API_KYE', 'did you mean FORMS_API_KEY?'],
    ['forms_api_url', 'did you mean FORMS_API_URL?'],
    ['TARGET_FEILDS', 'did you mean TARGET_FIELDS?'],
    ['TARGET_TABLE', 'nor one of a target in TARGETS'],
    ['TARGET_B_URL', 'nor one of a target in TARGETS: did you mean TARGET_URL?'],
    ['SYNC_TIMEZONE', 'is not a setting: correct the name, or remove this line'],
    ['TARGET_FIELDS_FILE', 'is not a setting'],
  ])('%s is reported with our prefix: %s', (name, message) => {
    expect(onlyProblem({ [name]: 'anything' })).toContain(message);
  });

  it('are found for a named target, too', () => {
    const env = { TARGETS: 'sheet', TARGET_SHEET_FEILDS: '*' };
    expect(onlyProblem(env)).toContain('did you mean TARGET_SHEET_FIELDS?');
    expect(onlyProblem({ TARGETS: 'sheet', TARGET_SHEETS_URL: 'x' })).toContain(
      'did you mean TARGET_SHEET_URL?',
    );
  });

  it.each([
    ['ALERT_WEBHOK_URL', 'ALERT_WEBHOOK_URL'],
    ['HEARTBEAT_UR', 'HEARTBEAT_URL'],
    ['PURGE_DELETED_AFTR', 'PURGE_DELETED_AFTER'],
    ['STATUS_UR', 'STATUS_URL'],
    ['HTTPS_PROXI', 'HTTPS_PROXY'],
    ['GOOGLE_APPLICATION_CREDENTIAL', 'GOOGLE_APPLICATION_CREDENTIALS'],
  ])('are reported anywhere if they resemble a name that only we use: %s, %s', (name, near) => {
    expect(onlyProblem({ [name]: 'x' })).toContain(`did you mean ${near}?`);
  });

  it('are not reported if they belong to the machine', () => {
    const machine =
      'STATIC_URL QUERY_URL ALERT_LEVEL ADMIN_EMAIL FTP_PROXY PATH HOSTNAME POST LOGLEVEL LOG_LEVELS DATADIR TARGET GOOGLE_CLOUD_PROJECT npm_config_target POSTGRES_PASSWORD REDIS_URL FORMS HASH http_proxy';
    const env = Object.fromEntries(machine.split(' ').map((name) => [name, 'x:1']));
    expect(problemsOf({ ...SOURCE, ...env })).toEqual([]);
    expect(
      problemsOf(SOURCE, { '.env': 'COMPOSE_PROFILES=postgres\nTZ=UTC\nNODE_ENV=production\n' }),
    ).toEqual([]);
  });

  it.each([
    ['QEUE_URL', 'QUEUE_URL'],
    ['ALERT_WEB_HOOK_URL', 'ALERT_WEBHOOK_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['port', 'PORT'],
    ['LOG_LVL', 'LOG_LEVEL'],
  ])('are reported in .env with a setting that they resemble: %s, %s', (name, near) => {
    expect(onlyProblem({}, { '.env': `${name}=1` })).toContain(`did you mean ${near}?`);
  });

  it('are reported in .env, whatever they are', () => {
    expect(problemsOf(SOURCE, { '.env': 'NOTIFICATIONS=on' })).toEqual([
      {
        variable: 'NOTIFICATIONS',
        message: 'is not a setting: correct the name, or remove this line',
        example: '#NOTIFICATIONS=',
      },
    ]);
  });
});

describe('mistakes', () => {
  it('are all reported at once, each on one line with an example', () => {
    const env = {
      FORMS_API_URL: 'x',
      SYNC_EVERY: '5',
      PORT: 'y',
      TARGET_FEILDS: '*',
      MARK_STATUS: 'z',
    };
    const problems = problemsOf(env);
    expect(problems.map(({ variable }) => variable).toSorted()).toEqual([
      'FORMS_API_KEY',
      'FORMS_API_URL',
      'MARK_STATUS',
      'PORT',
      'SYNC_EVERY',
      'TARGET_FEILDS',
    ]);
    const text = new SettingsError(problems).message;
    expect(text.split('\n')).toHaveLength(problems.length);
    for (const line of text.split('\n'))
      expect(line).toMatch(/^[A-Z_]+ (is|holds|takes) .*Example: [A-Z_]+=.+/);
  });

  it('L15: never repeat a secret, right or wrong', () => {
    const secrets = SETTING_NAMES.filter((name) => settingOf(name).secret);
    const secret = fc
      .stringMatching(/^[A-Za-z0-9:/@#%{" -]{6,30}$/)
      .map((text) => `s3cr3t${text.trim()}t3rc3s`);
    fc.assert(
      fc.property(
        fc.record(Object.fromEntries(secrets.map((name) => [name, secret]))),
        fc.boolean(),
        (env, inFile) => {
          const given: Environment = inFile
            ? Object.fromEntries(Object.keys(env).map((name) => [`${name}_FILE`, name]))
            : env;
          const problems = problemsOf({ ...given, FORMS_API_URL: 'https://a:s3cr3t@b' }, env);
          expect(problems.length).toBeGreaterThan(3);
          expect(JSON.stringify(problems)).not.toMatch(/s3cr3t|t3rc3s/);
        },
      ),
      propertyRuns(100),
    );
  });
});
