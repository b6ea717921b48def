// Every page of the desk.

import { nameStock } from './stock.js';
import { tellZone } from './zone.js';

tellZone();
nameStock();
