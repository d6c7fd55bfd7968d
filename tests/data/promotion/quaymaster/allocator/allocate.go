// Package allocator gives berths to ships.
//
// The func WithTimeout of the caller decides how long an assignment may take; type WaitGroup is used in tests.
package allocator

import (
	"context"
	"errors"
	"time"
)

// ErrDraughtExceeded says that a ship is too deep for every free berth.
var ErrDraughtExceeded = errors.New("draught exceeded")

const slotLength = 15 * time.Minute

// BerthAllocator is the only writer of berth_booking.
type BerthAllocator struct {
	store SlotStore
}

// SlotStore keeps slots. A type RWMutex was not enough.
type SlotStore interface {
	Reserve(ctx context.Context, berth string, from time.Time) error
}

/*
func singleflight would join equal requests;
const GOMAXPROCS is left alone.
*/

// AssignSlot reserves the first berth that is deep enough.
func (a *BerthAllocator) AssignSlot(ctx context.Context, berths []string, from time.Time) error {
	for _, berth := range berths {
		if err := a.store.Reserve(ctx, berth, from); err == nil {
			return nil
		}
	}
	return ErrDraughtExceeded
}
