// Package live tells readers about responses when they are stored.
//
// Submissions pay nothing for it. A poller compares generations, which caches use too, and
// wakes the hubs of the accounts that changed. A hub reads the feed of one form, once for
// all its readers on this node, and encodes each response once. It keeps only the latest
// responses: a reader that starts further back, or falls behind, reads the database
// itself, one small page at a time.
package live
