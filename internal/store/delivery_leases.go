package store

import (
	"context"
	"hash/fnv"
	"time"

	"formulary/internal/db"
)

// DeliverySlots is how many parts the accounts are divided into for deliveries. Each part is
// leased by one node.
const DeliverySlots = 64

// DeliverySlot is the part that an account is in.
func DeliverySlot(owner string) int64 {
	h := fnv.New32a()
	h.Write([]byte(owner))
	return int64(h.Sum32() % DeliverySlots)
}

// DeliveryLease is how long a lease lasts. Nodes renew theirs every second: if a node fails,
// others continue its deliveries after about this time.
const DeliveryLease = 3 * time.Second

const (
	registerNodeSQL = `INSERT INTO delivery_node (node, expires_at) VALUES ($1, $2)
		ON CONFLICT (node) DO UPDATE SET expires_at = excluded.expires_at`
	dropNodesSQL   = `DELETE FROM delivery_node WHERE expires_at < $1`
	removeNodeSQL  = `DELETE FROM delivery_node WHERE node = $1`
	countNodesSQL  = `SELECT COUNT(*) FROM delivery_node`
	leasesSQL      = `SELECT slot, node, expires_at FROM delivery_lease ORDER BY slot`
	renewLeasesSQL = `UPDATE delivery_lease SET expires_at = $2 WHERE node = $1`
	takeLeaseSQL   = `INSERT INTO delivery_lease (slot, node, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT (slot) DO UPDATE SET node = excluded.node, expires_at = excluded.expires_at WHERE delivery_lease.expires_at < $4`
	releaseLeaseSQL  = `UPDATE delivery_lease SET expires_at = 0, node = '' WHERE slot = $1 AND node = $2`
	releaseLeasesSQL = `UPDATE delivery_lease SET expires_at = 0, node = '' WHERE node = $1`
)

type deliveryLease struct {
	slot, expires int64
	node          string
}

func readLeases(q querier) ([]deliveryLease, error) {
	var list []deliveryLease
	err := q(leasesSQL, func(r db.Row) error {
		var l deliveryLease
		err := r.Scan(&l.slot, &l.node, &l.expires)
		list = append(list, l)
		return err
	})
	return list, err
}

// endless is the expiry of leases on SQLite.
const endless = 1 << 62

// RenewDeliveryLeases returns the slots that a node may deliver for. On PostgreSQL nodes share
// them evenly, and renew them in time. SQLite has one server, and its leases do not expire: the
// server that started last has them all, and writes nothing to keep them. first says that the
// node has just started.
func (s *Store) RenewDeliveryLeases(ctx context.Context, node string, first bool, now time.Time) (slots []int64, err error) {
	defer wrap(&err, "renew delivery leases")
	if s.MultiNode() {
		err = s.db.Write(ctx, func(t db.Tx) (err error) {
			slots, err = shareLeases(t, node, now)
			return err
		})
		return slots, err
	}
	list, err := readLeases(s.query(ctx))
	if err != nil {
		return nil, err
	}
	free := len(list) < DeliverySlots
	for _, l := range list {
		free = free || l.node == ""
		if l.node == node {
			slots = append(slots, l.slot)
		}
	}
	if !first && (!free || len(slots) == DeliverySlots) {
		return slots, nil
	}
	err = s.db.Write(ctx, func(t db.Tx) error {
		slots = nil
		for slot := range int64(DeliverySlots) {
			if _, err := t.Exec(takeLeaseSQL, slot, node, int64(endless), int64(endless)+1); err != nil {
				return err
			}
			slots = append(slots, slot)
		}
		return nil
	})
	return slots, err
}

// shareLeases renews the leases of a node, takes what is free up to its share, and gives back
// what is beyond it.
func shareLeases(t db.Tx, node string, now time.Time) ([]int64, error) {
	expires := toMillis(now.Add(DeliveryLease))
	if _, err := t.Exec(registerNodeSQL, node, expires); err != nil {
		return nil, err
	}
	if _, err := t.Exec(dropNodesSQL, toMillis(now)); err != nil {
		return nil, err
	}
	var nodes int64
	if err := queryOne(t.Query, countNodesSQL, nil, &nodes); err != nil {
		return nil, err
	}
	if _, err := t.Exec(renewLeasesSQL, node, expires); err != nil {
		return nil, err
	}
	list, err := readLeases(t.Query)
	if err != nil {
		return nil, err
	}
	share := int((DeliverySlots + nodes - 1) / nodes)
	held := map[int64]bool{} // by others
	var mine []int64
	for _, l := range list {
		switch {
		case l.node == node && len(mine) < share:
			mine = append(mine, l.slot)
			held[l.slot] = true
		case l.node == node:
			if _, err := t.Exec(releaseLeaseSQL, l.slot, node); err != nil {
				return nil, err
			}
			held[l.slot] = true // for somebody else
		case l.expires >= toMillis(now):
			held[l.slot] = true
		}
	}
	for slot := int64(0); slot < DeliverySlots && len(mine) < share; slot++ {
		if held[slot] {
			continue
		}
		n, err := t.Exec(takeLeaseSQL, slot, node, expires, toMillis(now))
		if err != nil {
			return nil, err
		}
		if n == 1 {
			mine = append(mine, slot)
		}
	}
	return mine, nil
}

// ReleaseDeliveryLeases gives the leases of a node that stops to others, at once.
func (s *Store) ReleaseDeliveryLeases(ctx context.Context, node string) (err error) {
	defer wrap(&err, "release delivery leases")
	return s.db.Write(ctx, func(t db.Tx) error {
		if _, err := t.Exec(releaseLeasesSQL, node); err != nil {
			return err
		}
		_, err := t.Exec(removeNodeSQL, node)
		return err
	})
}
