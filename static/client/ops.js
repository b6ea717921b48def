// The operations of a frame (D41): each is a list, of its letter and of what is named here.

export const REPLACE = 'r';    // id, html: the element
export const TEXT = 't';       // id, text: all that the element holds
export const INSERT = 'i';     // ref, where, html: `where` as for insertAdjacentElement
export const MOVE = 'm';       // id, ref: right after `ref`, or to the front of what "^" stands before
export const REMOVE = 'd';     // id: the element
export const MORPH = 'x';      // html, through htmx: a field inside may be in use
