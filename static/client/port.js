// What people do goes out through here: to the socket of a conversation, or to whatever else a page has.

let away;

export const carry = how => { away = how; };

// Returns the id of the message.
export const send = (message, how) => away(message, how);
