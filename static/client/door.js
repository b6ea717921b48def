// The page of one approval in the admin.

import { startCards } from './card.js';
import { startClock } from './clock.js';

startClock();
startCards();
