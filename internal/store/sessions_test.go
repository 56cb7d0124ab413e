package store_test

import (
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// The number of known devices is limited; those unused for longest are deleted.
func TestDevices(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com").ID
		now := time.Now()
		var keys []account.SecretRef
		for i := range 25 {
			secret := account.NewSecret(account.DeviceKey, ada, now)
			keys = append(keys, secret.Ref())
			if err := s.KeepDevice(ctx, secret.Ref(), now.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		for i, key := range keys {
			if known, err := s.KnowsDevice(ctx, key, now); err != nil || known != (i >= 5) {
				t.Errorf("device %d: %v (%v)", i, known, err)
			}
		}
		wrong := keys[20]
		wrong.Hash = keys[21].Hash
		if known, err := s.KnowsDevice(ctx, wrong, now); err != nil || known {
			t.Errorf("a device with another secret: %v (%v)", known, err)
		}
		if known, _ := s.KnowsDevice(ctx, keys[20], now.Add(account.DeviceIdle+time.Hour)); known {
			t.Error("a device does not expire")
		}
		if err := s.Cleanup(ctx, now.Add(account.DeviceIdle+10*time.Second), time.Hour); err != nil {
			t.Fatal(err)
		}
		rows, err := s.Rows(ctx, 1, `SELECT CAST(COUNT(*) AS TEXT) FROM device WHERE account_id = $1`, ada)
		if err != nil || rows[0][0] != "15" {
			t.Errorf("%v devices left (%v)", rows, err)
		}
	})
}
