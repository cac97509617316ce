import { existsSync } from 'node:fs';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { csvFormat, jsonLinesFormat, mayBeFormula } from '../../src/cli/export-format.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { ExactNumber } from '../../src/mirror/types.ts';
import { RecordedStream, expectEnd, expectMistake } from '../support/cli-host.ts';
import { openMirrored, SLUG } from '../support/mirrored-form.ts';

describe('CSV', () => {
  it('L6: no answer ends a row or a cell, and none begins one with a formula', () => {
    const texts = {
      'two\n\nlines': 'two\n\nlines',
      'a\rb': 'a\rb',
      '\u2022 two:\n- one\n- +1\n-cmd': "\u2022 two:\n- one\n'- +1\n'-cmd",
      'a\tb; -5': 'a\tb; -5',
      // Where semicolons separate cells, only quotes after a semicolon count. These would begin a cell or a row.
      "x\n=cmd|' /C calc'!A0": "x\n'=cmd|' /C calc'!A0",
      '\n=1+1': "'\n'=1+1",
      'A; "=1+1': `A;' ""=1+1`,
      "x;- cmd|' /C calc'!A0;": "x;'- cmd|' /C calc'!A0;",
      'x;+ HYPERLINK(A1)': "x;'+ HYPERLINK(A1)",
      'A;=1+1;B\r\n\t+A1': "A;'=1+1;B\r\n\t'+A1",
    };
    const written = csvFormat(['id', 'said\nso']);
    expect(written.head).toBe('\uFEFFid,"said\nso"\r\n');
    for (const [text, kept] of Object.entries(texts))
      expect(written.rows([['1', text]])).toBe(`1,"${kept}"\r\n`);
  });

  it('L10: conforms to RFC 4180, and numbers keep all their digits', () => {
    const format = csvFormat(['id', 'a "name"', 'x,y']);
    expect(format.head).toBe('\uFEFFid,"a ""name""","x,y"\r\n');
    expect(
      format.rows([
        ['1', 'Žofie "Q", 😀\nnext', 1e21],
        ['2', null, new ExactNumber('-900719925474099312345')],
        ['3', '', -0.0000001],
        ['4', '00042', 12],
      ]),
    ).toBe(
      [
        '1,"Žofie ""Q"", 😀\nnext",1000000000000000000000',
        '2,,-900719925474099312345',
        '3,,-0.0000001',
        '4,00042,12',
        '',
      ].join('\r\n'),
    );
  });

  it.each([
    '=1+1',
    '@SUM(A1)',
    '\t=1',
    '\tx',
    '\n=1',
    '＝1',
    '－1-2',
    "|cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    '--=1',
    '\u00A0=1+1',
    '\u200B=1',
    '\u0000=1',
    // Texts that Excel calculates, or shows as #NAME?.
    '+1-202-555-0123',
    '-9:2',
    '-1..2',
    '-none',
    '+A1',
    '-5\n=1',
    '-5%%',
    '-5 Kč',
    '-1e5e5',
    '-SUM(1)',
  ])('L10: no spreadsheet runs %j, in a cell or a header', (text) => {
    const cell = (line: string): string => line.replace(/^\uFEFF?"?|"?\r\n$/g, '');
    const format = csvFormat([text]);
    const guarded = `'${text.replaceAll(/(?<=[\t\n])=/g, "'=")}`;
    expect(cell(format.head)).toBe(guarded);
    expect(cell(format.rows([[text]]))).toBe(guarded);
  });

  it.each([
    '+420 123 456 789',
    '\u202A+420\u00A0777 123\u202C',
    '＋420 1',
    ' - ',
    '-\n',
    '---',
    '- 5',
    '-5,5',
    '-.5',
    '-1.5e-3',
    '-5 %',
    '-1 234,50',
    '',
    'a=1',
    '5 - 3',
    '00042',
    "'=1",
    '−5',
    '– item',
  ])('L10: %j is not a formula in any spreadsheet, and is not changed', (text) => {
    expect([mayBeFormula(text), mayBeFormula(`${text} `)]).toEqual([false, false]);
    const format = csvFormat([text]);
    expect(format.head).not.toContain(`'${text}`);
    expect(format.rows([[text]])).not.toContain(`'${text}`);
  });

  it.each(['+', '-1', '+1,1', '\u00A0'])(
    'L14: checks a long text that begins with %j quickly',
    (start) => {
      for (const filling of [' ', '1 ', '1', '.', '+', '%', 'e', '\u200B']) {
        const text = `${start}${filling.repeat(100_000)}x=`;
        expect(typeof mayBeFormula(text)).toBe('boolean');
      }
    },
  );
});

describe('JSON lines', () => {
  it('L10: contain every value unchanged, in the order of the columns', () => {
    const format = jsonLinesFormat(['id', '10', '2', '__proto__']);
    const text = format.rows([['a', new ExactNumber('900719925474099312345'), 1e21, '=x\u2028']]);
    expect(text).toBe(
      '{"id":"a","10":900719925474099312345,"2":1000000000000000000000,"__proto__":"=x\u2028"}\n',
    );
    expect(format.head).toBe('');
    expect(JSON.parse(format.rows([['a', null, null, null]]))).toMatchObject({ id: 'a', 2: null });
  });
});

