import { describeTarget } from '../../contract/target.ts';
import { FastClock, sheetsPlace } from './sheets-place.ts';

describeTarget('Google Sheets', () => sheetsPlace());
describeTarget('Google Sheets, several processes', () =>
  sheetsPlace({ apart: true, clock: new FastClock() }),
);
