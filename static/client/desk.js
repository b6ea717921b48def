// Every page of the desk.

import { startFollowing } from './follow.js';
import { startKeys } from './keys.js';
import { startLeft } from './left.js';
import { startPulse } from './pulse.js';
import { startQueue } from './queue.js';
import { showSeen } from './seen.js';
import { nameStock } from './stock.js';
import { tellZone } from './zone.js';

tellZone();
nameStock();
startLeft();
startQueue();
startPulse();
startKeys();
showSeen();
startFollowing();