const CLAIM = /: 7 rows; submissions, statuses and answers as of 2\d{3}-\S+ \S+ UTC\.\n/;

describe('export', () => {
  it("writes the target's rows, under its names, without requests to the source", async () => {
    const { place, run } = await openMirrored(['=HYPERLINK("x")'], 30);
    await place.sandbox.stop();
    const { stdout, stderr } = await expectEnd(run(`export ${SLUG}`), 0);
    expect(stderr).toMatch(CLAIM);
    // The settings of the source are gone, and the file is complete without them.
    expect(existsSync(`${place.file}-wal`)).toBe(false);
    const [head = '', ...lines] = stdout.slice(1).split('\r\n');
    const columns = place.rows(`SELECT name FROM pragma_table_info('customer_feedback')`);
    expect(new Set(head.split(','))).toEqual(new Set(columns.map(({ name }) => name)));
    expect(head).toMatch(/^id,status,created_at,.*,_first_seen_at,_changed_at,_deleted_at$/);
    expect(stdout).toContain(`"'=HYPERLINK(""x"")"`);
    expect(lines.at(-1)).toBe('');
    const ids = place.rows('SELECT id FROM customer_feedback ORDER BY created_at, id');
    const json = await run(`export ${SLUG} --format jsonl`);
    const objects = json.stdout.trimEnd().split('\n').map(parse);
    expect(objects.map(({ id }) => id)).toEqual(ids.map(({ id }) => id));
    expect(Object.values(objects.at(-1) ?? {})).toContain('=HYPERLINK("x")');
  });

  it('names columns by labels, and shows deleted rows only on request', async () => {
    const { place, run, formId } = await openMirrored(['x'], 30);
    const { store } = place.sandbox;
    const [id = ''] = store.ids(formId);
    store.delete(id);
    await expectEnd(run('sync --full'), 0);
    const live = await run(`export ${SLUG} --labels`);
    const labels = place.rows('SELECT label FROM mirror_fields').map(({ label }) => String(label));
    expect(labels.filter((label) => !live.stdout.includes(label))).toEqual([]);
    expect(live.stdout).not.toContain(id);
    const all = await run(`export ${SLUG} --deleted --format jsonl`);
    const last = all.stdout.trimEnd().split('\n').map(parse).at(-1);
    expect(last).toMatchObject({ id, _deleted_at: expect.stringMatching(/Z$/) });
  });

  it('L17: says that a copy was never proven, or has lost rows', async () => {
    const { place, run } = await openMirrored(['x'], 30);
    place.change(
      'DELETE FROM customer_feedback WHERE id IN (SELECT id FROM customer_feedback LIMIT 2)',
    );
    const { stderr } = await expectEnd(run(`export ${SLUG}`), 0);
    expect(stderr).toContain('Rows of customer_feedback were removed');
    // Like status, it claims nothing for such a copy.
    expect(stderr).not.toContain('as of');
    expect(stderr).toContain('not proven complete');
  });

  it.each([
    [`${SLUG} --format xlsx`, 'csv, jsonl'],
    ['customer-feedbak', 'There is no form customer-feedbak'],
    [`${SLUG} --target nowhere`, 'There is no target nowhere'],
  ])('%j is a mistake that it explains', async (args, said) => {
    const { run } = await openMirrored(['x'], 1);
    await expectMistake(run(`export ${args}`), said);
  });

  it('asks for the target if several have the form; if none has it, says what to do', async () => {
    const { place, run } = await openMirrored(['x'], 1);
    const two = { TARGETS: 'one,two', TARGET_TWO_URL: `sqlite:${place.file}2` };
    await expectEnd(run(`export ${SLUG}`, two), 0);
    const empty = run(`export ${SLUG} --target two`, two);
    await expectMistake(empty, 'No target has the form customer-feedback yet');
    await expectEnd(run('sync --target two', two), 0);
    await expectMistake(run(`export ${SLUG}`, two), '(one, two)');
  });
});

describe('the terminal', () => {
  it('gives unchanged data to a pipe and waits for its reader; a terminal gets printable text', async () => {
    const taken: string[] = [];
    let take = (): void => {};
    const pipe = new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        taken.push(chunk);
        take = done;
      },
    });
    const terminal = new Terminal(pipe, new RecordedStream());
    let goesOn = false;
    const written = terminal.pipe('a\u001B[2Jb').then((answer) => (goesOn = answer));
    await new Promise(setImmediate);
    expect([goesOn, taken]).toEqual([false, ['a\u001B[2Jb']]);
    take();
    expect(await written).toBe(true);
    pipe.destroy();
    expect(await terminal.pipe('c')).toBe(false);
    const screen = new RecordedStream(true);
    await new Terminal(screen, new RecordedStream()).pipe('a\u001B[2J\nb');
    expect(screen.text).toBe('a\uFFFD[2J\nb');
  });
});

const parse = (line: string): Record<string, unknown> => JSON.parse(line) as never;
